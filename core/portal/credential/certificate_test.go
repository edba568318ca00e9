package credential_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
)

func block(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// TestReadCertificate: the texts that developers may send.
func TestReadCertificate(t *testing.T) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "till"}, NotBefore: at.Add(-time.Hour), NotAfter: at.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	good := block("CERTIFICATE", der, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	key := block("PRIVATE KEY", secret, err)
	open, err := x509.MarshalPKIXPublicKey(public)
	for text, want := range map[string]string{
		good: "", "noise\n" + good + good: "", "": "PEM", "x": "PEM", key: "private key", good + key: "it has a private key", block("PUBLIC KEY", open, err): "a public key alone",
		block("CERTIFICATE", []byte("x"), nil): "cannot be read", strings.Repeat("x", 300_000): "KiB",
	} {
		c, err := credential.ReadCertificate(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
		if err == nil && (c.Subject != "CN=till" || len(c.Fingerprint) != 64 || !strings.HasPrefix(c.PEM, good)) {
			t.Errorf("%+v", c)
		}
		if err != nil && strings.Contains(err.Error(), key[30:60]) {
			t.Error("an error quotes a key")
		}
	}
	c, _ := credential.ReadCertificate(good)
	for when, want := range map[time.Duration][2]bool{0: {true, false}, 2 * time.Hour: {false, true}, -2 * time.Hour: {false, false}} {
		if have := [2]bool{c.Valid(at.Add(when)), c.Ended(at.Add(when)) != nil}; have != want {
			t.Error(when, have)
		}
	}
}

// TestAllow: changes of lists of certificates, in both forms of a definition.
func TestAllow(t *testing.T) {
	for text, oas := range map[string]bool{
		`{"client_certificates":["theirs"]}`: false, `{"x-tyk-api-gateway":{"server":{"clientCertificates":{"enabled":true,"allowlist":["theirs"]}}}}`: true,
	} {
		d := doctest.Node(t, text)
		for _, wanted := range []bool{true, true, false, false} {
			before := credential.Allows(d, oas, "ours")
			if changed := credential.Allow(d, oas, "ours", wanted); changed != (before != wanted) || credential.Allows(d, oas, "ours") != wanted || !credential.Allows(d, oas, "theirs") {
				t.Errorf("%v, %s", changed, d.JSON())
			}
		}
		if have := string(d.JSON()); have != text || credential.Allow(d, oas, "", true) {
			t.Error(have)
		}
	}
	s := doc.NewObject()
	for _, c := range []struct {
		former, now []string
		want        string
	}{
		{nil, []string{"a"}, `{"mtls_static_certificate_bindings":["a"]}`},
		{[]string{"a"}, []string{"b"}, `{"mtls_static_certificate_bindings":["b"]}`},
		{[]string{"b"}, []string{"b"}, `{"mtls_static_certificate_bindings":["b"]}`},
		{[]string{"b"}, []string{"b", "c"}, `{"mtls_static_certificate_bindings":["b","c"]}`},
		{[]string{"b"}, []string{"d"}, `{"mtls_static_certificate_bindings":["c","d"]}`}, // c belongs to another credential
		{[]string{"c", "d"}, nil, `{}`},
	} {
		credential.Bind(s, c.former, c.now)
		if have := string(s.JSON()); have != c.want {
			t.Errorf("%v: %s", c, have)
		}
	}
}

// TestStandings: the certificates on lists, and those to which a key is bound.
func TestStandings(t *testing.T) {
	own := credential.Public{CertificateID: "own", Allowed: []string{"x", "y"}}
	if have := own.Standings(credential.Public{Allowed: []string{"x"}, CertificateID: "own"}); len(have) != 1 || have[0].API != "y" || !slices.Equal(have[0].Certificates, []string{"own"}) {
		t.Error(have)
	}
	if have := own.Ties(); have != nil {
		t.Errorf("a key that is not bound: %v", have)
	}
	v := credential.Public{Bound: true, Allowed: []string{"x"}}
	v.Manage([]string{"a", "b"})
	was := v
	v.Manage([]string{"b", "c"})
	if now, gone := v.Standings(was), was.Standings(v); len(now) != 1 || !slices.Equal(now[0].Certificates, []string{"c"}) || len(gone) != 1 || !slices.Equal(gone[0].Certificates, []string{"a"}) {
		t.Error(now, gone)
	}
	if have := v.Ties(); !slices.Equal(have, []string{"b", "c"}) {
		t.Error(have)
	}
	v.Manage(nil)
	if !slices.Equal(v.Ties(), []string{"b", "c"}) || len(v.Certificates()) != 0 || len(v.Standings(credential.Public{})) != 0 {
		t.Errorf("an organisation that has no certificate any more: %v", v)
	}
}

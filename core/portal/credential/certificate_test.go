package credential_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
)

func block(kind string, der []byte, err error) string {
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// TestReadCertificate states with what developers can come.
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

// TestAllow states how lists of certificates change, in both forms of a definition.
func TestAllow(t *testing.T) {
	for text, oas := range map[string]bool{
		`{"client_certificates":["theirs"]}`: false, `{"x-tyk-api-gateway":{"server":{"clientCertificates":{"enabled":true,"allowlist":["theirs"]}}}}`: true,
	} {
		d, err := doc.ParseNode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
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
	for _, c := range [][3]string{{"", "a", `{"mtls_static_certificate_bindings":["a"]}`}, {"a", "b", `{"mtls_static_certificate_bindings":["b"]}`}, {"b", "b", `{"mtls_static_certificate_bindings":["b"]}`}, {"b", "", `{}`}} {
		credential.Bind(s, c[0], c[1])
		if have := string(s.JSON()); have != c[2] {
			t.Errorf("%v: %s", c, have)
		}
	}
}

package certificate_test

import (
	"bytes"
	"crypto"
	"crypto/dsa" //nolint:staticcheck // a type of key that is refused
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

const org tenant.ID = "5e9d9544a1dcd60001d0ed20"

// pair is a certificate with its keys.
type pair struct {
	key crypto.Signer
	der []byte
}

func made(t testing.TB, key crypto.Signer, parent *pair, name string, ca bool) pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name, Organization: []string{"Gatehouse"}}, DNSNames: []string{name, "*." + name},
		NotBefore: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), NotAfter: time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC), IsCA: ca, BasicConstraintsValid: true,
	}
	by, signer := template, key
	if parent != nil {
		var err error
		if by, err = x509.ParseCertificate(parent.der); err != nil {
			t.Fatal(err)
		}
		signer = parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	return pair{key, der}
}

func p256(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func (p pair) pem() string { return block("CERTIFICATE", p.der) }

func (p pair) private(t testing.TB) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return block("PRIVATE KEY", der)
}

func (p pair) public(t testing.TB) (text string, der []byte) {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return block("PUBLIC KEY", der), der
}

func sum(der []byte) string {
	s := sha256.Sum256(der)
	return hex.EncodeToString(s[:])
}

func TestParse(t *testing.T) {
	ca := made(t, p256(t), nil, "Authority", true)
	leaf := made(t, p256(t), &ca, "orders.example", false)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	old := made(t, rsaKey, nil, "old.example", false)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ed := made(t, edKey, nil, "ed.example", false)
	sec1, err := x509.MarshalECPrivateKey(leaf.key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	public, publicDER := leaf.public(t)
	for name, c := range map[string]struct {
		text    string
		id      string
		private bool
		issuer  string
		blocks  int
	}{
		"a certificate":               {leaf.pem(), sum(leaf.der), false, "Authority", 1},
		"with its key":                {leaf.pem() + leaf.private(t), sum(leaf.der), true, "Authority", 2},
		"the key first":               {leaf.private(t) + leaf.pem(), sum(leaf.der), true, "Authority", 2},
		"with its chain":              {leaf.pem() + ca.pem(), sum(leaf.der), false, "Authority", 2},
		"chain and key":               {leaf.pem() + ca.pem() + leaf.private(t), sum(leaf.der), true, "Authority", 3},
		"SEC 1, with parameters":      {leaf.pem() + block("EC PARAMETERS", []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}) + block("EC PRIVATE KEY", sec1), sum(leaf.der), true, "Authority", 2},
		"PKCS#1":                      {old.pem() + block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)), sum(old.der), true, "old.example", 2},
		"Ed25519":                     {ed.pem() + ed.private(t), sum(ed.der), true, "ed.example", 2},
		"an authority":                {ca.pem(), sum(ca.der), false, "Authority", 1},
		"with text around":            {"Bag Attributes\n  friendlyName: x\n" + leaf.pem() + "\n\nthe end", sum(leaf.der), false, "Authority", 1},
		"lines as Windows ends them":  {strings.ReplaceAll(leaf.pem(), "\n", "\r\n"), sum(leaf.der), false, "Authority", 1},
		"a public key":                {public, sum(publicDER), false, "", 1},
		"a private key that pins one": {leaf.pem() + leaf.private(t) + ca.pem(), sum(leaf.der), true, "Authority", 3},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := certificate.Parse(org, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if b.ID != string(org)+c.id || b.Fingerprint != c.id || b.HasPrivate != c.private || b.Issuer.CommonName != c.issuer || !certificate.ValidID(org, b.ID) {
				t.Errorf("%+v", b.Meta)
			}
			if n := bytes.Count(b.Text, []byte("-----BEGIN ")); n != c.blocks || !bytes.HasPrefix(b.Text, []byte("-----BEGIN ")) {
				t.Errorf("%d blocks: %.100s", n, b.Text)
			}
			again, err := certificate.Parse(org, b.Text)
			if err != nil || again.ID != b.ID || !bytes.Equal(again.Text, b.Text) || again.HasPrivate != b.HasPrivate {
				t.Errorf("its own text: %v", err)
			}
		})
	}
	b, err := certificate.Parse(org, []byte(leaf.pem()))
	if err != nil {
		t.Fatal(err)
	}
	basics := b.Basics()
	if basics.SubjectCN != "orders.example" || basics.IssuerCN != "Authority" || len(basics.DNSNames) != 2 || basics.IsCA ||
		!basics.NotAfter.Equal(time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC)) || !basics.NotBefore.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || basics.ID != b.ID {
		t.Errorf("%+v", basics)
	}
	bare, err := certificate.Parse(org, []byte(public))
	if err != nil || !bare.NotAfter.IsZero() || bare.Subject.CommonName != "Public Key: "+sum(publicDER) || bare.DNSNames == nil {
		t.Errorf("%v, %+v", err, bare.Meta)
	}
}

// TestShown: the result has lists, and no nulls.
func TestShown(t *testing.T) {
	text, err := json.Marshal(certificate.Meta{}.Shown())
	if err != nil || bytes.Contains(text, []byte("null")) {
		t.Errorf("%v: %s", err, text)
	}
}

func TestRefused(t *testing.T) {
	ca := made(t, p256(t), nil, "Authority", true)
	leaf := made(t, p256(t), &ca, "orders.example", false)
	public, _ := leaf.public(t)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":               {"", "It should be PEM encoded."},
		"no PEM":                {"hello", "It should be PEM encoded."},
		"a key alone":           {leaf.private(t), "a private key alone"},
		"another key":           {leaf.pem() + ca.private(t), "not the one of the certificate"},
		"the chain first":       {ca.pem() + leaf.pem() + leaf.private(t), "the first certificate must be"},
		"two keys":              {leaf.pem() + leaf.private(t) + leaf.private(t), "two private keys"},
		"two public keys":       {public + public, "two public keys"},
		"both":                  {leaf.pem() + public, "cannot be uploaded together"},
		"a passphrase":          {leaf.pem() + block("ENCRYPTED PRIVATE KEY", []byte("x")), "has a passphrase"},
		"an old passphrase":     {leaf.pem() + strings.Replace(leaf.private(t), "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n", 1), "has a passphrase"},
		"another type":          {block("CERTIFICATE REQUEST", leaf.der), `"CERTIFICATE REQUEST"`},
		"no certificate inside": {block("CERTIFICATE", []byte("hello")), "the certificate cannot be read"},
		"a broken chain":        {leaf.pem() + block("CERTIFICATE", []byte("hello")), "a certificate of the chain cannot be read"},
		"a broken key":          {leaf.pem() + block("PRIVATE KEY", []byte("secret-material")), "the private key cannot be read"},
		"a broken public key":   {block("PUBLIC KEY", []byte("hello")), "the public key cannot be read"},
		"too long":              {leaf.pem() + strings.Repeat("x", certificate.MaxText), "may have 256 KiB"},
		"too many blocks":       {strings.Repeat(block("EC PARAMETERS", []byte{5, 0}), 33), "may have 32 blocks"},
		"a long private key":    {leaf.pem() + block("PRIVATE KEY", make([]byte, 9<<10)), "may have 8192 bits"},
		"a long public key":     {block("PUBLIC KEY", make([]byte, 9<<10)), "may have 8192 bits"},
		"a huge RSA key":        {block("PUBLIC KEY", hugeRSA(t)), "this has 16000"},
		"a DSA key":             {block("PUBLIC KEY", dsaKey(t)), "must be of the type"},
	} {
		_, err := certificate.Parse(org, []byte(c.text))
		if err == nil || fault.CodeOf(err) != certificate.CodeInvalid || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret-material") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hugeRSA returns a public key below the limit in bytes, and above that in bits.
func hugeRSA(t *testing.T) []byte {
	t.Helper()
	n := new(big.Int).Lsh(big.NewInt(1), 15999)
	der, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: n.Add(n, big.NewInt(1)), E: 65537})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// dsaKey returns a public key of a type that gateways cannot use.
func dsaKey(t *testing.T) []byte {
	t.Helper()
	params, err := asn1.Marshal(dsa.Parameters{P: big.NewInt(23), Q: big.NewInt(11), G: big.NewInt(2)})
	if err != nil {
		t.Fatal(err)
	}
	y, err := asn1.Marshal(big.NewInt(5))
	if err != nil {
		t.Fatal(err)
	}
	der, err := asn1.Marshal(struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}{pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10040, 4, 1}, Parameters: asn1.RawValue{FullBytes: params}}, asn1.BitString{Bytes: y, BitLength: 8 * len(y)}})
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func TestValidID(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	for id, want := range map[string]bool{
		string(org) + hash: true, hash: false, string(org): false, string(org) + hash + "0": false, "": false,
		string(org) + strings.ToUpper(hash): false, "5e9d9544a1dcd60001d0ed21" + hash: false, string(org) + strings.Repeat("/.", 32): false,
	} {
		if got := certificate.ValidID(org, id); got != want {
			t.Errorf("%q: %t", id, got)
		}
	}
}

func TestOrgOf(t *testing.T) {
	hash := strings.Repeat("0f", 32)
	for id, want := range map[string]tenant.ID{
		string(org) + hash: org, "default" + hash: "default", hash: "", "": "", string(org): "", "a" + strings.ToUpper(hash): "", "/etc/" + hash: "", "a\x00" + hash: "",
	} {
		if got := certificate.OrgOf(id); got != want {
			t.Errorf("%q: %q", id, got)
		}
	}
}

// FuzzParse: no text does more than fail, and the text of an accepted upload is accepted
// again.
func FuzzParse(f *testing.F) {
	ca := made(f, p256(f), nil, "Authority", true)
	public, _ := ca.public(f)
	f.Add([]byte(ca.pem() + ca.private(f)))
	f.Add([]byte(public))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----BEGIN "))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := certificate.Parse(org, text)
		if err != nil {
			return
		}
		again, err := certificate.Parse(org, b.Text)
		if err != nil || again.ID != b.ID || !bytes.Equal(again.Text, b.Text) || !certificate.ValidID(org, b.ID) {
			t.Errorf("%v: %q", err, b.Text)
		}
	})
}

// BenchmarkBomb measures the cost of the worst texts.
func BenchmarkBomb(b *testing.B) {
	for name, text := range map[string]string{
		"beginnings": strings.Repeat("-----BEGIN CERTIFICATE-----\n", certificate.MaxText/28),
		"pairs":      strings.Repeat("-----BEGIN X-----\n-----END Y-----\n", certificate.MaxText/34),
		"headers":    "-----BEGIN CERTIFICATE-----\n" + strings.Repeat("a: b\n", certificate.MaxText/6),
		"huge RSA":   "",
	} {
		if text == "" {
			ca := made(b, p256(b), nil, "Authority", true)
			key := make([]byte, 8<<10-40)
			for i := range key {
				key[i] = 0xff
			}
			n := new(big.Int).SetBytes(key[:2300])
			der, err := asn1.Marshal(struct {
				V                   int
				N                   *big.Int
				E                   int
				D, P, Q, DP, DQ, QI *big.Int
			}{0, n, 65537, new(big.Int).Sub(n, big.NewInt(2)), new(big.Int).SetBytes(key[:1150]), new(big.Int).SetBytes(key[:1150]), big.NewInt(3), big.NewInt(3), big.NewInt(3)})
			if err != nil {
				b.Fatal(err)
			}
			text = ca.pem() + block("RSA PRIVATE KEY", der)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := certificate.Parse(org, []byte(text)); err == nil {
					b.Fatal("taken")
				}
			}
		})
	}
}

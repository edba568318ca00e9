package gatewaytest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/certificate"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// RunCertificates runs the tests of certificates. open makes a new world.
func RunCertificates(t *testing.T, open func(t *testing.T) World) {
	run(t, open, map[string]func(*testing.T, World){
		"a life": certificateLife, "other organisations": certificateOrgs, "refusals": certificateRefusals, "many": certificatesMany, "no gateway": certificatesAway,
	})
}

// Pair is a certificate and its key.
type Pair struct {
	Certificate, Key, Public []byte // PEM
	Fingerprint              string // of the certificate
}

// NewPair makes a certificate that signs itself.
func NewPair(t *testing.T, name string) Pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Unix(1767323045, 0), NotAfter: time.Unix(4102444800, 0), BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key) //nolint:forbidigo // a test
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}) }
	sum := sha256.Sum256(der)
	return Pair{block("CERTIFICATE", der), block("PRIVATE KEY", private), block("PUBLIC KEY", public), hex.EncodeToString(sum[:])}
}

func addCertificate(t *testing.T, w World, org tenant.ID, text []byte) string {
	t.Helper()
	id, err := w.Certificates.AddCertificate(t.Context(), org, text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func certificateLife(t *testing.T, w World) {
	ctx, plain, both := t.Context(), NewPair(t, "plain.example"), NewPair(t, "both.example")
	first := addCertificate(t, w, Org, plain.Certificate)
	second := addCertificate(t, w, Org, bytes.Join([][]byte{both.Certificate, both.Key}, nil))
	key := addCertificate(t, w, Org, both.Public)
	if first != string(Org)+plain.Fingerprint || second != string(Org)+both.Fingerprint || !strings.HasPrefix(key, string(Org)) {
		t.Errorf("%s %s %s", first, second, key)
	}
	for id, private := range map[string]bool{first: false, second: true} {
		m, err := w.Certificates.Certificate(ctx, Org, id)
		if err != nil || m.ID != id || m.HasPrivate != private || m.Fingerprint != id[len(Org):] || m.Subject.CommonName == "" || m.NotAfter.Unix() != 4102444800 {
			t.Errorf("%+v, %v", m, err)
		}
	}
	list, err := w.Certificates.ListCertificates(ctx, Org)
	if err != nil || len(list) != 3 || !slices.IsSortedFunc(list, func(a, b certificate.Basics) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("%+v, %v", list, err)
	}
	id, err := w.Certificates.AddCertificate(ctx, Org, plain.Certificate)
	if !errors.Is(err, gateway.ErrTaken) || id != first {
		t.Errorf("again: %s, %v", id, err)
	}
	for range 2 { // the second time, it is gone already
		if err := w.Certificates.DeleteCertificate(ctx, Org, first); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.Certificates.Certificate(ctx, Org, first); !errors.Is(err, gateway.ErrUnknown) {
		t.Error(err)
	}
	if again := addCertificate(t, w, Org, plain.Certificate); again != first {
		t.Error(again)
	}
}

func certificateOrgs(t *testing.T, w World) {
	ctx, pair := t.Context(), NewPair(t, "shared.example")
	mine := addCertificate(t, w, Org, pair.Certificate)
	if _, err := w.Certificates.Certificate(ctx, Other, mine); !errors.Is(err, gateway.ErrForeign) {
		t.Error(err)
	}
	if err := w.Certificates.DeleteCertificate(ctx, Other, mine); !errors.Is(err, gateway.ErrForeign) {
		t.Error(err)
	}
	theirs := addCertificate(t, w, Other, pair.Certificate)
	if theirs == mine {
		t.Error("two organisations have one certificate")
	}
	if some, err := w.Certificates.Certificates(ctx, Other, []string{mine, theirs}); err != nil || len(some) != 1 || some[0].ID != theirs {
		t.Errorf("%+v, %v", some, err)
	}
	for org, want := range map[tenant.ID]string{Org: mine, Other: theirs} {
		if list, err := w.Certificates.ListCertificates(ctx, org); err != nil || len(list) != 1 || list[0].ID != want {
			t.Errorf("%s: %+v, %v", org, list, err)
		}
	}
}

func certificateRefusals(t *testing.T, w World) {
	pair := NewPair(t, "a.example")
	for _, text := range []string{"", "no PEM", string(pair.Key), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"} {
		if _, err := w.Certificates.AddCertificate(t.Context(), Org, []byte(text)); !errors.Is(err, gateway.ErrRefused) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, id := range []string{string(Org) + "../keys", string(Org), string(Org) + strings.Repeat("0", 64)} {
		if _, err := w.Certificates.Certificate(t.Context(), Org, id); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if list, err := w.Certificates.ListCertificates(t.Context(), Org); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// certificatesMany asks for more certificates than fit into one URL. Some do not exist.
func certificatesMany(t *testing.T, w World) {
	var ids []string
	for range 60 {
		ids = append(ids, addCertificate(t, w, Org, NewPair(t, "m.example").Certificate))
	}
	asked := append(slices.Clone(ids), string(Org)+strings.Repeat("0", 64), "x")
	list, err := w.Certificates.Certificates(t.Context(), Org, asked)
	slices.Sort(ids)
	if err != nil || len(list) != len(ids) {
		t.Fatalf("%d, %v", len(list), err)
	}
	for i, m := range list {
		if m.ID != ids[i] {
			t.Fatalf("%d: %s", i, m.ID)
		}
	}
	if one, err := w.Certificates.Certificates(t.Context(), Org, ids[:1]); err != nil || len(one) != 1 || one[0].ID != ids[0] {
		t.Errorf("%v, %v", one, err)
	}
}

func certificatesAway(t *testing.T, w World) {
	ctx, c, id := t.Context(), w.Away.Certificates, string(Org)+strings.Repeat("0", 64)
	every := map[string]error{}
	_, every["add"] = c.AddCertificate(ctx, Org, NewPair(t, "a.example").Certificate)
	_, every["read"] = c.Certificate(ctx, Org, id)
	_, every["read several"] = c.Certificates(ctx, Org, []string{id})
	_, every["list"] = c.ListCertificates(ctx, Org)
	every["delete"] = c.DeleteCertificate(ctx, Org, id)
	for name, err := range every {
		if !errors.Is(err, gateway.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

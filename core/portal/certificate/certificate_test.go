package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/table/tabletest"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func text(t *testing.T, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "till"}, NotBefore: end.AddDate(-1, 0, 0), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// TestRead: the data of an uploaded certificate, and refused texts.
func TestRead(t *testing.T) {
	c, err := certificate.Certificate{PEM: text(t, noon.Add(time.Hour))}.Read(noon)
	if err != nil || c.Name != "CN=till" || c.Subject != "CN=till" || len(c.Fingerprint) != 64 || c.SignatureAlgorithm != "ECDSA-SHA256" {
		t.Error(err, c)
	}
	if !c.Valid(noon) || c.Valid(noon.Add(time.Hour)) || c.Valid(noon.AddDate(-2, 0, 0)) {
		t.Error(c.NotBefore, c.NotAfter)
	}
	for text, want := range map[string]string{"": "Certificate can't be blank", "x": "Certificate is invalid", text(t, noon): "it has expired"} {
		if _, err := (certificate.Certificate{PEM: text}).Read(noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	if _, err := (certificate.Certificate{PEM: text(t, noon)}).Read(noon); fault.CodeOf(err) != credential.CodeCertificate {
		t.Error(err)
	}
	if long := (certificate.Certificate{Subject: strings.Repeat("é", 300)}).Named().Name; long != strings.Repeat("é", 255) {
		t.Error(long)
	}
}

// TestDeletable: certificates that must not be deleted.
func TestDeletable(t *testing.T) {
	c := certificate.Certificate{Name: "till", PEM: "text"}
	if err := c.Deletable(false); err != nil {
		t.Error(err)
	}
	if err := c.Deletable(true); fault.CodeOf(err) != certificate.CodeUsed {
		t.Error(err)
	}
	c.Organisations = []table.ID{2}
	if err := c.Deletable(false); fault.CodeOf(err) != certificate.CodeUsed {
		t.Error(err)
	}
	if err := (certificate.Certificate{}).Deletable(false); fault.CodeOf(err) != certificate.CodeBrought {
		t.Error(err)
	}
	if certificate.Room(49) != nil || fault.CodeOf(certificate.Room(50)) != certificate.CodeMany {
		t.Error("an organisation has room for 50")
	}
	gains := certificate.Certificate{Organisations: []table.ID{1, 2}}.Gains(certificate.Certificate{Organisations: []table.ID{1, 3}})
	if len(gains) != 1 || gains[0] != 2 {
		t.Error(gains)
	}
}

// TestFollow: how records follow the store of a dashboard.
func TestFollow(t *testing.T) {
	known := func(id table.ID, print, store string, hidden bool) certificate.Certificate {
		return certificate.Certificate{Base: table.Base{ID: id, Hidden: hidden}, Fingerprint: print, StoreID: store}
	}
	for name, c := range map[string]struct {
		have   []certificate.Certificate
		listed []certificate.Stored
		want   []certificate.Certificate
	}{
		"nothing":      {nil, nil, nil},
		"unknown":      {nil, []certificate.Stored{{ID: "one", Fingerprint: "f", Subject: "CN=s"}, {ID: "one", Fingerprint: "f"}, {}}, []certificate.Certificate{known(0, "f", "one", false)}},
		"known":        {[]certificate.Certificate{known(1, "f", "one", false)}, []certificate.Stored{{ID: "one", Fingerprint: "f"}}, nil},
		"renamed":      {[]certificate.Certificate{known(1, "f", "one", false)}, []certificate.Stored{{ID: "two", Fingerprint: "f"}}, []certificate.Certificate{known(1, "f", "two", false)}},
		"missing":      {[]certificate.Certificate{known(1, "f", "one", false)}, nil, []certificate.Certificate{known(1, "f", "one", true)}},
		"stays hidden": {[]certificate.Certificate{known(1, "f", "one", true)}, nil, nil},
		"back":         {[]certificate.Certificate{known(1, "f", "one", true)}, []certificate.Stored{{ID: "one", Fingerprint: "f"}}, []certificate.Certificate{known(1, "f", "one", false)}},
		"shown wins":   {[]certificate.Certificate{known(1, "f", "one", true), known(2, "f", "one", false)}, []certificate.Stored{{ID: "one", Fingerprint: "f"}}, nil},
	} {
		have := certificate.Follow(7, c.have, c.listed)
		if len(have) != len(c.want) {
			t.Fatalf("%s: %v", name, have)
		}
		for i, w := range c.want {
			if h := have[i]; h.ID != w.ID || h.Fingerprint != w.Fingerprint || h.StoreID != w.StoreID || h.Hidden != w.Hidden || h.ID == 0 && (h.ProviderID != 7 || h.Name != "CN=s") {
				t.Errorf("%s: %+v", name, h)
			}
		}
	}
}

// TestTable: the fields of certificates, and which two are the same.
func TestTable(t *testing.T) {
	tabletest.Sound[certificate.Certificate](t, `{"ProviderID":1,"Certificate":"pem"}`)
	same, c := certificate.Certificate{}.Table().Unique[0].Of, certificate.Certificate{ProviderID: 1, Fingerprint: "f"}
	other, hidden := c, c
	other.ProviderID, hidden.Hidden = 2, true
	if same(c) == "" || same(c) == same(other) || same(hidden) != "" || same(certificate.Certificate{ProviderID: 1}) != "" {
		t.Error(same(c), same(other), same(hidden))
	}
}

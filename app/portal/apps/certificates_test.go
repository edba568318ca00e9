package apps_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Certificates of developers, and one that has expired.
var texts, fingerprints = made(time.Now().Add(time.Hour), time.Now().Add(time.Hour), time.Now().Add(-time.Hour))

func made(ends ...time.Time) (texts, prints []string) {
	for i, end := range ends {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 1)), Subject: pkix.Name{CommonName: fmt.Sprint("till ", i)}, NotBefore: end.Add(-24 * time.Hour), NotAfter: end}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(der)
		texts = append(texts, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
		prints = append(prints, hex.EncodeToString(sum[:]))
	}
	return texts, prints
}

// sells adds products 3 and 4, whose APIs require a certificate.
func (w *world) sells(bind bool) { w.sellsBy("", bind) }

func (w *world) sellsBy(mode string, bind bool) {
	w.t.Helper()
	w.update(func(wr store.Writer) error {
		for _, id := range []string{"c1", "c2"} {
			p := product.Product{ProviderID: 1, Ref: sync.Ref{ID: id}, Name: id, Path: id, APIs: product.Details{{APIID: id}}, AuthTypes: []string{"authToken", "mutualTLS"}, AuthTypeMode: mode, BindCertificateToToken: bind}
			if _, err := portal.Add(w.t.Context(), wr, products.Kind, w.at(), p); err != nil {
				return err
			}
		}
		return nil
	})
}

// with requests the products, with a certificate.
func with(certificate int) func(w *world) error {
	return func(w *world) error {
		if len(w.requests()) == 0 && !w.sold() {
			w.sells(true)
		}
		return w.provision(fmt.Sprintf(`{"PlanID":2,"ProductIDs":[3,4],"Certificate":%s}`, quoted(texts[certificate])))
	}
}

func (w *world) sold() (there bool) {
	w.update(func(wr store.Writer) error {
		_, err := portal.Find(w.t.Context(), wr, products.Kind, "3")
		there = err == nil
		return nil
	})
	return there
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func (w *world) renew(certificate int) error {
	_, err := w.try("portal-app-credentials.renew", `{"Certificate":`+quoted(texts[certificate])+`}`, "app_id", w.app.String(), "access_request_id", "1", "credential_id", "1")
	return err
}

// lists returns the allow lists of the APIs.
func (w *world) lists() map[string][]string {
	w.t.Helper()
	out := map[string][]string{}
	for _, api := range []string{"c1", "c2"} {
		d, err := w.dash.Definition(w.t.Context(), api)
		if err != nil {
			w.t.Fatal(err)
		}
		out[api] = d.Document.Get("api_definition", "client_certificates").Texts()
	}
	return out
}

// certified fails unless the APIs accept exactly the certificates of credentials and those on
// the lists before.
func (w *world) certified(what string) {
	w.t.Helper()
	want := []string{"theirs"}
	for _, r := range w.requests() {
		for _, c := range r.Credentials {
			for _, id := range append(c.CertificateIDs, c.CertificateID) {
				if id != "" && !slices.Contains(want, id) {
					want = append(want, id)
				}
			}
		}
	}
	slices.Sort(want)
	for api, have := range w.lists() {
		if have = slices.Sorted(slices.Values(have)); !slices.Equal(have, want) {
			w.t.Errorf("%s: %s takes %v, and not %v", what, api, have, want)
		}
	}
}

// clearCertificates removes what earlier tests have left at the dashboard.
func (w *world) clearCertificates() (err error) {
	ctx := w.t.Context()
	for _, api := range []string{"c1", "c2"} {
		d, failed := w.dash.Definition(ctx, api)
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if d.Document.Get("api_definition", "client_certificates").Len() > 1 {
			d.Document.Get("api_definition").Set("client_certificates", doc.NewStrings([]string{"theirs"}))
			err = errors.Join(err, w.dash.ReplaceDefinition(ctx, d))
		}
	}
	for _, f := range fingerprints {
		id, failed := w.dash.FindCertificate(ctx, f)
		if err = errors.Join(err, failed); id != "" {
			err = errors.Join(err, w.dash.DeleteCertificate(ctx, id))
		}
	}
	return err
}

// TestCertificates follows the certificate of a credential from upload to deletion, at a
// dashboard in this process and over HTTP.
func TestCertificates(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		w := open(t, newOurs(t, overHTTP))
		if err := with(0)(w); err != nil {
			t.Fatal(err)
		}
		w.consistent("approved")
		bound := func(want ...string) {
			t.Helper()
			k, err := w.dash.Key(t.Context(), dashboard.KeyName{Text: w.requests()[0].Credentials[0].Credential})
			if err != nil || !slices.Equal(k.Session.Get("mtls_static_certificate_bindings").Texts(), want) {
				t.Error(err, k.Session.Get("mtls_static_certificate_bindings").Texts(), want)
			}
		}
		bound("one" + fingerprints[0])
		shown := w.do("portal-app-credentials.certificate", "", "app_id", "1", "access_request_id", "1", "credential_id", "1").(apps.Certificate)
		if shown.Fingerprint != fingerprints[0] || shown.Subject != "CN=till 0" || !shown.IsValid || shown.ID != "one"+fingerprints[0] || shown.SignatureAlgorithm != "ECDSA-SHA256" {
			t.Error(shown)
		}
		if err := w.credential("rotate", "1", "1"); err != nil {
			t.Fatal(err)
		}
		bound("one" + fingerprints[0])
		if err := w.credential("forget", "1", "1"); err != nil {
			t.Fatal(err)
		}
		bound("one" + fingerprints[0]) // it gives no access, not even with the certificates of others
		w.consistent("taken away")
		if err := w.renew(1); err != nil {
			t.Fatal(err)
		}
		bound("one" + fingerprints[1])
		w.consistent("renewed")
		if err := w.renew(1); err != nil { // the same again changes nothing
			t.Fatal(err)
		}
		w.consistent("renewed again")
		if err := w.renew(2); err == nil || !strings.Contains(err.Error(), "expired") {
			t.Error(err)
		}
		// Another app with the same certificate: it stays until the last credential is deleted.
		if err := with(1)(w); err != nil {
			t.Fatal(err)
		}
		if err := w.credential("delete", "1", "1"); err != nil {
			t.Fatal(err)
		}
		w.consistent("one of two is gone")
		if err := w.credential("forget", "2", "2"); err != nil {
			t.Fatal(err)
		}
		w.consistent("without one")
		if err := w.credential("forget", "2", "2"); err == nil {
			t.Error("a certificate was taken away twice")
		}
		if err := w.delete("portal-apps", "app_id", "1"); err != nil {
			t.Fatal(err)
		}
		w.consistent("the app is gone")
		w.clear()
	}
}

// TestLocalTimes: times of certificates and credentials are in the time zone of the service.
func TestLocalTimes(t *testing.T) {
	w, zone := open(t, newOurs(t, false)), time.FixedZone("", 5*60*60)
	w.p.Tools.Now = func() time.Time { return time.Now().In(zone) }
	w.start(&fate{})
	if err := with(0)(w); err != nil {
		t.Fatal(err)
	}
	shown := w.do("portal-app-credentials.certificate", "", "app_id", "1", "access_request_id", "1", "credential_id", "1").(apps.Certificate)
	c, err := credential.ReadCertificate(shown.Certificate)
	if err != nil || shown.ValidNotBefore != table.Stamp(c.NotBefore.In(zone)) || shown.ValidNotAfter != table.Stamp(c.NotAfter.In(zone)) {
		t.Errorf("%+v: %v", shown, err)
	}
	own, err := w.by(w.user, "get", "", "app_id", w.app.String())
	if err != nil {
		t.Fatal(err)
	}
	if told, want := own.(apps.OwnShown).Credentials[0].Expires, w.requests()[0].Credentials[0].Expires; told != want {
		t.Error(told, want)
	}
}

// TestCertificateOrders states which certificates developers may use.
func TestCertificateOrders(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.sells(false)
	for body, want := range map[string]string{
		`{"PlanID":2,"ProductIDs":[3]}`:                                                    "Certificate can't be blank",
		`{"PlanID":2,"ProductIDs":[3],"Certificate":"x"}`:                                  "Certificate is invalid",
		`{"PlanID":2,"ProductIDs":[3],"Certificate":` + quoted(texts[2]) + `}`:             "it has expired",
		`{"PlanID":2,"ProductIDs":[1,3],"Certificate":` + quoted(texts[0]) + `}`:           "different authentication methods",
		`{"PlanID":2,"ProductIDs":[3],"Certificate":"` + strings.Repeat("x", 20001) + `"}`: "Certificate",
	} {
		if err := w.provision(body); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", body, err)
		}
	}
	if len(w.requests()) != 0 {
		t.Error("a request was made")
	}
	// An unbound key works with any certificate on the list.
	if err := w.provision(`{"PlanID":2,"ProductIDs":[3],"Certificate":` + quoted(texts[0]) + `}`); err != nil {
		t.Fatal(err)
	}
	k, err := w.dash.Key(t.Context(), dashboard.KeyName{Text: w.requests()[0].Credentials[0].Credential})
	if err != nil || k.Session.Get("mtls_static_certificate_bindings") != nil {
		t.Error(err, k.Session)
	}
	if err := w.provision(`{"PlanID":2,"ProductIDs":[4],"CredentialID":1}`); err != nil {
		t.Fatal(err)
	}
	w.certified("a further product")
}

// TestSpread: the certificates of a product are on the allow list of an API as soon as the
// product has it, and are removed when it no longer has it; also when the dashboard has changed
// the product, and when the process died in between.
func TestSpread(t *testing.T) {
	d := newOurs(t, false)
	for point := range 12 {
		w := open(t, d)
		w.sells(true)
		if err := w.provision(`{"PlanID":2,"ProductIDs":[3],"Certificate":` + quoted(texts[0]) + `}`); err != nil {
			t.Fatal(err)
		}
		then := func(context.Context, tenant.Scope, table.ID) error { return nil }
		have := func(what string, want map[string]int) {
			t.Helper()
			for api, list := range w.lists() {
				if len(list) != 1+want[api] {
					t.Errorf("%d, %s: %s takes %v", point, what, api, list)
				}
			}
		}
		sell := func(apis ...string) (old, now product.Product) {
			w.update(func(wr store.Writer) (err error) {
				now, err = portal.Edit(t.Context(), wr, products.Kind, 3, w.at(), func(p product.Product) (product.Product, error) {
					old = p
					return p.WithAPIs(apis), nil
				})
				return err
			})
			return old, now
		}
		tell := func(old, now product.Product) {
			t.Helper()
			hooks := apps.Products(portal.Hooks[product.Product]{}, func() *apps.Service { return w.apps })
			c := &portal.Change[product.Product]{Op: store.Updated, Scope: w.p.Scope, Store: w.p.DB, Old: old, New: now, At: w.at()}
			if err := hooks.Turn(t.Context(), c, func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		}
		w.start(&fate{at: point, says: errDead})
		tell(sell("c1", "c2"))
		if point == 0 {
			have("an API more", map[string]int{"c1": 1, "c2": 1})
		}
		w.resume()
		follow := func() {
			t.Helper()
			if err := w.apps.After(then)(t.Context(), w.p.Scope, 1); err != nil {
				t.Error(err)
			}
		}
		follow()
		have("after the synchronisation", map[string]int{"c1": 1, "c2": 1})
		sell("c2") // by the dashboard
		follow()
		have("an API less", map[string]int{"c2": 1})
		if err := w.credential("delete", "1", "1"); err != nil {
			t.Fatal(err)
		}
		have("without credential", nil)
		w.clear()
	}
}

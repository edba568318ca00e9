package apps_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/core/portal/certificate"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// given assigns exactly these certificates to the organisation of the app, as an
// administrator. The products require them.
func given(w *world, list ...int) error {
	w.t.Helper()
	if !w.sold() {
		w.sellsBy(product.Managed, true)
	}
	ctx := w.t.Context()
	for _, i := range list {
		if id, err := w.dash.FindCertificate(ctx, fingerprints[i]); err != nil {
			return err
		} else if id == "" {
			if err := w.dash.AddCertificate(ctx, []byte(texts[i])); err != nil {
				return err
			}
		}
	}
	w.update(func(wr store.Writer) error {
		have := map[string]table.ID{}
		for v, err := range certificates.Kind.Find(ctx, wr, store.Query{}) {
			if err != nil {
				return err
			}
			have[v.Value.Fingerprint] = v.Value.ID
		}
		for i, print := range fingerprints {
			var organisations []table.ID
			if slices.Contains(list, i) {
				organisations = []table.ID{1}
			}
			var err error
			if id := have[print]; id != 0 {
				_, err = portal.Edit(ctx, wr, certificates.Kind, id, w.at(), func(c certificate.Certificate) (certificate.Certificate, error) {
					c.Organisations = organisations
					return c, nil
				})
			} else if organisations != nil {
				_, err = portal.Add(ctx, wr, certificates.Kind, w.at(), certificate.Certificate{ProviderID: 1, Name: print, Fingerprint: print, StoreID: "one" + print, Organisations: organisations})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// ordered requests the products with managed certificates.
func ordered(w *world) error { return w.provision(`{"PlanID":2,"ProductIDs":[3,4]}`) }

// bindings returns the bindings of the only key.
func (w *world) bindings() (out []string) {
	w.t.Helper()
	for id := range w.keys() {
		k, err := w.dash.Key(w.t.Context(), dashboard.KeyName{Text: id, Hashed: false})
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, k.Session.Get("mtls_static_certificate_bindings").Texts()...)
	}
	return out
}

// TestManagedCertificates: keys and allow lists have the certificates of the organisation,
// and follow their changes.
func TestManagedCertificates(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		w := open(t, newOurs(t, overHTTP))
		have := func(what string, want ...int) {
			t.Helper()
			var ids []string
			for _, i := range want {
				ids = append(ids, "one"+fingerprints[i])
			}
			slices.Sort(ids)
			for _, r := range w.requests() {
				for _, c := range r.Credentials {
					if !slices.Equal(c.CertificateIDs, ids) || c.CertificateID != "" {
						t.Errorf("%s: %v, not %v", what, c.CertificateIDs, ids)
					}
				}
			}
			w.consistent(what)
		}
		follow := func() {
			t.Helper()
			if err := w.apps.Recertify(t.Context(), w.p.Scope, 1); err != nil {
				t.Error(err)
			}
		}
		if err := given(w); err != nil {
			t.Fatal(err)
		}
		if err := ordered(w); err == nil || !strings.Contains(err.Error(), "the organisation of the app has no certificate") {
			t.Error(err)
		}
		if err := given(w, 0, 1); err != nil {
			t.Fatal(err)
		}
		if err := w.approve("1"); err != nil {
			t.Fatal(err)
		}
		have("approved", 0, 1)
		if len(w.bindings()) != 2 {
			t.Error(w.bindings())
		}
		if err := w.credential("rotate", "1", "1"); err != nil {
			t.Fatal(err)
		}
		have("rotated", 0, 1)
		if len(w.bindings()) != 2 {
			t.Error(w.bindings())
		}
		for _, act := range []func() error{func() error { return w.renew(1) }, func() error { return w.credential("forget", "1", "1") }} {
			if err := act(); err == nil {
				t.Error("a developer has changed a certificate that administrators manage")
			}
		}
		if err := given(w, 1); err != nil {
			t.Fatal(err)
		}
		follow()
		have("one less", 1)
		if b := w.bindings(); !slices.Equal(b, []string{"one" + fingerprints[1]}) {
			t.Error(b)
		}
		// Without any certificate the key gives no access: it stays bound.
		if err := given(w); err != nil {
			t.Fatal(err)
		}
		follow()
		have("none left")
		if b := w.bindings(); !slices.Equal(b, []string{"one" + fingerprints[1]}) {
			t.Error(b)
		}
		if err := w.credential("rotate", "1", "1"); err != nil {
			t.Fatal(err)
		}
		if b := w.bindings(); !slices.Equal(b, []string{"one" + fingerprints[1]}) {
			t.Error(b)
		}
		if err := given(w, 0); err != nil {
			t.Fatal(err)
		}
		follow()
		have("another one", 0)
		if b := w.bindings(); !slices.Equal(b, []string{"one" + fingerprints[0]}) {
			t.Error(b)
		}
		if err := w.credential("delete", "1", "1"); err != nil {
			t.Fatal(err)
		}
		have("without credential")
		w.clear()
	}
}

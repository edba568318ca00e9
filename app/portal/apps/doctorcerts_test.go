package apps_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/core/key"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestDoctorCertificates states the doctor's findings about managed certificates, and
// that a second pass after a fix finds nothing.
func TestDoctorCertificates(t *testing.T) {
	for _, overHTTP := range []bool{false, true} {
		w := open(t, newOurs(t, overHTTP))
		ctx := t.Context()
		pass := func(what string, fix bool, want ...string) {
			t.Helper()
			d, err := w.apps.Examine(ctx, w.p.Scope, fix)
			if err != nil {
				t.Fatal(what, err)
			}
			var have []string
			for _, f := range d.Findings {
				have = append(have, f.Finding)
				if f.Fixed != fix || f.ProviderID != 1 || f.Alias == "" {
					t.Errorf("%s: %+v", what, f)
				}
			}
			if slices.Sort(have); !slices.Equal(have, want) {
				t.Errorf("%s: %q, not %q", what, have, want)
			}
		}
		mended := func(what string, want ...string) {
			t.Helper()
			pass(what, false, want...)
			pass(what+", fixed", true, want...)
			pass(what+", second pass", true)
			w.consistent(what)
		}
		if err := given(w, 0, 1); err != nil {
			t.Fatal(err)
		}
		if err := ordered(w); err != nil {
			t.Fatal(err)
		}
		pass("approved", false)

		def, err := w.dash.Definition(ctx, "c1")
		if err != nil {
			t.Fatal(err)
		}
		settings := def.Document.Get("api_definition")
		credential.Allow(settings, false, "one"+fingerprints[0], false)
		if err := w.dash.ReplaceDefinition(ctx, def); err != nil {
			t.Fatal(err)
		}
		mended("off a list", apps.ListLacking)

		for id := range w.keys() {
			k, err := w.dash.Key(ctx, dashboard.KeyName{Text: id})
			if err != nil {
				t.Fatal(err)
			}
			k.Session.Delete(key.Bindings)
			if _, err := w.dash.ReplaceKey(ctx, dashboard.KeyName{Text: id}, k.Session); err != nil {
				t.Fatal(err)
			}
		}
		mended("unbound", apps.KeyLacking)
		if len(w.bindings()) != 2 {
			t.Error(w.bindings())
		}

		if err := w.dash.DeleteCertificate(ctx, "one"+fingerprints[0]); err != nil {
			t.Fatal(err)
		}
		mended("gone from the store", apps.UseAlone, apps.RecordAlone)
		if b := w.bindings(); !slices.Equal(b, []string{"one" + fingerprints[1]}) {
			t.Error(b)
		}

		if err := w.dash.AddCertificate(ctx, []byte(texts[0])); err != nil {
			t.Fatal(err)
		}
		mended("back in the store", apps.RecordHidden)
		if len(w.bindings()) != 2 {
			t.Error(w.bindings())
		}
	}
}

package apps_test

import (
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestLessOfWhatIsGone: access requests that share a credential are deleted one by one, also
// when the dashboard has lost the key, or is no longer connected.
func TestLessOfWhatIsGone(t *testing.T) {
	for name, share := range map[string]func(*world) error{"key": both, "client": twoProducts} {
		for how, lose := range map[string]func(*world) error{
			"deleted at the dashboard": func(w *world) error {
				for id := range w.keys() {
					if err := w.dash.DeleteKey(t.Context(), dashboard.KeyName{Text: id}); err != nil {
						return err
					}
				}
				return w.clearClients()
			},
			"gone with the provider": func(w *world) error {
				w.update(func(wr store.Writer) (err error) {
					for id := table.ID(1); id <= 4; id++ {
						_, err = products.Kind.Delete(t.Context(), wr, id.Key(), nil)
						if _, also := plans.Kind.Delete(t.Context(), wr, id.Key(), nil); known(err) != nil || known(also) != nil {
							return errors.Join(err, also)
						}
					}
					return portal.Remove(t.Context(), wr, providers.Kind, 1, w.at())
				})
				return nil
			},
		} {
			for _, over := range []bool{false, true} {
				w := open(t, newOurs(t, over))
				if err := errors.Join(share(w), lose(w)); err != nil {
					t.Fatal(err)
				}
				for before, id := range []string{"1", "2"} {
					if err := w.delete("portal-access-requests", "access_request_id", id); err != nil || len(w.requests()) != 1-before {
						t.Errorf("%s %s, request %s: %v, %d are left", name, how, id, err, len(w.requests()))
					}
				}
				w.clear()
			}
		}
	}
}

// known returns an error unless it is NotFound.
func known(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
}

// TestManagedWithoutKey: managed certificates are added to the allow lists even if the
// dashboard has lost the key.
func TestManagedWithoutKey(t *testing.T) {
	for _, over := range []bool{false, true} {
		w := open(t, newOurs(t, over))
		if err := errors.Join(given(w, 0), ordered(w)); err != nil {
			t.Fatal(err)
		}
		for id := range w.keys() {
			if err := w.dash.DeleteKey(t.Context(), dashboard.KeyName{Text: id}); err != nil {
				t.Fatal(err)
			}
		}
		if err := given(w, 0, 1); err != nil {
			t.Fatal(err)
		}
		if err := w.apps.Recertify(t.Context(), w.p.Scope, 1); err != nil {
			t.Error(err)
		}
		if got := w.requests()[0].Credentials[0].CertificateIDs; len(got) != 2 {
			t.Errorf("the credential has %v", got)
		}
		w.certified("without its key")
		w.clear()
	}
}

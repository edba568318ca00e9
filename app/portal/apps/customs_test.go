package apps_test

import (
	"fmt"
	"strings"
	stdsync "sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// further gives the user another app.
func (w *world) further() (id table.ID) {
	w.t.Helper()
	w.update(func(wr store.Writer) error {
		a, err := portal.Add(w.t.Context(), wr, apps.Kind, w.at(), application.App{Name: "Further", UserID: w.user, Visibility: application.Personal})
		id = a.ID
		return err
	})
	return id
}

// customsOf returns the custom credentials of an app.
func (w *world) customsOf(app table.ID) []apps.ListedCustom {
	w.t.Helper()
	return w.do("portal-custom-credentials.list", "", "app_id", app.String()).(operation.Listing[apps.ListedCustom]).Items
}

// TestOneText: if administrators choose the same text for keys of different apps at the
// same moment, one of them gets it. When the text is free again, another can get it.
func TestOneText(t *testing.T) {
	w := open(t, newOurs(t, false))
	all := []table.ID{w.app, w.further(), w.further()}
	for round := range 8 {
		text := fmt.Sprintf("till-%d", round)
		body := `{"Alias":"x","Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"KeyID":"` + text + `"}`
		var won atomic.Int64
		var mine stdsync.WaitGroup
		for _, app := range all {
			mine.Go(func() {
				_, err := w.try("portal-custom-credentials.create", body, "app_id", app.String())
				switch {
				case err == nil:
					if won.Swap(int64(app)) != 0 {
						t.Error("two have made one key")
					}
				case !strings.Contains(err.Error(), "KeyID"):
					t.Error(err)
				}
			})
		}
		mine.Wait()
		w.resume()
		app := table.ID(won.Load())
		k, err := w.dash.Key(t.Context(), dashboard.KeyName{Text: text})
		if err != nil || app == 0 || k.Session.Get("tags").Texts()[0] != "portal-app-"+app.String() {
			t.Fatal(app, k, err)
		}
		for _, id := range all {
			if n := len(w.customsOf(id)); n != map[bool]int{true: 1}[id == app] {
				t.Errorf("app %d has %d credentials, the key is that of %d", id, n, app)
			}
		}
		if _, err := w.try("portal-custom-credentials.delete", "", "app_id", app.String(), "credential_id", w.customsOf(app)[0].ID.String()); err != nil {
			t.Fatal(err)
		}
		if len(w.keys()) != 0 {
			t.Error("a key is left")
		}
	}
}

// TestTextThatGoes: while a key is being deleted no other key with its text can be made,
// because a repeated deletion would delete that as well.
func TestTextThatGoes(t *testing.T) {
	for _, act := range []func(w *world) error{
		func(w *world) error { return w.custom("delete", "1") },
		func(w *world) error { return w.custom("rotate", "1") },
		func(w *world) error { return w.delete("portal-apps", "app_id", "1") },
	} {
		w := open(t, newOurs(t, false))
		other := w.further()
		if err := chosen(w); err != nil {
			t.Fatal(err)
		}
		w.seen.fate = &fate{dead: true, says: errDead} // only the dashboard is down
		if err := act(w); err == nil {
			t.Fatal("the key was deleted")
		}
		_, err := w.try("portal-custom-credentials.create", `{"Alias":"x","Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"KeyID":"till-of-old"}`, "app_id", other.String())
		if err == nil || !strings.Contains(err.Error(), "KeyID has already been taken") {
			t.Error(err)
		}
		w.seen.fate = w.fate // the dashboard works again
		open := w.do("portal-operations.list", "").(operation.Listing[apps.Saga]).Items
		w.do("portal-operations.retry", "", "operation_id", open[0].ID)
		w.resume()
		if n := len(w.customsOf(other)); n != 0 {
			t.Errorf("%d credentials", n)
		}
	}
}

// TestLastRoom: if several callers make the last custom credential of an app at the same
// moment, one succeeds, and the others leave nothing behind.
func TestLastRoom(t *testing.T) {
	w := open(t, newOurs(t, false))
	for range 99 {
		if err := w.make(`"Type":"CREDENTIAL_TYPE_CUSTOM","CredentialKey":"ada"`); err != nil {
			t.Fatal(err)
		}
	}
	var mine stdsync.WaitGroup
	for range 4 {
		mine.Go(func() { _ = w.make(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1]`) })
	}
	mine.Wait()
	w.resume()
	err := w.p.DB.View(t.Context(), w.p.Scope, func(r store.Reader) error {
		all, err := apps.Customs(t.Context(), r, w.app)
		if len(all) != 100 {
			t.Errorf("%d custom credentials", len(all))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if n := len(w.keys()); n != 1 {
		t.Errorf("%d keys", n)
	}
}

package apps_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// KeyUsage records which keys were queried.
func (d *watched) KeyUsage(_ context.Context, keys []string, _, to time.Time) ([]dashboard.Day, error) {
	d.counted = keys
	return []dashboard.Day{{Date: to, Calls: int64(len(keys))}}, nil
}

// TestUsageOfFormerKeys: calls with a key that was rotated or deleted are usage of the app,
// until the app is deleted.
func TestUsageOfFormerKeys(t *testing.T) {
	w := open(t, newOurs(t, false))
	key := func(request string) string {
		t.Helper()
		list := w.requests()
		for _, r := range list {
			if r.ID.String() == request && len(r.Credentials) > 0 {
				return r.Credentials[0].CredentialHash
			}
		}
		t.Fatal("no key", list)
		return ""
	}
	counts := func(what string, want ...string) {
		t.Helper()
		out, err := w.by(w.user, "usage", "", "app_id", w.app.String())
		if err != nil {
			t.Fatal(what, err)
		}
		if !slices.Equal(w.seen.counted, want) {
			t.Errorf("%s: usage of %q, want %q", what, w.seen.counted, want)
		}
		if days := out.(apps.Usage).Days; days[len(days)-1].Calls != int64(len(want)) {
			t.Error(what, days[len(days)-1])
		}
	}
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	first := key("1")
	counts("a key", first)
	if err := w.credential("rotate", "1", "1"); err != nil {
		t.Fatal(err)
	}
	second := key("1")
	counts("a rotated key", second, first)
	if _, err := w.by(w.user, "revoke", "", "app_id", w.app.String(), "credential_id", "1"); err != nil {
		t.Fatal(err)
	}
	counts("a deleted key", second, first)
	if _, err := w.by(w.user, "delete", "", "app_id", w.app.String()); err != nil {
		t.Fatal(err)
	}
	err := w.p.DB.View(t.Context(), w.p.Scope, func(r store.Reader) error {
		n, err := r.Count(t.Context(), store.Query{Kind: credential.FormerKind})
		if n != 0 {
			t.Errorf("%d lists of keys are left of no app", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestUsageOfAllApps: app 0 stands for all apps of a user, also if there are none, in
// queries that fit into a URL.
func TestUsageOfAllApps(t *testing.T) {
	w := open(t, newOurs(t, false))
	calls := func(user table.ID) int64 {
		t.Helper()
		out, err := w.by(user, "usage", "", "app_id", "0")
		if err != nil {
			t.Fatal(err)
		}
		days := out.(apps.Usage).Days
		return days[len(days)-1].Calls
	}
	if n := calls(w.user); n != 0 || w.seen.counted != nil {
		t.Errorf("without a key: %d calls, usage of %q", n, w.seen.counted)
	}
	both := []string{w.app.String(), w.further().String()}
	for _, app := range both {
		w.do("portal-apps.provision", `{"PlanID":2,"ProductIDs":[1]}`, "app_id", app)
	}
	if n := calls(w.user); n != 2 {
		t.Errorf("a key of each app: %d calls, usage of %q", n, w.seen.counted)
	}
	for range 50 {
		if err := w.credential("rotate", "1", "1"); err != nil {
			t.Fatal(err)
		}
	}
	if n := calls(w.user); n != 51 || len(w.seen.counted) != 1 {
		t.Errorf("50 keys of one app and one of another: %d calls, %d keys in the last question", n, len(w.seen.counted))
	}
	var stranger table.ID
	w.update(func(wr store.Writer) error {
		u, err := portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: "eve@example.com", First: "Eve", Role: account.Member, OrganisationID: 1, Teams: []table.ID{1}, Active: true, Token: "eve"})
		stranger = u.ID
		return err
	})
	if n := calls(stranger); n != 0 {
		t.Errorf("a stranger sees %d calls", n)
	}
}

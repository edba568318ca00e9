package live_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// TestNotifications turns a user's own optional mails off and on.
func TestNotifications(t *testing.T) {
	w := open(t, nil)
	ada, bob := w.developer("ada@example.com", account.Member, 1), w.developer("bob@example.com", account.Member, 1)
	unwanted := func(b *browser) (out []string) {
		t.Helper()
		for _, n := range w.must("portal-live.notifications", b, nil, "").(live.Notifications).Notifications {
			if n.Title == "" {
				t.Errorf("%s says nothing", n.Name)
			}
			if !n.Wanted {
				out = append(out, n.Name)
			}
		}
		return out
	}
	off := func(name string) string { return `{"Notifications":[{"Name":"` + name + `","Wanted":false}]}` }
	w.must("portal-live.update-notifications", ada, nil, off("keyexpired"))
	w.must("portal-live.update-notifications", ada, nil, off("reject"))
	w.must("portal-live.update-notifications", ada, nil, `{}`)
	if got := unwanted(ada); !slices.Equal(got, []string{"reject", "keyexpired"}) {
		t.Error(got)
	}
	for _, name := range []string{"auth/reset_password", "activate", "submitted", "none", ""} {
		w.refused("portal-live.update-notifications", ada, nil, off(name), table.CodeInvalid)
	}
	if got := unwanted(bob); got != nil {
		t.Error("somebody else has switched off", got)
	}
	w.must("portal-live.update-notifications", ada, nil, `{"Notifications":[{"Name":"reject","Wanted":true},{"Name":"keyexpired","Wanted":true},{"Name":"reject","Wanted":false}]}`)
	if u := w.user("ada@example.com"); !slices.Equal(u.Unwanted, []string{"reject"}) || u.Wants("reject") || !u.Wants("keyexpired") {
		t.Error(u.Unwanted)
	}
	w.must("portal-users.update", nil, map[string]string{"user_id": w.user("ada@example.com").ID.String()}, `{"Role":"provider-admin","OrganisationID":0,"Unwanted":["approve"]}`)
	if u := w.user("ada@example.com"); !slices.Equal(u.Unwanted, []string{"reject"}) {
		t.Error("others choose:", u.Unwanted)
	}
}

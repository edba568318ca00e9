package apps_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestHandOver states that the apps of a removed user get another owner, with everything
// below them; that their visibility is adjusted to the new owner; and that no user gets
// more apps than allowed.
func TestHandOver(t *testing.T) {
	w := open(t, newOurs(t, false))
	ctx, at := t.Context(), w.at()
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	keys := w.keys()
	var heir account.User
	w.update(func(wr store.Writer) (err error) {
		heir, err = portal.Add(ctx, wr, people.Users, at, account.User{Email: "grace@example.com", First: "Grace", Role: account.ConsumerAdmin, OrganisationID: 1, Teams: []table.ID{1}, Active: true, Token: "grace"})
		return err
	})
	handOver := func(from, to table.ID) (err error) {
		_, err = w.p.DB.Update(ctx, w.p.Scope, func(wr store.Writer) error { return apps.HandOver(ctx, wr, at, from, to) })
		return err
	}
	owned := func(id table.ID) (out []application.App) {
		if err := w.p.DB.View(ctx, w.p.Scope, func(r store.Reader) (err error) {
			out, err = apps.Owned(ctx, r, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if err := handOver(w.user, heir.ID); err != nil {
		t.Fatal(err)
	}
	if all := owned(heir.ID); len(owned(w.user)) != 0 || len(all) != 1 || all[0].ID != w.app || all[0].Visibility != application.Personal {
		t.Errorf("%+v", all)
	}
	if have := w.requests(); len(have) != 1 || len(w.keys()) != len(keys) {
		t.Errorf("%+v", have)
	}
	w.consistent("after the apps were handed over")
	w.update(func(wr store.Writer) error {
		for range 1000 {
			if _, err := portal.Add(ctx, wr, apps.Kind, at, application.App{Name: "Till", UserID: w.user, Visibility: application.Organisation}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := handOver(w.user, heir.ID); fault.KindOf(err) != fault.Invalid || len(owned(w.user)) != 1000 || len(owned(heir.ID)) != 1 {
		t.Errorf("%v", err)
	}
}

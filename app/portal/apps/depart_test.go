package apps_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// departing is a user with two apps, each with a key.
func departing(t *testing.T, dash ours) *world {
	w := open(t, dash)
	w.clear()
	first := w.app
	w.update(func(wr store.Writer) error {
		a, err := portal.Add(t.Context(), wr, apps.Kind, w.at(), application.App{Name: "Kiosk", UserID: w.user, Visibility: application.Personal})
		w.app = a.ID
		return err
	})
	for _, w.app = range []table.ID{w.app, first} {
		if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.keys()) != 2 {
		t.Fatal(w.keys())
	}
	return w
}

// standing describes what exists of the user: the account, apps, keys.
func (w *world) standing() string {
	w.t.Helper()
	there, owned := true, 0
	if err := w.p.DB.View(w.t.Context(), w.p.Scope, func(r store.Reader) error {
		_, err := portal.Find(w.t.Context(), r, people.Users, w.user.String())
		if there = err == nil; fault.KindOf(err) == fault.NotFound {
			err = nil
		}
		if err != nil {
			return err
		}
		all, err := apps.Owned(w.t.Context(), r, w.user)
		owned = len(all)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprint(there, owned, len(w.keys()))
}

// hurry resumes open departures, without the pause before a retry.
func (w *world) hurry() {
	w.t.Helper()
	w.start(&fate{})
	for _, o := range w.do("portal-operations.list", "").(operation.Listing[apps.Saga]).Items {
		if o.Operation == "portal-users.depart" {
			w.do("portal-operations.retry", "", "operation_id", o.ID)
		}
	}
	w.resume()
}

// TestDepart: whichever call fails while somebody deletes the own account, or an administrator
// that of somebody, in the end either all is there as before, and who asked was told, or nothing.
func TestDepart(t *testing.T) {
	for name, depart := range map[string]func(*world) error{
		"own":   func(w *world) error { return w.apps.Depart(t.Context(), w.user) },
		"other": func(w *world) error { return w.delete("portal-users", "user_id", w.user.String()) },
	} {
		t.Run(name, func(t *testing.T) { departs(t, depart) })
	}
}

func departs(t *testing.T, depart func(*world) error) {
	dash := newOurs(t, false)
	const whole, none = "true 2 2", "false 0 0"
	later := 0
	for _, says := range []error{dashboard.ErrUnreachable, fault.New(fault.Unavailable, "x", "it does not answer as it should")} {
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				w := departing(t, dash)
				w.fate.says, w.fate.at, w.fate.after, w.fate.once, w.fate.seen = says, at, after, true, 0
				err := depart(w)
				reached := w.fate.seen >= at
				now := w.standing()
				w.hurry()
				then, what := w.standing(), fmt.Sprintf("call %d fails with %v, after it is carried out: %t; then %v, %s", at, says, after, err, now)
				if then != none && then != whole || err == nil && now != none || now != whole && then != none {
					t.Errorf("%s; in the end %s", what, then)
				}
				if now != none && then == none {
					later++
				}
				if !reached {
					break
				}
			}
		}
	}
	if later < 10 {
		t.Errorf("only %d departures were finished later", later)
	}
}

// TestDepartMore: an app that is made during a departure is deleted as well, and so is its
// key.
func TestDepartMore(t *testing.T) {
	w := departing(t, newOurs(t, false))
	w.fate.says, w.fate.at, w.fate.once, w.fate.seen = fault.New(fault.Unavailable, "x", "it does not answer as it should"), 3, true, 0
	if err := w.apps.Depart(t.Context(), w.user); fault.CodeOf(err) != apps.CodeOpen {
		t.Fatal(err)
	}
	w.update(func(wr store.Writer) error {
		a, err := portal.Add(t.Context(), wr, apps.Kind, w.at(), application.App{Name: "Late", UserID: w.user, Visibility: application.Personal})
		w.app = a.ID
		return err
	})
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	if w.resume(); w.standing() != "false 0 0" {
		t.Error(w.standing())
	}
	if err := w.apps.Depart(t.Context(), w.user); err != nil {
		t.Error("once more:", err)
	}
}

// TestDismissAdmin: administrators have apps as well. One administrator deletes another one
// with them, also later; and a portal keeps an active super-admin, also when there were two
// while the deletion began.
func TestDismissAdmin(t *testing.T) {
	w := departing(t, newOurs(t, false))
	promote := func(id table.ID, active bool) {
		w.update(func(wr store.Writer) error {
			_, err := portal.Edit(t.Context(), wr, people.Users, id, w.at(), func(u account.User) (account.User, error) {
				u.Role, u.OrganisationID, u.Teams, u.Active = account.SuperAdmin, 0, nil, active
				return u, nil
			})
			return err
		})
	}
	var other account.User
	w.update(func(wr store.Writer) (err error) {
		other, err = portal.Add(t.Context(), wr, people.Users, w.at(), account.User{Email: "grace@example.com", First: "Grace", Token: "grace"})
		return err
	})
	promote(w.user, true)
	if err := w.delete("portal-users", "user_id", w.user.String()); fault.CodeOf(err) != people.CodeLast || w.standing() != "true 2 2" {
		t.Fatal(err, w.standing())
	}
	promote(other.ID, true)
	w.fate.says, w.fate.at, w.fate.once, w.fate.seen = fault.New(fault.Unavailable, "x", "it does not answer as it should"), 3, true, 0
	err := w.delete("portal-users", "user_id", w.user.String())
	if fault.CodeOf(err) != apps.CodeOpen || fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "it does not answer as it should") {
		t.Fatal(err)
	}
	promote(other.ID, false)
	if w.hurry(); !strings.HasPrefix(w.standing(), "true ") {
		t.Error("the last super-admin is gone")
	}
	promote(other.ID, true)
	if err := w.delete("portal-users", "user_id", w.user.String()); err != nil || w.standing() != "false 0 0" {
		t.Error(err, w.standing())
	}
}

// TestDismissForced: a forced deletion does not wait for one that is open, and that one then
// finds nothing more to do.
func TestDismissForced(t *testing.T) {
	away, deletes := false, 0
	w := departing(t, ours{absent{newOurs(t, false), &away, &deletes, false}})
	w.fate.says, w.fate.at, w.fate.once, w.fate.seen = fault.New(fault.Unavailable, "x", "it does not answer as it should"), 3, true, 0
	if err := w.delete("portal-users", "user_id", w.user.String()); fault.CodeOf(err) != apps.CodeOpen {
		t.Fatal(err)
	}
	away = true
	o := w.ops["portal-users.delete"]
	call := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(99)}, Path: map[string]string{"user_id": w.user.String()}, Query: map[string][]string{"force": {"true"}}}
	if _, err := o.Do(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	away = false
	if w.hurry(); !strings.HasPrefix(w.standing(), "false 0 ") {
		t.Error(w.standing())
	}
	if open := w.do("portal-operations.list", "").(operation.Listing[apps.Saga]).Items; len(open) != 0 {
		t.Errorf("%+v", open)
	}
}

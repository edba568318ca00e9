package apps_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
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

// standing says what there is of the user: the account, apps, keys.
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

// hurry tries departures that are open again, which try what they wait for, without the pause
// before that.
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

// TestDepart: whichever call fails while somebody deletes the own account, in the end either
// all is there as before, and the person was told, or nothing.
func TestDepart(t *testing.T) {
	dash := newOurs(t, false)
	const whole, none = "true 2 2", "false 0 0"
	later := 0
	for _, says := range []error{dashboard.ErrUnreachable, fault.New(fault.Unavailable, "x", "it does not answer as it should")} {
		for _, after := range []bool{false, true} {
			for at := 1; ; at++ {
				w := departing(t, dash)
				w.fate.says, w.fate.at, w.fate.after, w.fate.once, w.fate.seen = says, at, after, true, 0
				err := w.apps.Depart(t.Context(), w.user)
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

// TestDepartMore: an app that is made while somebody goes, goes as well, and so does its key.
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

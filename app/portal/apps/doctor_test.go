package apps_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/portal/letter"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestDoctorMails states that the doctor finds exactly the mails that were given up, that
// it shows no address, and that a second pass after a fix finds nothing.
func TestDoctorMails(t *testing.T) {
	w := open(t, newOurs(t, false))
	notice, _ := letter.Find(letter.Invite)
	kind := mails.Registrations()[0].Registration().Untyped
	w.update(func(wr store.Writer) error {
		for i, state := range []letter.State{letter.Pending, letter.Done, letter.Failed} {
			m := letter.New(w.p.Scope.Org(), string(state), notice, "ada@example.com", time.Now())
			m.State, m.LastFail = state, "the server refuses it"
			m.Refused = i
			if err := kind.Insert(t.Context(), wr, m); err != nil {
				return err
			}
		}
		return nil
	})
	look := func(fix bool) []apps.Finding {
		t.Helper()
		d, err := w.apps.Examine(t.Context(), w.p.Scope, fix)
		if err != nil {
			t.Fatal(err)
		}
		return d.Findings
	}
	for _, fix := range []bool{false, true} {
		if all := look(fix); len(all) != 1 || all[0].Finding != apps.MailUnsent || all[0].Alias != letter.Invite || all[0].Fixed != fix || all[0].Message != "the server refuses it" {
			t.Errorf("%+v", all)
		}
	}
	if all := look(true); len(all) != 0 {
		t.Errorf("a second pass finds %+v", all)
	}
}

// mute is a dashboard that does not answer requests for keys.
type mute struct{ dashboard.Dashboard }

func (mute) Keys(ctx context.Context) ([]dashboard.Key, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestDoctorWithMute states that a dashboard that does not answer is reported as
// unavailable, within the caller's time.
func TestDoctorWithMute(t *testing.T) {
	w := open(t, ours{mute{newOurs(t, false)}})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	d, err := w.apps.Examine(ctx, w.p.Scope, false)
	if err != nil || len(d.Findings) != 1 || d.Findings[0].Finding != apps.ProviderAway || ctx.Err() != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestDoctorOfTwoProviders: two providers may lead to one dashboard, with other tags. A key
// of a credential of one of them is not left over at the other one; a key that no credential
// has is told once.
func TestDoctorOfTwoProviders(t *testing.T) {
	w := open(t, newOurs(t, false))
	w.update(func(wr store.Writer) error {
		_, err := portal.Add(t.Context(), wr, providers.Kind, w.at(), provider.Provider{Name: "The same one"})
		return err
	})
	if err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`); err != nil {
		t.Fatal(err)
	}
	if err := w.make(`"Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":2,"ProductIDs":[1],"KeyID":"chosen"`); err != nil {
		t.Fatal(err)
	}
	fix := func(want int) {
		t.Helper()
		d, err := w.apps.Examine(t.Context(), w.p.Scope, true)
		if err != nil || len(d.Findings) != want {
			t.Errorf("%+v, %v", d, err)
		}
		if n := len(w.keys()); n != 2 {
			t.Errorf("%d keys are left", n)
		}
	}
	fix(0)
	all, err := w.dash.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.dash.CreateKey(t.Context(), "nobodys", all[0].Session); err != nil {
		t.Fatal(err)
	}
	fix(1)
}

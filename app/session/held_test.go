package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// listed returns the sessions of a user, listed in the user's own browser.
func (b *browser) listed(userID string) []session.View {
	b.t.Helper()
	scope, err := tenant.Of(org)
	if err != nil {
		b.t.Fatal(err)
	}
	o := b.ops["users.sessions"]
	out, err := o.Do(b.t.Context(), &operation.Call{Spec: &o.Spec, Scope: scope, Session: b.cookies[operation.SessionCookie], Path: map[string]string{"userId": userID}})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.(operation.Page[session.View]).Items
}

// TestLastUse: a call is a use of its session. The use is stored apart from the call,
// and not for a session that has ended meanwhile.
func TestLastUse(t *testing.T) {
	w := open(t, session.Config{})
	id := w.user("ada@example.com")
	first, second := w.browser("192.0.2.1:99"), w.browser("[2001:db8::7]:99")
	for _, b := range []*browser{first, second} {
		if err := b.login("ada@example.com", "a-long-passphrase"); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Second)
	}
	began := w.now
	w.now = w.now.Add(10 * time.Minute)
	if !first.holds() || !second.holds() {
		t.Fatal("no session")
	}
	if got := first.listed(id); len(got) != 2 || !got[1].Used.Before(began) || got[1].Address != "192.0.2.1" || got[0].Address != "2001:db8::7" || got[0].Current || !got[1].Current {
		t.Fatalf("before it is written: %+v", got)
	}
	second.logout()
	w.service.WriteUses(t.Context())
	got := first.listed(id)
	if len(got) != 1 || !got[0].Used.Equal(w.now) {
		t.Errorf("%+v", got)
	}
	if second.holds() {
		t.Error("a use that is written brings a session back")
	}
	if strings.Contains(w.log.String(), "could not be written") {
		t.Error(w.log.String())
	}
	w.service.WriteUses(t.Context())
	if n, err := w.service.Prune(t.Context()); n != 1 || err != nil {
		t.Error("sessions forgotten:", n, err)
	}
	w.now = w.now.Add(time.Hour)
	if got := first.listed(id); len(got) != 0 {
		t.Errorf("a session that is over is listed: %+v", got)
	}
}

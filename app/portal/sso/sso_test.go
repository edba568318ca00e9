package sso_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	core "github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a portal with single sign-on, and its clock.
type world struct {
	t       *testing.T
	p       apptest.Portal
	s       *sso.Service
	persons *people.Service
	now     time.Time
}

func open(t *testing.T, c sso.Settings) *world {
	t.Helper()
	w := &world{t: t, p: apptest.NewPortal(t), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.p.Tools.Now = func() time.Time { return w.now }
	w.persons = &people.Service{Config: people.Config{Keys: w.p.Keys, Signing: func(context.Context, store.Reader) (string, error) { return "signs", nil }, Followers: []people.Follower{live.Follower()}}}
	own := live.New(live.Config{People: w.persons, Scope: w.p.Scope, Settings: live.Settings{Delay: -1}}, w.p.Tools)
	w.s = &sso.Service{Tools: w.p.Tools, Config: sso.Config{Settings: c, Scope: w.p.Scope, People: w.persons, Live: own, Equal: func(a, b string) bool { return a != "" && a == b }}}
	w.store(func(wr store.Writer) error { return people.Found(t.Context(), wr, w.at()) })
	return w
}

func (w *world) at() crud.Stamp {
	return crud.Stamp{ID: w.p.Tools.NewID(), Now: w.p.Tools.Now}
}

func (w *world) store(fn func(store.Writer) error) {
	w.t.Helper()
	if _, err := w.p.Tools.Store.Update(w.t.Context(), w.p.Scope, fn); err != nil {
		w.t.Fatal(err)
	}
}

// link creates a nonce.
func (w *world) link(d session.AccessData) string {
	w.t.Helper()
	out, err := sso.MintFor(w.t.Context(), w.s, d)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) user(email string) account.User {
	w.t.Helper()
	var u account.User
	if err := w.p.Tools.Store.View(w.t.Context(), w.p.Scope, func(r store.Reader) (err error) {
		u, err = people.ByEmail(w.t.Context(), r, email)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return u
}

func (w *world) add(u account.User) {
	w.t.Helper()
	w.store(func(wr store.Writer) error {
		u.Token = people.NewToken(w.p.Keys)
		_, err := w.persons.Make(w.t.Context(), wr, w.at(), u)
		return err
	})
}

// TestNonces uses nonces once, twice, late, and in another portal; the store never contains the
// text of one.
func TestNonces(t *testing.T) {
	w := open(t, sso.Settings{})
	d := session.AccessData{ForSection: session.Portal, EmailAddress: "ada@example.com"}
	nonce := w.link(d)
	if text := w.dump(); strings.Contains(text, nonce) || !strings.Contains(text, "ada@example.com") {
		t.Error(text)
	}
	other := &sso.Service{Tools: w.s.Tools, Config: w.s.Config}
	other.Scope = w.p.Beside(t, "portal:other").Scope
	if _, err := sso.EnterWith(t.Context(), other, nonce); fault.CodeOf(err) != sso.CodeNonce {
		t.Error("in another portal:", err)
	}
	if out, err := sso.EnterWith(t.Context(), w.s, nonce); err != nil || out.Location != "/" || len(out.Cookies) != 1 {
		t.Error(out, err)
	}
	if _, err := sso.EnterWith(t.Context(), w.s, nonce); fault.CodeOf(err) != sso.CodeNonce {
		t.Error("twice:", err)
	}
	late := w.link(d)
	w.now = w.now.Add(core.NonceLife)
	if _, err := sso.EnterWith(t.Context(), w.s, late); fault.CodeOf(err) != sso.CodeNonce {
		t.Error("late:", err)
	}
	if err := w.s.Prune(t.Context()); err != nil || strings.Contains(w.dump(), core.NonceKind) {
		t.Error("a nonce that is over stays", err)
	}
	turned := w.link(session.AccessData{ForSection: session.Portal, EmailAddress: "ada@example.com", UserNotAllowed: true})
	if _, err := sso.EnterWith(t.Context(), w.s, turned); fault.CodeOf(err) != sso.CodeRefused || strings.Contains(w.dump(), core.NonceKind) {
		t.Error("a nonce with which somebody was refused stays:", err)
	}
}

// dump returns everything that the portal stores of nonces.
func (w *world) dump() string {
	w.t.Helper()
	var b strings.Builder
	for _, rec := range w.records(core.NonceKind) {
		b.WriteString(core.NonceKind + string(rec.Doc))
	}
	return b.String()
}

// records returns the stored records of a kind.
func (w *world) records(kind string) (all []store.Record) {
	w.t.Helper()
	if err := w.p.Tools.Store.View(w.t.Context(), w.p.Scope, func(r store.Reader) error {
		for rec, err := range r.Scan(w.t.Context(), store.Query{Kind: kind}) {
			if err != nil {
				return err
			}
			all = append(all, rec)
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// TestPeople states which account a person gets.
func TestPeople(t *testing.T) {
	w := open(t, sso.Settings{})
	w.add(account.User{Email: "admin@example.com", First: "A", Role: account.ProviderAdmin, Active: true})
	w.add(account.User{Email: "gone@example.com", First: "G", Role: account.ProviderAdmin})
	w.add(account.User{Email: "dev@example.com", First: "D", Role: account.Member, Active: true})
	enter := func(p core.Person) (operation.Landing, error) { return sso.Admit(t.Context(), w.s, p) }
	for name, c := range map[string]struct {
		p     core.Person
		where string // "": refused
	}{
		"an admin":                 {core.Person{Admin: true, Email: "Admin@example.com"}, "/admin"},
		"an inactive admin":        {core.Person{Admin: true, Email: "gone@example.com"}, ""},
		"an admin as a developer":  {core.Person{Email: "admin@example.com", Key: "1@x"}, ""},
		"a developer as an admin":  {core.Person{Admin: true, Email: "dev@example.com"}, ""},
		"a team that is not there": {core.Person{Email: "new@example.com", Key: "2@x", Team: "99"}, ""},
		"only who is registered":   {core.Person{Email: "new@example.com", Key: "2@x", Registered: true}, ""},
		"refused by the broker":    {core.Person{Email: "dev@example.com", Refused: true}, ""},
	} {
		if out, err := enter(c.p); (err == nil) != (c.where != "") || err == nil && out.Location != c.where || err != nil && fault.CodeOf(err) != sso.CodeRefused {
			t.Errorf("%s: %v %v", name, out.Location, err)
		}
	}
	if _, err := enter(core.Person{Email: "dev@example.com", Key: "3@x", Team: "99"}); err != nil {
		t.Error("a developer who has a team needs none:", err)
	}
	if u := w.user("dev@example.com"); u.SSOKey != "3@x" || len(u.Teams) != 1 || u.Teams[0] != 1 {
		t.Errorf("%+v", u)
	}
	if _, err := enter(core.Person{Email: "dev@example.com", Key: "4@x"}); fault.CodeOf(err) != sso.CodeRefused {
		t.Error("another identity with the address:", err)
	}
	if out, err := enter(core.Person{Email: "moved@example.com", Key: "3@x"}); err != nil || out.Who.ID != account.Principal(w.user("dev@example.com").ID) {
		t.Error("the key counts, not the address:", out.Who, err)
	}
	if _, err := enter(core.Person{Email: "new@example.com", Key: "2@x", Team: "1", Provider: "corp"}); err != nil {
		t.Error(err)
	}
	if u := w.user("new@example.com"); u.Role != account.ConsumerAdmin || u.OrganisationID != 1 || len(u.Teams) != 1 || u.Teams[0] != table.ID(1) || !u.Active || u.Provider != "corp" {
		t.Errorf("%+v", u)
	}
	if out, err := enter(core.Person{Admin: true, Email: "boss@example.com"}); err != nil || out.Location != "/admin" || w.user("boss@example.com").Role != account.ProviderAdmin {
		t.Error(out, err)
	}
	w.s.NoAdmins = true
	if _, err := enter(core.Person{Admin: true, Email: "second@example.com"}); fault.CodeOf(err) != sso.CodeRefused {
		t.Error("an admin is made although none may be:", err)
	}
}

// TestNoSection refuses a nonce without a section: at a dashboard it would be one for an admin.
func TestNoSection(t *testing.T) {
	w := open(t, sso.Settings{})
	if _, err := sso.MintFor(t.Context(), w.s, session.AccessData{EmailAddress: "ada@example.com"}); fault.CodeOf(err) != table.CodeInvalid || !strings.Contains(err.Error(), "ForSection can't be blank") {
		t.Error(err)
	}
}

// TestUnprovenAddress logs a person in with an address with which another person has registered:
// the password of that account is invalid afterwards.
func TestUnprovenAddress(t *testing.T) {
	w := open(t, sso.Settings{})
	for _, name := range []string{"linked", "named", "chosen"} {
		w.add(account.User{Email: name + "@example.com", First: "A", Role: account.Member, Provider: account.OwnPassword, Active: true, PasswordHash: "hash", Unproven: true})
	}
	w.add(account.User{Email: "own@example.com", First: "A", Role: account.Member, Provider: account.OwnPassword, Active: true, PasswordHash: "hash"})
	for _, p := range []core.Person{{Email: "linked@example.com", Key: "1@x"}, {Email: "named@example.com"}, {Email: "own@example.com", Key: "2@x"}} {
		if _, err := sso.Admit(t.Context(), w.s, p); err != nil {
			t.Error(err)
		}
	}
	chosen := w.user("chosen@example.com")
	for _, d := range []sso.Developer{{Email: chosen.Email}, {Email: chosen.Email, SSOKey: "3@x"}} {
		if w.user(chosen.Email).PasswordHash == "" {
			t.Error("a change that vouches for nothing takes the password")
		}
		if err := sso.ChangeBy(t.Context(), w.s, chosen.ID.String(), d); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"linked", "named", "chosen"} {
		if u := w.user(name + "@example.com"); u.PasswordHash != "" || u.Unproven {
			t.Errorf("%+v", u)
		}
	}
	if u := w.user("own@example.com"); u.PasswordHash != "hash" || u.SSOKey != "2@x" {
		t.Errorf("%+v", u)
	}
}

// TestSessionsOfAnUnprovenAddress ends the sessions that an account had before its address was
// confirmed.
func TestSessionsOfAnUnprovenAddress(t *testing.T) {
	w := open(t, sso.Settings{})
	w.add(account.User{Email: "ada@example.com", First: "A", Role: account.Member, Provider: account.OwnPassword, Active: true, PasswordHash: "hash"})
	ada := core.Person{Email: "ada@example.com"}
	for _, unproven := range []bool{false, true} {
		w.store(func(wr store.Writer) error {
			_, err := w.persons.Edit(t.Context(), wr, w.user(ada.Email).ID, w.at(), func(u account.User) (account.User, error) {
				u.Unproven = unproven
				return u, nil
			})
			return err
		})
		if _, err := sso.Admit(t.Context(), w.s, ada); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.records(visit.SessionKind)); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// TestNoSecret refuses all brokers of a portal without a secret.
func TestNoSecret(t *testing.T) {
	w := open(t, sso.Settings{})
	for _, token := range []string{"", "x"} {
		if err := w.s.Authenticate(t.Context(), &operation.Call{Token: token}); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%q: %v", token, err)
		}
	}
	w.s.Secret = "x"
	c := &operation.Call{Token: "x"}
	if err := w.s.Authenticate(t.Context(), c); err != nil || c.Scope != w.p.Scope {
		t.Error(err)
	}
}

// TestCanonical states the paths that brokers know from the classic portal.
func TestCanonical(t *testing.T) {
	for path, want := range map[string]string{
		"/api/sso": "/portal-api/sso", "/api/sso/": "/api/sso/", "/api/ssox": "/api/ssox", "/sso": "/sso", "": "",
		"/api/portal/developers": "/portal-api/developers", "/api/portal/developers/ssokey/a%2Fb": "/portal-api/developers/ssokey/a%2Fb", "/api/portal/developersx": "/api/portal/developersx",
	} {
		if got := sso.Canonical(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	rules "github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

const org = "5f1a0c5d8e3b2a1f000000a1"

// world is a control plane with users and browsers, whose clock only the test moves.
type world struct {
	t       *testing.T
	now     time.Time
	log     strings.Builder
	users   *identity.Service
	service *session.Service
	ops     map[string]*operation.Operation
}

func open(t *testing.T, cfg session.Config) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ops: map[string]*operation.Operation{}}
	db, err := memdb.New(func() time.Time { return w.now })
	if err != nil {
		t.Fatal(err)
	}
	keys, err := crypto.NewKeys("a secret of the test that is long")
	if err != nil {
		t.Fatal(err)
	}
	w.users = &identity.Service{
		Store: db, Keys: keys, Passwords: crypto.Passwords{Iterations: 1}, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Now: func() time.Time { return w.now }, NewID: crypto.NewID(func() time.Time { return w.now }), EndSessions: session.EndAll,
	}
	cfg.Delay = -1
	w.service = session.New(w.users, cfg)
	tools := crud.Tools{Store: db, NewID: w.users.NewID, Now: w.users.Now, Log: w.users.Log, PageSize: 10}
	for _, rows := range [][]operation.Operation{w.service.Operations(), session.SSO{Service: w.service}.Operations(), session.Held{Service: w.service}.Operations(), identity.AdminUsers{Service: w.users}.Operations(),
		identity.Users{Service: w.users}.Operations(), identity.UserGroups{Service: w.users, Tools: tools}.Operations(), identity.Organisations(nil, nil).Registration().Operations(tools)} {
		for i := range rows {
			w.ops[rows[i].ID] = &rows[i]
		}
	}
	return w
}

// user creates a user with a password.
func (w *world) user(email string) string {
	w.t.Helper()
	b, err := w.users.Bootstrap(w.t.Context(), identity.First{OrgID: org, Email: email, Password: "a-long-passphrase"})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.UserID
}

// browser is a browser with cookies.
type browser struct {
	*world
	address string
	cookies map[string]string
}

func (w *world) browser(address string) *browser {
	return &browser{world: w, address: address, cookies: map[string]string{}}
}

func (b *browser) login(email, password string) error {
	b.t.Helper()
	body, err := json.Marshal(session.Login{Username: email, Password: password})
	if err != nil {
		b.t.Fatal(err)
	}
	o := b.ops["sessions.login"]
	out, err := o.Do(b.t.Context(), &operation.Call{Spec: &o.Spec, Body: body, Remote: b.address, Peer: b.address, Cookies: b.cookies})
	if err == nil {
		b.keep(out)
	}
	return err
}

func (b *browser) keep(out any) {
	for _, c := range out.(operation.Landing).Cookies {
		b.cookies[c.Name] = c.Value
	}
}

func (b *browser) logout() {
	b.t.Helper()
	o := b.ops["sessions.logout"]
	out, err := o.Do(b.t.Context(), &operation.Call{Spec: &o.Spec, Cookies: b.cookies})
	if err != nil {
		b.t.Fatal(err)
	}
	b.keep(out)
}

// call makes a call with the cookies of the browser, and returns the ID of its
// principal.
func (b *browser) call(intent access.Intent, proof string) (string, error) {
	c := &operation.Call{Spec: &operation.Spec{Surface: operation.Management, Method: "POST", Intent: intent, Permission: access.APIs},
		Session: b.cookies[operation.SessionCookie], Proof: proof}
	if intent == access.Read {
		c.Spec.Method = "GET"
	}
	err := b.service.Authenticate(b.t.Context(), c)
	return c.Principal.ID, err
}

func (b *browser) holds() bool {
	id, err := b.call(access.Read, "")
	return err == nil && id != ""
}

// An attacker who makes 100,000 guesses from many addresses, at many accounts, never
// gets in. It can try no more passwords in any window than the limit. It never locks
// the owner out of a browser that the owner has used before, and out of another one for
// at most one window.
func TestGuessesUnderAttack(t *testing.T) {
	const guesses, perName, window = 100_000, 5, 15 * time.Minute
	w := open(t, session.Config{PerName: perName, PerAddress: 40, Window: window})
	w.user("owner@example.com")
	known := w.browser("192.0.2.1:1")
	if err := known.login("owner@example.com", "a-long-passphrase"); err != nil {
		t.Fatal(err)
	}
	tried, longest := 0, 0
	for i := range guesses {
		w.now = w.now.Add(100 * time.Millisecond)
		name := fmt.Sprintf("user-%d@example.com", i%200)
		if i%2 == 0 {
			name = "owner@example.com"
		}
		err := w.browser(fmt.Sprintf("10.0.%d.%d:99", i%7, i/7%250)).login(name, fmt.Sprint("guess ", i))
		f, ok := errors.AsType[*fault.Error](err)
		switch {
		case !ok:
			t.Fatal("guess", i, err)
		case f.Code == session.CodeWait:
			longest = max(longest, f.Wait)
		case f.Code == session.CodeCredentials && i%2 == 0:
			tried++
		}
		if i%1000 == 0 {
			if err := known.login("owner@example.com", "a-long-passphrase"); err != nil {
				t.Fatal("the owner is locked out at guess", i, err)
			}
		}
	}
	windows := int(guesses*100*time.Millisecond/window) + 1
	if tried > windows*perName || tried == 0 {
		t.Errorf("%d passwords were tried for the owner in %d windows of %d", tried, windows, perName)
	}
	if longest > int(window/time.Second) || longest == 0 {
		t.Error("somebody waits for", longest, "seconds")
	}
	w.now = w.now.Add(window)
	if err := w.browser("192.0.2.9:1").login("owner@example.com", "a-long-passphrase"); err != nil {
		t.Error("the owner waits for longer than a window:", err)
	}
}

// A browser that one user has used before does not count as known for another user.
func TestKnownDevice(t *testing.T) {
	w := open(t, session.Config{PerName: 1})
	w.user("ada@example.com")
	w.user("eve@example.com")
	eve := w.browser("192.0.2.1:1")
	if err := eve.login("eve@example.com", "a-long-passphrase"); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{session.CodeCredentials, session.CodeWait} {
		if err := eve.login("ada@example.com", "guess"); fault.CodeOf(err) != want {
			t.Error(i, err)
		}
	}
	eve.cookies[operation.DeviceCookie] = strings.Repeat("A", 26) + ".made-up"
	if err := eve.login("ada@example.com", "guess"); fault.CodeOf(err) != session.CodeWait {
		t.Error("a made-up device has a count of its own:", err)
	}
}

// The address that counts is the one from trusted proxies, unless the setting excludes
// them.
func TestAddressBehindProxies(t *testing.T) {
	for _, direct := range []bool{false, true} {
		w := open(t, session.Config{PerAddress: 1, Direct: direct})
		o, got := w.ops["sessions.login"], ""
		for i := range 2 {
			_, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Body: []byte(`{}`), Remote: fmt.Sprintf("198.51.100.%d", i), Peer: "192.0.2.1:1"})
			got = fault.CodeOf(err)
		}
		if want := map[bool]string{false: session.CodeCredentials, true: session.CodeWait}[direct]; got != want {
			t.Errorf("direct %v: %s", direct, got)
		}
	}
}

// A token from before the login is never the token of the session.
func TestFixation(t *testing.T) {
	w := open(t, session.Config{})
	w.user("ada@example.com")
	victim := w.browser("192.0.2.1:1")
	victim.cookies[operation.SessionCookie] = "planted"
	if err := victim.login("ada@example.com", "a-long-passphrase"); err != nil {
		t.Fatal(err)
	}
	first := victim.cookies[operation.SessionCookie]
	eve := w.browser("192.0.2.2:1")
	eve.cookies[operation.SessionCookie] = "planted"
	if eve.holds() || first == "planted" || !victim.holds() {
		t.Error("a planted token became a session")
	}
	if err := victim.login("ada@example.com", "a-long-passphrase"); err != nil || victim.cookies[operation.SessionCookie] == first {
		t.Error("a second login has the token of the first", err)
	}
}

// A proof belongs to one session, and only the server can make it.
func TestForgedCalls(t *testing.T) {
	w := open(t, session.Config{})
	w.user("ada@example.com")
	ada, other := w.browser("192.0.2.1:1"), w.browser("192.0.2.2:1")
	for _, b := range []*browser{ada, other} {
		if err := b.login("ada@example.com", "a-long-passphrase"); err != nil {
			t.Fatal(err)
		}
	}
	for _, intent := range []access.Intent{access.Write, access.Delete} {
		for _, proof := range []string{"", "x", other.cookies[operation.ProofCookie], ada.cookies[operation.SessionCookie]} {
			if _, err := ada.call(intent, proof); fault.CodeOf(err) != session.CodeUnproven {
				t.Errorf("%s with proof %q: %v", intent, proof, err)
			}
		}
		if _, err := ada.call(intent, ada.cookies[operation.ProofCookie]); err != nil {
			t.Error(intent, err)
		}
	}
}

// Sessions end with a logout, when they expire, with a new password, and with their
// user.
func TestSessionsEnd(t *testing.T) {
	for name, ends := range map[string]func(w *world, b *browser, id string){
		"logout": func(_ *world, b *browser, _ string) {
			token := b.cookies[operation.SessionCookie]
			b.logout()
			b.cookies[operation.SessionCookie] = token
		},
		"lifetime": func(w *world, _ *browser, _ string) { w.now = w.now.Add(time.Hour) },
		"password": func(w *world, _ *browser, id string) {
			o := w.ops["users.password.set"]
			c := &operation.Call{Spec: &o.Spec, Path: map[string]string{"userId": id}, Body: []byte(`{"current_password":"a-long-passphrase","new_password":"another-passphrase"}`)}
			c.Principal.ID, c.Scope = id, scope(w.t)
			if _, err := o.Do(w.t.Context(), c); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, session.Config{})
			id := w.user("ada@example.com")
			one, two := w.browser("192.0.2.1:1"), w.browser("192.0.2.2:1")
			for _, b := range []*browser{one, two} {
				if err := b.login("ada@example.com", "a-long-passphrase"); err != nil || !b.holds() {
					t.Fatal("no session", err)
				}
			}
			ends(w, one, id)
			if one.holds() {
				t.Error("the session holds")
			}
			if two.holds() != (name == "logout") {
				t.Error("the session of another browser:", two.holds())
			}
		})
	}
}

// Expired records are deleted, and no others.
func TestPrune(t *testing.T) {
	w := open(t, session.Config{})
	w.user("ada@example.com")
	old, young := w.browser("192.0.2.1:1"), w.browser("192.0.2.2:1")
	for range rules.Most {
		if err := old.login("ada@example.com", "a-long-passphrase"); err != nil {
			t.Fatal(err)
		}
	}
	w.now = w.now.Add(time.Minute)
	if err := young.login("ada@example.com", "a-long-passphrase"); err != nil {
		t.Fatal(err)
	}
	if n, err := w.service.Prune(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
	w.now = w.now.Add(59 * time.Minute)
	if n, err := w.service.Prune(t.Context()); n != rules.Most-1 || err != nil || !young.holds() || old.holds() {
		t.Error(n, err)
	}
}

// The store and the log contain no secret that gives access.
func TestNothingToSteal(t *testing.T) {
	w := open(t, session.Config{})
	w.user("ada@example.com")
	b := w.browser("192.0.2.1:1")
	if err := b.login("ada@example.com", "a-long-passphrase"); err != nil {
		t.Fatal(err)
	}
	text := w.log.String()
	err := w.users.Store.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) error {
		for _, kind := range []string{"user", "session"} {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: kind}) {
				if err != nil {
					return err
				}
				text += fmt.Sprintf("%s %v", rec.Doc, rec.Keys)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range b.cookies {
		if strings.Contains(text, value) {
			t.Errorf("the value of the cookie %s is stored or logged", name)
		}
	}
}

// counting counts password checks, and blocks them while hold is set.
type counting struct {
	crypto.Passwords
	checks, most, now atomic.Int32
	hold              chan struct{}
}

func (c *counting) Verify(hash, password string) bool {
	c.checks.Add(1)
	n := c.now.Add(1)
	defer c.now.Add(-1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	if c.hold != nil {
		<-c.hold
	}
	return c.Passwords.Verify(hash, password)
}

// The number of password checks is the same whether or not an address has users, so
// that the time of the response does not tell.
func TestEveryLoginChecksAsMuch(t *testing.T) {
	for _, several := range []bool{false, true} {
		w := open(t, session.Config{})
		w.users.MultiOrg = several
		p := &counting{Passwords: crypto.Passwords{Iterations: 1}}
		w.users.Passwords = p
		w.user("ada@example.com")
		want := map[bool]int32{false: 1, true: 4}[several]
		for _, c := range [][2]string{
			{"ada@example.com", "a-long-passphrase"}, {"ada@example.com", "wrong"}, {"unknown@example.com", "wrong"},
			{"no address", "wrong"}, {"", ""}, {"ada@example.com", strings.Repeat("x", 5000)},
		} {
			p.checks.Store(0)
			err := w.browser("192.0.2.1:1").login(c[0], c[1])
			if n := p.checks.Load(); n != want || (err == nil) != (c[1] == "a-long-passphrase") {
				t.Errorf("several %v: %.40q: %d checks, %v", several, c, n, err)
			}
		}
	}
}

// Users of one address in several organisations can all log in with their passwords
// after the setting that allowed this is off: none is refused because another user is
// found first.
func TestUsersOfOneAddress(t *testing.T) {
	w := open(t, session.Config{})
	w.users.MultiOrg = true
	for _, org := range []string{"acme", "globex"} {
		if _, err := w.users.Bootstrap(t.Context(), identity.First{OrgID: org, Email: "eve@example.com", Password: "password-of-" + org}); err != nil {
			t.Fatal(err)
		}
	}
	w.users.MultiOrg = false
	for _, org := range []string{"acme", "globex"} {
		b := w.browser("192.0.2.1:1")
		if err := b.login("eve@example.com", "password-of-"+org); err != nil || !b.holds() {
			t.Errorf("%s: %v", org, err)
		}
	}
	if w.browser("192.0.2.1:1").login("eve@example.com", "password-of-nobody") == nil {
		t.Error("a wrong password gets in")
	}
}

// Of a flood of logins, two are checked at a time, at most 64 are in progress, and
// further ones are refused.
func TestFloodOfLogins(t *testing.T) {
	const flood = 200
	w := open(t, session.Config{})
	p := &counting{Passwords: crypto.Passwords{Iterations: 1}, hold: make(chan struct{})}
	w.users.Passwords = p
	w.user("ada@example.com")
	outcomes := make(chan error, flood)
	for range flood {
		go func() { outcomes <- w.browser("192.0.2.1:1").login("ada@example.com", "wrong") }()
	}
	refused := 0
	for range flood - 64 { // these get their response while the others wait
		if err := <-outcomes; fault.CodeOf(err) == session.CodeBusy {
			refused++
		}
	}
	close(p.hold)
	for range 64 {
		if err := <-outcomes; fault.CodeOf(err) != session.CodeCredentials {
			t.Error(err)
		}
	}
	if refused != flood-64 || p.most.Load() > 2 {
		t.Errorf("%d refused, %d checked at a time", refused, p.most.Load())
	}
}

package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type stamp = crud.Stamp

// plain does not hash passwords, so that tests can read them, and counts the checks.
type plain struct {
	secret.Passwords
	mu     *sync.Mutex
	checks *int
	takes  *time.Duration
}

func (plain) Hash(password string) (string, error) { return "hash of " + password, nil }
func (p plain) Verify(hash, password string) bool {
	time.Sleep(*p.takes)
	p.mu.Lock()
	defer p.mu.Unlock()
	*p.checks++
	return hash == "hash of "+password
}
func (plain) Current(string) bool { return true }

// world is a portal with an admin, and its clock.
type world struct {
	t      *testing.T
	p      apptest.Portal
	s      *live.Service
	ops    map[string]operation.Operation
	now    time.Time
	checks int
	takes  time.Duration // duration of a password check
	remote string        // address of callers
	sent   []string      // events about apps

	mu      sync.Mutex
	letters []live.Letter
}

func open(t *testing.T, change func(*setting.Settings)) *world {
	t.Helper()
	w := &world{remote: "192.0.2.1:1", t: t, p: apptest.NewPortal(t), ops: map[string]operation.Operation{}, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	w.p.Tools.Now = func() time.Time { return w.now }
	persons := &people.Service{Config: people.Config{Keys: w.p.Keys, Passwords: plain{checks: &w.checks, mu: &w.mu, takes: &w.takes}, Signing: func(context.Context, store.Reader) (string, error) { return "signs", nil },
		Followers: []people.Follower{live.Follower(), {HandOver: func(_ context.Context, _ store.Writer, _ stamp, from, to table.ID) error {
			w.sent = append(w.sent, fmt.Sprintf("apps of %d to %d", from, to))
			return nil
		}}}}}
	depart := func(ctx context.Context, id table.ID) error {
		_, err := w.p.Tools.Store.Update(ctx, w.p.Scope, func(wr store.Writer) error {
			return persons.Remove(ctx, wr, w.p.Tools.Stamp(w.p.Scope), id, false)
		})
		return err
	}
	w.s = live.New(live.Config{People: persons, Scope: w.p.Scope, Depart: depart, Settings: live.Settings{Delay: -1, Post: func(_ context.Context, l live.Letter) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.letters = append(w.letters, l)
		return nil
	}}}, w.p.Tools)
	for id, o := range w.p.Operations(persons.Registrations()...) {
		w.ops[id] = o
	}
	for _, o := range w.s.Operations() {
		w.ops[o.ID] = o
	}
	for id, o := range w.p.Operations(w.s.RequestResource(), w.s.InviteCodeResource()) {
		w.ops[id] = o
	}
	w.store(func(wr store.Writer) error {
		if err := people.Found(t.Context(), wr, w.at()); err != nil {
			return err
		}
		s := setting.Default()
		if change != nil {
			change(&s)
		}
		_, err := portal.Add(t.Context(), wr, general.Kind, w.at(), s)
		return err
	})
	w.must("portal-users.create", nil, nil, `{"Email":"root@example.com","First":"Root","Role":"super-admin","Active":true,"Password":"secret"}`)
	return w
}

func (w *world) at() stamp { return stamp{ID: w.p.Tools.NewID(), Now: w.p.Tools.Now} }

func (w *world) store(fn func(store.Writer) error) {
	w.t.Helper()
	if _, err := w.p.Tools.Store.Update(w.t.Context(), w.p.Scope, fn); err != nil {
		w.t.Fatal(err)
	}
}

// browser is a user's browser.
type browser struct{ token, proof, agent string }

// call calls an operation; with a browser, in its session.
func (w *world) call(id string, b *browser, path map[string]string, body string) (any, error) {
	w.t.Helper()
	o, known := w.ops[id]
	if !known {
		w.t.Fatal(id)
	}
	c := &operation.Call{Spec: &o.Spec, Scope: w.p.Scope, Principal: operation.Principal{ID: account.Principal(1)}, Path: path, Body: []byte(body), Remote: w.remote, Header: map[string]string{}}
	if b != nil {
		c.Session, c.Proof, c.Header["User-Agent"] = b.token, b.proof, b.agent
	}
	if o.BySession {
		if err := w.s.Authenticate(w.t.Context(), c); err != nil {
			return nil, err
		}
	}
	return o.Do(w.t.Context(), c)
}

func (w *world) must(id string, b *browser, path map[string]string, body string) any {
	w.t.Helper()
	out, err := w.call(id, b, path, body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", id, body, err)
	}
	return out
}

func (w *world) refused(id string, b *browser, path map[string]string, body, code string) {
	w.t.Helper()
	if _, err := w.call(id, b, path, body); fault.CodeOf(err) != code {
		w.t.Errorf("%s %s: %v, want %s", id, body, err, code)
	}
}

// login returns the browser of a logged-in user.
func (w *world) login(email, password string) *browser {
	w.t.Helper()
	b := &browser{agent: "a browser"}
	w.relogin(b, email, password)
	return b
}

// relogin logs a user in with a browser that may already have a session.
func (w *world) relogin(b *browser, email, password string) {
	w.t.Helper()
	out, err := w.call("portal-live.login", b, nil, fmt.Sprintf(`{"Email":%q,"Password":%q}`, email, password))
	if err != nil {
		w.t.Fatal(email, err)
	}
	v := out.(operation.Visit[live.Opened])
	b.token, b.proof = v.Cookies[0].Value, v.Value.CSRFToken
}

// developer creates an active developer of an organisation and logs in.
func (w *world) developer(email, role string, org int) *browser {
	w.t.Helper()
	w.must("portal-users.create", nil, nil, fmt.Sprintf(`{"Email":%q,"First":"D","Role":%q,"OrganisationID":%d,"Active":true,"Password":"secret"}`, email, role, org))
	return w.login(email, "secret")
}

func (w *world) user(email string) (u account.User) {
	w.t.Helper()
	if err := w.p.Tools.Store.View(w.t.Context(), w.p.Scope, func(r store.Reader) (err error) {
		u, err = people.ByEmail(w.t.Context(), r, email)
		return err
	}); err != nil {
		w.t.Fatal(email, err)
	}
	return u
}

// run sends letters until the test ends.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.s.Run(ctx) }()
	w.t.Cleanup(func() { cancel(); <-done })
}

// letter waits for a letter.
func (w *world) letter(n int) live.Letter {
	w.t.Helper()
	for range 2_000 {
		w.mu.Lock()
		if len(w.letters) >= n {
			defer w.mu.Unlock()
			return w.letters[n-1]
		}
		w.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatal("no letter has come")
	return live.Letter{}
}

func text(v any) string {
	out, _ := json.Marshal(v)
	return string(out)
}

// TestLogin states who can log in: all others get the same text, each after one check of a
// password; a locked account stays locked until its time is over.
func TestLogin(t *testing.T) {
	w := open(t, nil)
	w.developer("ada@example.com", account.Member, 1)
	w.must("portal-users.create", nil, nil, `{"Email":"idle@example.com","First":"I","Password":"secret"}`)
	w.must("portal-users.create", nil, nil, `{"Email":"else@example.com","First":"E","Active":true,"Provider":"github","Password":"secret"}`)
	said := map[string]bool{}
	for _, body := range []string{
		`{"Email":"ada@example.com","Password":"wrong"}`, `{"Email":"none@example.com","Password":"secret"}`, `{"Email":"idle@example.com","Password":"secret"}`,
		`{"Email":"else@example.com","Password":"secret"}`, `{}`, `{"Email":"ada@example.com","Password":"` + strings.Repeat("x", 2000) + `"}`,
	} {
		before := w.checks
		_, err := w.call("portal-live.login", nil, nil, body)
		if fault.CodeOf(err) != live.CodeCredentials || w.checks != before+1 {
			t.Errorf("%.60s: %v after %d checks", body, err, w.checks-before)
		}
		said[err.Error()] = true
	}
	if len(said) != 1 {
		t.Error(said)
	}
	for range 3 {
		w.refused("portal-live.login", nil, nil, `{"Email":"ada@example.com","Password":"wrong"}`, live.CodeCredentials)
	}
	w.refused("portal-live.login", nil, nil, `{"Email":"ADA@example.com","Password":"secret"}`, live.CodeCredentials)
	w.now = w.now.Add(5 * time.Minute)
	w.login("ADA@example.com", "secret")
}

// TestSessions states what a session permits, with which CSRF token and browser, and what
// ends it.
func TestSessions(t *testing.T) {
	w := open(t, nil)
	ada := w.developer("ada@example.com", account.Member, 1)
	if got := text(w.must("portal-live.session", ada, nil, "")); !strings.Contains(got, `"UserID":2`) || !strings.Contains(got, ada.proof) {
		t.Error(got)
	}
	for name, b := range map[string]*browser{"none": {agent: ada.agent}, "unknown": {token: "x", agent: ada.agent}, "copied": {token: ada.token, proof: ada.proof, agent: "another"}} {
		if _, err := w.call("portal-live.profile", b, nil, ""); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := w.login("ada@example.com", "secret")
	w.refused("portal-live.update-profile", &browser{token: ada.token, proof: other.proof, agent: ada.agent}, nil, `{"First":"X"}`, live.CodeUnproven)
	w.refused("portal-live.update-profile", &browser{token: ada.token, agent: ada.agent}, nil, `{"First":"X"}`, live.CodeUnproven)
	w.must("portal-live.update-profile", ada, nil, `{"First":"Augusta","Last":"King"}`)
	gone := func(b *browser, why string) {
		t.Helper()
		if _, err := w.call("portal-live.session", b, nil, ""); fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("%s: %v", why, err)
		}
	}
	w.must("portal-live.logout", other, nil, "")
	gone(other, "logged out")
	again := w.login("ada@example.com", "secret")
	before := *again
	w.relogin(again, "ada@example.com", "secret")
	gone(&before, "another login with the same browser")
	w.must("portal-live.profile", again, nil, "")
	w.must("portal-live.profile", ada, nil, "")
	w.refused("portal-live.password", ada, nil, `{"CurrentPassword":"wrong","Password":"another"}`, live.CodePassword)
	w.refused("portal-live.password", ada, nil, `{"CurrentPassword":"secret","Password":"x"}`, table.CodeInvalid)
	other = w.login("ada@example.com", "secret")
	v := w.must("portal-live.password", ada, nil, `{"CurrentPassword":"secret","Password":"another"}`).(operation.Visit[live.Opened])
	gone(ada, "another password")
	gone(other, "another password")
	ada.token, ada.proof = v.Cookies[0].Value, v.Value.CSRFToken
	w.must("portal-live.profile", ada, nil, "")
	w.must("portal-users.update", nil, map[string]string{"user_id": "2"}, `{"ResetPassword":true}`)
	w.refused("portal-live.profile", ada, nil, "", live.CodeExpired)
	w.must("portal-live.session", ada, nil, "")
	w.refused("portal-live.password", ada, nil, `{"CurrentPassword":"another","Password":"another"}`, table.CodeInvalid)
	w.must("portal-users.update", nil, map[string]string{"user_id": "2"}, `{"ResetPassword":false,"Active":false}`)
	gone(ada, "inactive")
	w.must("portal-users.update", nil, map[string]string{"user_id": "2"}, `{"Active":true}`)
	gone(ada, "inactive for a while")
	ada = w.login("ada@example.com", "another")
	for range 3 {
		w.now = w.now.Add(50 * time.Minute)
		w.must("portal-live.profile", ada, nil, "")
	}
	w.now = w.now.Add(time.Hour)
	gone(ada, "idle")
	if err := w.s.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.store(func(wr store.Writer) error {
		n, err := wr.Count(t.Context(), store.Query{Kind: "portal-session"})
		if n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		return err
	})
}

// TestRegister states who can register, and that no answer shows whether an address has an
// account.
func TestRegister(t *testing.T) {
	w := open(t, func(s *setting.Settings) { s.AutoApproveRegistrations = true })
	w.must("portal-custom-attributes.create", nil, map[string]string{"extended_attribute_id": "1"}, `{"Name":"Terms","Identifier":"terms","Type":3,"Required":true}`)
	body := `{"Email":"ada@example.com","First":"Ada","Password":"secret","CustomAttributes":[{"Identifier":"terms","Value":"true"}]}`
	first := text(w.must("portal-live.register", nil, nil, body))
	if again := text(w.must("portal-live.register", nil, nil, strings.Replace(body, "secret", "stolen", 1))); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	u := w.user("ada@example.com")
	if !u.Active || u.Role != account.Member || u.OrganisationID != 1 || u.PasswordHash != "hash of secret" || u.Attributes.Of(1) != "true" || u.Token == "" {
		t.Errorf("%+v", u)
	}
	w.login("ada@example.com", "secret")
	for bad, code := range map[string]string{
		`{"Email":"x","First":"A","Password":"secret"}`: table.CodeInvalid, `{"Email":"b@example.com","First":"B","Password":"secret"}`: table.CodeInvalid,
		strings.Replace(body, "Ada", "", 1): table.CodeInvalid, strings.Replace(body, "secret", "short", 1): table.CodeInvalid,
		strings.Replace(body, `"First"`, `"InviteCode":"none such","First"`, 1): table.CodeInvalid,
	} {
		w.refused("portal-live.register", nil, nil, bad, code)
	}
	w.store(func(wr store.Writer) error {
		_, err := portal.Edit(t.Context(), wr, general.Kind, 1, w.at(), func(s setting.Settings) (setting.Settings, error) {
			s.RegistrationEnabled = false
			return s, nil
		})
		return err
	})
	w.refused("portal-live.register", nil, nil, body, live.CodeClosed)
	for range 50 {
		_, _ = w.call("portal-live.register", nil, nil, body)
	}
	w.refused("portal-live.register", nil, nil, body, live.CodeWait)
}

// TestInviteCodes states whom a code admits, and into which team.
func TestInviteCodes(t *testing.T) {
	w := open(t, nil)
	w.must("portal-organisations.create", nil, nil, `{"Name":"Acme"}`)
	w.must("portal-invite-codes.create", nil, nil, `{"Code":"WELCOME-2026","Quota":1,"TeamID":2,"ExpiresAt":"2026-02-01"}`)
	register := func(email string) error {
		_, err := w.call("portal-live.register", nil, nil, fmt.Sprintf(`{"Email":%q,"First":"A","Password":"secret","InviteCode":"WELCOME-2026"}`, email))
		return err
	}
	if err := register("a@example.com"); err != nil {
		t.Fatal(err)
	}
	if u := w.user("a@example.com"); u.Active || u.OrganisationID != 2 || len(u.Teams) != 1 || u.Teams[0] != 2 {
		t.Errorf("%+v", u)
	}
	if err := register("b@example.com"); err == nil || !strings.Contains(err.Error(), "InviteCode is invalid") {
		t.Error("used up:", err)
	}
	w.must("portal-invite-codes.update", nil, map[string]string{"invite_code_id": "1"}, `{"Quota":5}`)
	w.now = w.now.AddDate(0, 1, 0)
	if err := register("b@example.com"); err == nil {
		t.Error("it has expired")
	}
	// Codes are deleted with their team, alone or with its organisation.
	acme := map[string]string{"organisation_id": "2", "team_id": "3"}
	w.must("portal-teams.create", nil, acme, `{"Name":"Engines"}`)
	w.must("portal-invite-codes.create", nil, nil, `{"Code":"ENGINES-2026","TeamID":3}`)
	w.must("portal-invite-codes.create", nil, nil, `{"Code":"ANYBODY-2026","TeamID":1}`)
	for i, id := range []string{"portal-teams.delete", "portal-organisations.delete"} {
		w.must(id, nil, acme, "")
		left := w.must("portal-invite-codes.list", nil, nil, "").(operation.Listing[live.ShownInviteCode]).Items
		if len(left) != 2-i || left[0].Code != "ANYBODY-2026" {
			t.Errorf("%s: %+v", id, left)
		}
	}
}

// TestForgotten states that only active users get a mail, that all callers get the same
// answer, and that a code works once.
func TestForgotten(t *testing.T) {
	w := open(t, nil)
	ada := w.developer("ada@example.com", account.Member, 1)
	w.run()
	w.must("portal-users.create", nil, nil, `{"Email":"idle@example.com","First":"I","Password":"secret"}`)
	said := map[string]bool{}
	for _, email := range []string{"none@example.com", "idle@example.com", "ADA@example.com"} {
		said[text(w.must("portal-live.forgot", nil, nil, `{"Email":"`+email+`"}`))] = true
	}
	l := w.letter(1)
	if len(said) != 1 || l.To != "ada@example.com" || len(w.letters) != 1 {
		t.Error(said, w.letters)
	}
	if w.user("ada@example.com").AskedAt.IsZero() {
		t.Error("no event tells of it")
	}
	reset := func(code, password string) string { return fmt.Sprintf(`{"Code":%q,"Password":%q}`, code, password) }
	w.refused("portal-live.reset", nil, nil, reset("x", "another"), live.CodeCode)
	w.refused("portal-live.reset", nil, nil, reset(l.Code, "x"), table.CodeInvalid)
	w.must("portal-live.reset", nil, nil, reset(l.Code, "another"))
	w.refused("portal-live.reset", nil, nil, reset(l.Code, "third-one"), live.CodeCode)
	if _, err := w.call("portal-live.session", ada, nil, ""); fault.KindOf(err) != fault.Unauthenticated {
		t.Error("a session outlives the password:", err)
	}
	w.login("ada@example.com", "another")
	for range 5 {
		w.must("portal-live.forgot", nil, nil, `{"Email":"ada@example.com"}`)
	}
	l = w.letter(2)
	mine := map[string]string{"user_id": w.user("ada@example.com").ID.String()}
	w.must("portal-users.update", nil, mine, `{"Email":"ada@elsewhere.example"}`)
	w.refused("portal-live.reset", nil, nil, reset(l.Code, "fourth-one"), live.CodeCode)
	w.must("portal-users.update", nil, mine, `{"Email":"ada@example.com"}`)
	l = w.letter(3)
	w.now = w.now.Add(24 * time.Hour)
	w.refused("portal-live.reset", nil, nil, reset(l.Code, "fourth-one"), live.CodeCode)
	if n := len(w.letters); n != 3 {
		t.Errorf("%d mails in a day", n)
	}
}

// TestAddressIsProven: the address of a registration is unproven until its owner uses a code
// that was mailed to it, or an admin sets the password.
func TestAddressIsProven(t *testing.T) {
	w := open(t, func(s *setting.Settings) { s.AutoApproveRegistrations = true })
	w.run()
	for _, email := range []string{"ada@example.com", "grace@example.com"} {
		w.must("portal-live.register", nil, nil, `{"Email":"`+email+`","First":"A","Password":"secret"}`)
		if !w.user(email).Unproven {
			t.Error("an address is proven by a registration:", email)
		}
	}
	w.must("portal-live.forgot", nil, nil, `{"Email":"ada@example.com"}`)
	w.must("portal-live.reset", nil, nil, fmt.Sprintf(`{"Code":%q,"Password":"another"}`, w.letter(1).Code))
	w.must("portal-users.update", nil, map[string]string{"user_id": w.user("grace@example.com").ID.String()}, `{"Password":"another"}`)
	for _, email := range []string{"ada@example.com", "grace@example.com"} {
		if w.user(email).Unproven {
			t.Error("an address stays unproven:", email)
		}
	}
}

// TestInvitations states how an invited person gets access, only through the mail.
func TestInvitations(t *testing.T) {
	w := open(t, nil)
	invited := `{"Email":"grace@example.com","First":"Grace","Role":"consumer-admin","Active":true,"Password":"chosen-by-admin"}`
	w.run()
	w.must("portal-invitations.create", nil, nil, invited)
	w.letter(1) // before the next one: two are sent at once
	u := w.user("grace@example.com")
	if u.Active || u.PasswordHash != "" || u.Role != account.ConsumerAdmin || u.InvitedAt.IsZero() {
		t.Errorf("%+v", u)
	}
	w.now = w.now.Add(time.Minute)
	w.must("portal-invitations.create", nil, nil, invited)
	w.refused("portal-invitations.create", nil, nil, `{"Email":"root@example.com","First":"R"}`, table.CodeInvalid)
	accept := func(code string) string { return fmt.Sprintf(`{"Code":%q,"Last":"Hopper","Password":"secret"}`, code) }
	w.refused("portal-live.accept", nil, nil, accept("x"), live.CodeCode)
	w.must("portal-live.accept", nil, nil, accept(w.letter(2).Code))
	w.refused("portal-live.accept", nil, nil, accept(w.letter(1).Code), live.CodeCode)
	if u := w.user("grace@example.com"); !u.Active || u.Last != "Hopper" || u.First != "Grace" {
		t.Errorf("%+v", u)
	}
	w.login("grace@example.com", "secret")
}

// TestAttributesOfNewcomers states that new users cannot set attributes that only admins may
// set, and do not overwrite an admin's values.
func TestAttributesOfNewcomers(t *testing.T) {
	w := open(t, nil)
	w.run()
	model := map[string]string{"extended_attribute_id": "1"}
	w.must("portal-custom-attributes.create", nil, model, `{"Name":"Tier","Identifier":"tier","Type":1,"Behaviour":3}`)
	w.must("portal-custom-attributes.create", nil, model, `{"Name":"Terms","Identifier":"terms","Type":3,"Required":true}`)
	const terms, tier = `{"Identifier":"terms","Value":"true"}`, `{"Identifier":"tier","Value":"gold"}`
	w.refused("portal-live.register", nil, nil, `{"Email":"ada@example.com","First":"Ada","Password":"secret","CustomAttributes":[`+terms+`,`+tier+`]}`, table.CodeInvalid)
	w.must("portal-invitations.create", nil, nil, `{"Email":"grace@example.com","First":"Grace","CustomAttributes":[`+tier+`]}`)
	accept := `{"Code":"` + w.letter(1).Code + `","Password":"secret","CustomAttributes":[`
	w.refused("portal-live.accept", nil, nil, accept+terms+`,`+tier+`]}`, table.CodeInvalid)
	w.refused("portal-live.accept", nil, nil, accept+`]}`, table.CodeInvalid)
	w.must("portal-live.accept", nil, nil, accept+terms+`]}`)
	if u := w.user("grace@example.com"); u.Attributes.Of(1) != "gold" || u.Attributes.Of(2) != "true" {
		t.Errorf("%+v", u.Attributes)
	}
}

// TestDeactivatedIsNotInvited states that an invitation does not reopen an account that an
// admin has deactivated.
func TestDeactivatedIsNotInvited(t *testing.T) {
	w := open(t, nil)
	w.run()
	const body = `{"Email":"grace@example.com","First":"Grace"}`
	w.must("portal-invitations.create", nil, nil, body)
	w.must("portal-live.accept", nil, nil, `{"Code":"`+w.letter(1).Code+`","Password":"secret"}`)
	w.must("portal-users.update", nil, map[string]string{"user_id": w.user("grace@example.com").ID.String()}, `{"Active":false}`)
	w.refused("portal-invitations.create", nil, nil, body, table.CodeInvalid)
}

// TestRequestOfAdmin: the request of a developer who has become an administrator meanwhile can
// only be rejected: administrators are in no organisation, and the new one would be empty.
func TestRequestOfAdmin(t *testing.T) {
	w := open(t, nil)
	ada := w.developer("ada@example.com", account.Member, 1)
	w.must("portal-live.ask", ada, nil, `{"Name":"Acme"}`)
	w.must("portal-users.update", nil, map[string]string{"user_id": w.user("ada@example.com").ID.String()}, `{"Role":"provider-admin"}`)
	named := map[string]string{"organisation_request_id": "1"}
	w.refused("portal-organisation-requests.approve", nil, named, "", live.CodeAdmin)
	if err := w.p.Tools.Store.View(t.Context(), w.p.Scope, func(r store.Reader) error {
		if free, err := people.Unnamed(t.Context(), r, "Acme"); !free || err != nil {
			t.Error("an organisation without people", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	w.must("portal-organisation-requests.reject", nil, named, "")
}

// TestOrganisationRequests states who may request an organisation, and the effect of a
// decision.
func TestOrganisationRequests(t *testing.T) {
	w := open(t, nil)
	ada, bob := w.developer("ada@example.com", account.Member, 1), w.developer("bob@example.com", account.Member, 1)
	w.must("portal-live.ask", ada, nil, `{"Name":"Acme"}`)
	w.refused("portal-live.ask", ada, nil, `{"Name":"Acme 2"}`, "portal-organisation-request.taken")
	w.must("portal-live.ask", bob, nil, `{"Name":"Acme"}`)
	named := func(id string) map[string]string { return map[string]string{"organisation_request_id": id} }
	w.must("portal-organisation-requests.approve", nil, named("1"), "")
	if u := w.user("ada@example.com"); u.OrganisationID != 2 || u.Role != account.ConsumerAdmin || u.RequestID != 1 {
		t.Errorf("%+v", u)
	}
	w.refused("portal-organisation-requests.approve", nil, named("1"), "", live.CodeMoved)
	w.refused("portal-organisation-requests.reject", nil, named("1"), "", live.CodeMoved)
	w.refused("portal-organisation-requests.approve", nil, named("2"), "", "portal-organisation.taken")
	w.must("portal-organisation-requests.reject", nil, named("2"), "")
	w.refused("portal-live.ask", ada, nil, `{"Name":"Another"}`, live.CodeBelongs)
	if got := text(w.must("portal-live.requests", bob, nil, "")); !strings.Contains(got, "rejected") || strings.Contains(got, "approved") {
		t.Error(got)
	}
	w.must("portal-users.delete", nil, map[string]string{"user_id": "3"}, "")
	if _, err := w.call("portal-organisation-requests.get", nil, named("2"), ""); fault.KindOf(err) != fault.NotFound {
		t.Error("the request of somebody who is gone:", err)
	}
}

package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/visit"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of logins.
const (
	CodeCredentials = "portal_live.credentials"
	CodeClosed      = "portal_live.closed"
)

// wrong is the same fault for an unknown address, a wrong password, and an account that is
// not active, is locked, or belongs to another provider.
var wrong error = fault.New(fault.Unauthenticated, CodeCredentials, "Email or password is wrong")

// Login is the body of a login.
type Login struct {
	Email    string `json:"Email"`
	Password string `json:"Password"`
}

type loginIn struct {
	Origin  operation.Origin
	Browser operation.Browser
	Login   Login `body:""`
}

// Opened is the session data for the browser.
type Opened struct {
	UserID    table.ID `json:"UserID"`
	Role      string   `json:"Role"`
	CSRFToken string   `json:"CSRFToken" doc:"Requests that change something send this value in the header X-CSRF-Token."`
	// ResetPassword says that the session permits only a change of the password.
	ResetPassword bool   `json:"ResetPassword" doc:"true: the user must set a new password before anything else."`
	Expires       string `json:"Expires"`
}

// Login begins a session for a user with the right password.
func (s *Service) Login(ctx context.Context, in loginIn) (out operation.Visit[Opened], err error) {
	defer s.pause(ctx, time.Now())
	var u account.User
	var rules setting.Settings
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		if rules, err = general.Load(ctx, r); err == nil {
			u, err = people.ByEmail(ctx, r, in.Login.Email)
		}
		return fault.AbsentFine(err)
	}); err != nil {
		return out, err
	}
	ok, err := s.attempt(ctx, in, rules, func() (bool, error) { return s.knows(ctx, u, in.Login.Password) })
	switch {
	case err != nil:
		return out, err
	case !ok || !u.Can(account.LogIn):
		return out, wrong
	case !rules.SignInEnabled && !u.Admin():
		return out, fault.New(fault.Denied, CodeClosed, "Sign-in is not allowed")
	}
	return s.open(ctx, u, in)
}

// knows reports whether text is the user's password. It takes equally long for unknown
// users.
func (s *Service) knows(ctx context.Context, u account.User, text string) (bool, error) {
	hash := u.PasswordHash
	if u.Provider != account.OwnPassword {
		hash = ""
	}
	if len(text) > password.Longest {
		hash, text = "", ""
	}
	leave, err := s.enter(ctx)
	if err != nil {
		return false, err
	}
	defer leave()
	known := hash != ""
	if !known {
		hash = s.dummy()
	}
	return s.passwords.Verify(hash, text) && known, nil
}

// open begins the session of a user whose password was right. In the same unit of work it
// checks that the password has not changed. It also replaces a hash of an older kind, since
// the password is available now.
func (s *Service) open(ctx context.Context, u account.User, in loginIn) (out operation.Visit[Opened], err error) {
	hash, token, at := u.PasswordHash, rand.Text(), s.Stamp(s.Scope)
	if !s.People.Passwords.Current(hash) {
		if hash, err = s.hash(ctx, in.Login.Password); err != nil {
			return out, err
		}
	}
	begun := s.begin(u, token, s.agents(in.Browser.Agent, in.Origin)[0], at.Now())
	_, err = s.Store.Update(attributed(ctx, u.ID), s.Scope, func(w store.Writer) error {
		v, err := portal.Find(ctx, w, people.Users, u.ID.String())
		if fault.KindOf(err) == fault.NotFound || err == nil && (v.PasswordHash != u.PasswordHash || !v.Can(account.LogIn)) {
			return wrong // the password has changed since it was checked
		}
		if err == nil && hash != u.PasswordHash { // the same password, so no session ends
			_, err = portal.Edit(ctx, w, people.Users, u.ID, at, func(v account.User) (account.User, error) {
				v.PasswordHash = hash
				return v, nil
			})
		}
		if err != nil {
			return err
		}
		return s.keep(ctx, w, begun, in.Browser)
	})
	return s.entered(u, begun, token), err
}

func (s *Service) begin(u account.User, token, agent string, now time.Time) visit.Session {
	return visit.Session{ID: s.NewID(), Portal: s.Scope.Org(), UserID: u.ID, Digest: s.digests(token)[0], Agent: agent, Created: now, Seen: now}
}

// keep stores a session and ends those that it replaces: the browser's previous session,
// whose cookie is overwritten, and sessions over the user's limit.
func (s *Service) keep(ctx context.Context, w store.Writer, begun visit.Session, by operation.Browser) error {
	if err := s.end(ctx, w, by.Token); err != nil {
		return err
	}
	all, err := sessions.Values(ctx, w, store.Query{Index: byUser, Value: begun.UserID.Key()})
	if err != nil {
		return err
	}
	for _, v := range visit.Excess(all, s.rules(), begun.Created) {
		if _, err := sessions.Delete(ctx, w, v.ID, nil); err != nil {
			return err
		}
	}
	return sessions.Insert(ctx, w, begun)
}

// Enter begins the session of a user whom an identity provider or broker has recognised, in
// the caller's unit of work, and returns where the browser goes next.
func (s *Service) Enter(ctx context.Context, w store.Writer, u account.User, browser operation.Browser, from operation.Origin) (out operation.Landing, err error) {
	rules, err := general.Load(ctx, w)
	if err != nil {
		return out, err
	}
	out.Location = "/admin"
	if !u.Admin() {
		if !rules.SignInEnabled {
			return out, fault.New(fault.Denied, CodeClosed, "Sign-in is not allowed")
		}
		out.Location = cmp.Or(s.Home, "/")
	}
	token := rand.Text()
	begun := s.begin(u, token, s.agents(browser.Agent, from)[0], s.Now())
	entered := s.entered(u, begun, token)
	out.Who, out.Cookies = entered.Who, entered.Cookies
	return out, s.keep(ctx, w, begun, browser)
}

// entered returns the answer for a browser with a new session.
func (s *Service) entered(u account.User, begun visit.Session, token string) operation.Visit[Opened] {
	return operation.Visit[Opened]{
		Value:   s.opened(u, begun, token),
		Who:     s.principal(u.ID),
		Cookies: []operation.Cookie{s.cookie(token, s.Life)},
	}
}

func (s *Service) opened(u account.User, begun visit.Session, token string) Opened {
	return Opened{u.ID, u.Role, s.proofs(token)[0], u.ResetPassword, table.Stamp(begun.Created.Add(s.Life))}
}

func (s *Service) cookie(token string, life time.Duration) operation.Cookie {
	return operation.Cookie{Name: s.Cookie, Value: token, Life: life, Script: s.Script, Secure: s.Secure, SameSite: s.SameSite}
}

// digests returns the digests under which a token may have been stored.
func (s *Service) digests(token string) []string {
	return s.People.Keys.Digests("portal-session\x00" + s.Key + "\x00" + token)
}

// proofs returns the CSRF tokens of a session: only the server can derive them from the
// session token, so no other site can forge one.
func (s *Service) proofs(token string) []string {
	return s.People.Keys.Digests("portal-csrf\x00" + token)
}

// agents returns the digests of what a session is bound to: the User-Agent and, if the
// settings say so, the network.
func (s *Service) agents(agent string, from operation.Origin) []string {
	if s.Bound {
		agent += "\x00" + operation.Network(from.Remote)
	}
	return s.People.Keys.Digests("portal-agent\x00" + agent)
}

// visiting is the input of an operation of a browser with a session.
type visiting struct {
	person
	Browser operation.Browser
}

// Left is the answer to a browser whose session has ended.
type Left struct {
	Status string `json:"status"`
}

// Logout ends the caller's session.
func (s *Service) Logout(ctx context.Context, in visiting) (out operation.Visit[Left], err error) {
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		return s.end(ctx, w, in.Browser.Token)
	})
	return operation.Visit[Left]{Value: Left{"ok"}, Who: in.Who, Cookies: []operation.Cookie{s.cookie("", 0)}}, err
}

// end ends the session of a token, if there is one.
func (s *Service) end(ctx context.Context, w store.Writer, token string) error {
	v, err := s.byToken(ctx, w, token)
	if err == nil {
		_, err = sessions.Delete(ctx, w, v.ID, nil)
	}
	if fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Unauthenticated {
		return nil
	}
	return err
}

// Session returns the session data for the browser.
func (s *Service) Session(ctx context.Context, in visiting) (out Opened, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		u, err := in.of(ctx, r)
		if err != nil {
			return err
		}
		begun, err := s.byToken(ctx, r, in.Browser.Token)
		out = s.opened(u, begun, in.Browser.Token)
		return err
	})
	return out, err
}

// principal returns a user as a principal for the audit trail.
func (s *Service) principal(id table.ID) operation.Principal {
	return operation.Principal{ID: account.Principal(id), OrgID: s.Scope.Org()}
}

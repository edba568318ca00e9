// Package signon sends browsers to identity providers and takes them back, for the portal and
// for the dashboard (ADR 30, docs/wire/portal-sso.md#logins).
package signon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/signon"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/login"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Codes of the faults of logins at identity providers.
const (
	CodeOff     = "signon.off"
	CodeMissing = "signon.login"
	CodeURL     = "signon.url"
	CodeAway    = "signon.away"
	CodeSpent   = "signon.spent"
	CodeRefused = "signon.refused"
)

// Beginning are the codes of faults with which a login does not begin, Ending those with
// which it does not end.
var (
	Beginning = []string{CodeOff, CodeMissing, CodeURL, CodeAway, signon.CodeProfile}
	Ending    = slices.Concat(Beginning, []string{CodeSpent, CodeRefused})
)

// Callback ends the address to which identity providers send browsers back.
const Callback = "/callback"

// life is for how long a login may be under way.
const life = 10 * time.Minute

// Flow is how one sort of people logs in.
type Flow struct {
	Provider login.Provider // nil: nobody can
	Keys     secret.Keys
	Now      system.Clock
	Log      *slog.Logger
	Cookie   string // its name, which is also in all digests
	URL      string // of the service as browsers see it, without a slash at the end
	URLName  string // of the setting with it
	Key      string // part of what protects a login under way: with another one, those end
}

// At is a login: whose profile it is by, below which path of the service it is, and how its
// identity provider is reached.
type At struct {
	Owner    tenant.ID
	Path     string
	Provider signon.Connection
}

// attempt is a login under way. The browser keeps it, sealed: strangers store nothing here,
// and any process can go on.
type attempt struct {
	login.Attempt
	Owner   tenant.ID
	Path    string
	Mark    string // of Key
	Expires time.Time
}

// Open refuses logins where there can be none.
func (f *Flow) Open() error {
	if f.Provider == nil {
		return fault.New(fault.NotFound, CodeOff, "The identity broker is off")
	}
	return nil
}

// Missing answers addresses without a login.
func Missing() error {
	return fault.New(fault.NotFound, CodeMissing, "There is no login at this address")
}

// Begin sends a browser to the identity provider.
func (f *Flow) Begin(ctx context.Context, at At) (out operation.Landing, err error) {
	as, err := f.client(at)
	if err != nil {
		return out, err
	}
	a := attempt{
		Attempt: login.Attempt{State: drawn(), Nonce: drawn(), Verifier: drawn()},
		Owner:   at.Owner, Path: at.Path, Mark: f.marks()[0], Expires: f.Now().Add(life),
	}
	if out.Location, err = f.Provider.Begin(ctx, as, a.Attempt); err != nil {
		return out, f.failed(at, err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		return out, err
	}
	sealed, err := f.Keys.Seal(string(text))
	out.Cookies = []operation.Cookie{f.cookie(at, sealed, life)}
	return out, err
}

// client is the service as the identity provider knows it. The address to which browsers are
// sent back never follows from what a request says.
func (f *Flow) client(at At) (login.Client, error) {
	if f.URL == "" {
		return login.Client{}, fault.New(fault.Unavailable, CodeURL, "There is no address to which the identity provider could send browsers back: set %s", f.URLName)
	}
	p := at.Provider
	return login.Client{Discovery: p.Discovery, ID: p.ID, Secret: p.Secret, Scopes: p.Scopes, ClaimsToo: !p.NoUserInfo, Redirect: f.URL + at.Path + Callback}, nil
}

func (f *Flow) cookie(at At, value string, life time.Duration) operation.Cookie {
	return operation.Cookie{Name: f.Cookie, Value: value, Path: at.Path + Callback, Life: life, Secure: strings.HasPrefix(f.URL, "https:")}
}

// drawn is a text that nobody can guess, of the form that RFC 7636, 4.1 wants.
func drawn() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// marks say of a login that it began with the Key of now.
func (f *Flow) marks() []string { return f.Keys.Digests(f.Cookie + "\x00" + f.Key) }

// Return is what a browser brings back from an identity provider.
type Return struct {
	State  string `query:"state" doc:"Says which login it is."`
	Code   string `query:"code" doc:"What the identity provider vouches with."`
	Issuer string `query:"iss" doc:"The identity provider (RFC 9207)."`
	Error  string `query:"error" doc:"Why the identity provider does not let the person in."`
}

// End is the end of a login. The unit of work that begins a session stores one of the
// digests until Expires: a login ends once.
type End struct {
	Digests []string
	Expires time.Time
	Cookie  operation.Cookie // the browser forgets the login
}

// Finish returns who has come back. The browser must be the one that began: an
// attacker could send another one back with a code of their own, and log it in as themselves.
func (f *Flow) Finish(ctx context.Context, at At, sealed string, r Return, rules signon.Rules) (who signon.Found, end End, err error) {
	as, err := f.client(at)
	if err != nil {
		return who, end, err
	}
	var a attempt // that the browser has begun
	text, _, err := f.Keys.Open(sealed)
	if sealed == "" || err != nil || json.Unmarshal([]byte(text), &a) != nil {
		return who, end, Spent()
	}
	if a.Owner != at.Owner || a.Path != at.Path || !slices.Contains(f.marks(), a.Mark) || expiry.Over(a.Expires, f.Now(), life) ||
		a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(r.State)) != 1 {
		return who, end, Spent()
	}
	if r.Error != "" || r.Code == "" {
		return who, end, f.Refused("the identity provider sends the browser back without a code")
	}
	claims, err := f.Provider.Finish(ctx, as, a.Attempt, login.Return{Code: r.Code, Issuer: r.Issuer}, rules.Wanted())
	if err != nil {
		return who, end, f.failed(at, err)
	}
	who, why := rules.Recognise(claims)
	if why != "" {
		return who, end, f.Refused(why)
	}
	return who, End{f.Keys.Digests(f.Cookie + "-over\x00" + a.State), a.Expires, f.cookie(at, "", 0)}, nil
}

// Spent answers logins that are over, too old, or another browser's.
func Spent() error {
	return fault.New(fault.Unauthenticated, CodeSpent, "This link has been used or is too old; log in again")
}

// Refused logs why a login fails, and answers that. The reason names no person.
func (f *Flow) Refused(why string) error {
	f.Log.Info("single sign-on refused", "reason", why)
	return fault.New(fault.Denied, CodeRefused, "access denied: %s", why)
}

// failed answers what an identity provider did not do. Only the log says more.
func (f *Flow) failed(at At, err error) error {
	if errors.Is(err, login.ErrRefused) {
		return f.Refused(strings.TrimPrefix(err.Error(), login.ErrRefused.Error()+": "))
	}
	f.Log.Warn("single sign-on fails", "login", at.Path, "error", err)
	return fault.New(fault.Unavailable, CodeAway, "The identity provider does not answer as it should; try again later").Because(err)
}

// Package signon redirects browsers to identity providers and handles their return, for
// the portal and for the dashboard (ADR 30, docs/wire/portal-sso.md#logins).
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

// Beginning are the codes of faults when a login begins, Ending those when it ends.
var (
	Beginning = []string{CodeOff, CodeMissing, CodeURL, CodeAway, signon.CodeProfile}
	Ending    = slices.Concat(Beginning, []string{CodeSpent, CodeRefused})
)

// Callback is the end of the URL to which identity providers redirect browsers.
const Callback = "/callback"

// life is how long a login may take.
const life = 10 * time.Minute

// Flow is the login at identity providers for one group of people.
type Flow struct {
	Provider login.Provider // nil: no logins
	Keys     secret.Keys
	Now      system.Clock
	Log      *slog.Logger
	Cookie   string // the name of the cookie, which is also in all digests
	URL      string // URL of the service for browsers, without a slash at the end
	URLName  string // name of the setting with the URL
	Key      string // part of what protects a login in progress: a new Key ends all of them
}

// At says which login it is: the owner of its profile, its path below the service, and
// the connection to its identity provider.
type At struct {
	Owner    tenant.ID
	Path     string
	Provider signon.Connection
}

// attempt is a login in progress. The browser keeps it, sealed, so that strangers store
// nothing here, and any process can continue the login.
type attempt struct {
	login.Attempt
	Owner   tenant.ID
	Path    string
	Mark    string // digest of Key
	Expires time.Time
}

// Open refuses logins if there is no provider.
func (f *Flow) Open() error {
	if f.Provider == nil {
		return fault.New(fault.NotFound, CodeOff, "The identity broker is off")
	}
	return nil
}

// Missing returns the fault for a URL without a login.
func Missing() error {
	return fault.New(fault.NotFound, CodeMissing, "There is no login at this address")
}

// Begin redirects a browser to the identity provider.
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

// client returns the data of the service as a client of the identity provider. The
// redirect URL never depends on the request.
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

// drawn returns a random text that cannot be guessed, in the form of RFC 7636, 4.1.
func drawn() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// marks returns the digests that mark a login that began with the current Key.
func (f *Flow) marks() []string { return f.Keys.Digests(f.Cookie + "\x00" + f.Key) }

// Return is the query of the redirect from an identity provider.
type Return struct {
	State  string `query:"state" doc:"State parameter of the login (OpenID Connect)."`
	Code   string `query:"code" doc:"Authorization code of the identity provider."`
	Issuer string `query:"iss" doc:"Issuer, which identifies the identity provider (RFC 9207)."`
	Error  string `query:"error" doc:"Error code, if the identity provider refuses the login."`
}

// End is the end of a login. The unit of work that begins a session stores one of the
// digests until Expires, so that a login ends only once.
type End struct {
	Digests []string
	Expires time.Time
	Cookie  operation.Cookie // makes the browser delete the login
}

// Finish returns the person that the identity provider has authenticated. The browser
// must be the one that began the login. Otherwise an attacker could send another
// browser here with a code of the attacker, and log that browser in as the attacker.
func (f *Flow) Finish(ctx context.Context, at At, sealed string, r Return, rules signon.Rules) (who signon.Found, end End, err error) {
	as, err := f.client(at)
	if err != nil {
		return who, end, err
	}
	var a attempt // the login that the browser began
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

// Spent returns the fault for a login that is over, too old, or of another browser.
func Spent() error {
	return fault.New(fault.Unauthenticated, CodeSpent, "This link has been used or is too old; log in again")
}

// Refused logs why a login fails, and returns the fault. The reason names no person.
func (f *Flow) Refused(why string) error {
	f.Log.Info("single sign-on refused", "reason", why)
	return fault.New(fault.Denied, CodeRefused, "access denied: %s", why)
}

// failed returns the fault for an error of the provider. Only the log has the details.
func (f *Flow) failed(at At, err error) error {
	if errors.Is(err, login.ErrRefused) {
		return f.Refused(strings.TrimPrefix(err.Error(), login.ErrRefused.Error()+": "))
	}
	f.Log.Warn("single sign-on fails", "login", at.Path, "error", err)
	return fault.New(fault.Unavailable, CodeAway, "The identity provider does not answer as it should; try again later").Because(err)
}

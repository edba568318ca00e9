package sso_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/oidc"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	core "github.com/gatehouse-io/gatehouse/core/portal/sso"
	domain "github.com/gatehouse-io/gatehouse/core/signon"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// portalURL is the address of the portal under test.
const portalURL = "https://portal.example.com"

// ada is a person who can log in.
var ada = map[string]any{"sub": "1234", "email": "Ada@Example.com", "email_verified": true, "name": "Ada Lovelace", "groups": []any{"others", "engineers"}}

// house is a portal whose users log in at an identity provider.
type house struct {
	*world
	idp *idp.Server
}

// login is a running login: the data in the browser.
type login struct{ address, cookie string }

func withProvider(t *testing.T, more string) *house {
	t.Helper()
	h := &house{open(t, sso.Settings{}), idp.New(idp.Other)}
	t.Cleanup(h.idp.Close)
	h.s.Profiles = &sso.Profiles{Keys: h.p.Keys, URL: portalURL}
	h.s.Provider = oidc.New(fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}), oidc.Config{Away: time.Nanosecond})
	h.idp.Seat(ada)
	h.profile("developers", core.ForDevelopers, more)
	return h
}

// profile creates a login profile.
func (h *house) profile(name, action, more string) (secret string) {
	h.t.Helper()
	id, secret := h.idp.Application(portalURL + "/tib/auth/" + name + "/openid-connect/callback")
	h.make(fmt.Sprintf(`{"ID":%q,"ActionType":%q,"ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"openid-connect","Key":%q,"Secret":%q,"DiscoverURL":%q}]}%s}`, name, action, id, secret, h.idp.WellKnown(), more))
	return secret
}

func (h *house) make(body string) {
	h.t.Helper()
	o := h.p.Operations(h.s.Profiles.Resource())["portal-sso-profiles.create"]
	if _, err := o.Do(h.t.Context(), &operation.Call{Scope: h.p.Scope, Body: []byte(body)}); err != nil {
		h.t.Fatal(body, err)
	}
}

func (h *house) begin(profile string) login {
	h.t.Helper()
	out, err := sso.BeginAt(h.t.Context(), h.s, profile, "openid-connect")
	if err != nil || len(out.Cookies) != 1 {
		h.t.Fatal(out, err)
	}
	c := out.Cookies[0]
	if c.Path != "/tib/auth/"+profile+"/openid-connect/callback" || c.Life > 10*time.Minute || c.SameSite != "" || c.Script || !c.Secure {
		h.t.Errorf("%+v", c)
	}
	return login{out.Location, c.Value}
}

// sit logs the browser in at the provider, and returns the query of the redirect.
func (h *house) sit(l login) url.Values {
	h.t.Helper()
	back, err := h.idp.Sit(l.address)
	u, bad := url.Parse(back)
	if err != nil || bad != nil || !strings.HasPrefix(back, portalURL+"/tib/auth/") {
		h.t.Fatal(back, err, bad)
	}
	return u.Query()
}

func (h *house) finish(profile string, q url.Values, cookie string) (operation.Landing, error) {
	return sso.FinishAt(h.t.Context(), h.s, profile, "openid-connect", q, cookie)
}

// whole runs a complete login.
func (h *house) whole(profile string) (operation.Landing, error) {
	h.t.Helper()
	l := h.begin(profile)
	return h.finish(profile, h.sit(l), l.cookie)
}

// TestLogin logs a person in: first as a new user with the team of a group, then again.
func TestLogin(t *testing.T) {
	h := withProvider(t, `,"CustomUserGroupField":"groups","UserGroupMapping":{"engineers":"1"},"DefaultUserGroupID":"99"`)
	out, err := h.whole("developers")
	if err != nil || out.Location != "/" || len(out.Cookies) != 2 || out.Cookies[0].Name != "portal-session" || out.Cookies[1].Life != 0 {
		t.Fatalf("%+v %v", out, err)
	}
	u := h.user("ada@example.com")
	if u.SSOKey != "1234@openid-connect/developers" || u.Role != account.ConsumerAdmin || u.First != "Ada Lovelace" || len(u.Teams) != 1 || u.Teams[0] != 1 || !u.Active {
		t.Errorf("%+v", u)
	}
	moved := maps.Clone(ada)
	moved["email"] = "countess@example.com"
	h.idp.Seat(moved)
	if out, err = h.whole("developers"); err != nil || out.Who.ID != account.Principal(u.ID) {
		t.Error("the key counts, not the address:", out.Who, err)
	}
	h.profile("admins", core.ForAdmins, "")
	h.idp.Seat(map[string]any{"sub": "7", "email": "boss@example.com", "email_verified": "true"})
	if out, err = h.whole("admins"); err != nil || out.Location != "/admin" || h.user("boss@example.com").Role != account.ProviderAdmin {
		t.Error(out, err)
	}
}

// TestLoginsAreBound refuses results of another browser, another login, another profile or
// another time.
func TestLoginsAreBound(t *testing.T) {
	h := withProvider(t, "")
	h.profile("others", core.ForDevelopers, "")
	spent := func(what string, profile string, q url.Values, cookie string) {
		t.Helper()
		if out, err := h.finish(profile, q, cookie); fault.CodeOf(err) != signon.CodeSpent || len(out.Cookies) > 0 {
			t.Errorf("%s: %+v %v", what, out, err)
		}
	}
	mine, theirs := h.begin("developers"), h.begin("developers")
	q := h.sit(mine)
	spent("no cookie", "developers", q, "")
	spent("the cookie of another browser", "developers", q, theirs.cookie)
	spent("a cookie that is made up", "developers", q, "x"+mine.cookie)
	spent("another profile", "others", q, mine.cookie)
	spent("no state", "developers", url.Values{"code": q["code"]}, mine.cookie)
	h.s.Key = "another"
	spent("another key of the settings", "developers", q, mine.cookie)
	h.s.Key = ""
	if _, err := h.finish("developers", h.sit(theirs), theirs.cookie); err != nil {
		t.Error(err)
	}
	if _, err := h.finish("developers", q, mine.cookie); err != nil {
		t.Error(err)
	}
	if _, err := h.finish("developers", q, mine.cookie); fault.CodeOf(err) != signon.CodeRefused {
		t.Error("the provider takes a code twice:", err)
	}
	again := h.sit(mine) // another code for a finished login
	spent("a login that is over", "developers", again, mine.cookie)
	late := h.begin("developers")
	q = h.sit(late)
	h.now = h.now.Add(10 * time.Minute)
	spent("ten minutes later", "developers", q, late.cookie)
}

// TestProviderIsNotBelieved refuses invalid or forged answers of a provider.
func TestProviderIsNotBelieved(t *testing.T) {
	h := withProvider(t, `,"ProviderConstraintsDomain":"example.com","ProviderConstraintsGroup":"engineers","CustomUserGroupField":"groups"`)
	forged := func(name string, value any) func(map[string]any) map[string]any {
		return func(c map[string]any) map[string]any { c[name] = value; return c }
	}
	secret := h.profile("second", core.ForDevelopers, "")
	for what, change := range map[string]func(){
		"another issuer":   func() { h.idp.Forge(forged("iss", "https://evil.example.com")) },
		"another audience": func() { h.idp.Forge(forged("aud", "somebody")) },
		"several audiences": func() {
			h.idp.Forge(func(c map[string]any) map[string]any { c["aud"] = []any{c["aud"], "somebody"}; return c })
		},
		"another party":      func() { h.idp.Forge(forged("azp", "somebody")) },
		"it is too old":      func() { h.idp.Forge(forged("exp", time.Now().Add(-time.Minute).Unix())) },
		"another login":      func() { h.idp.Forge(forged("nonce", "x")) },
		"no nonce":           func() { h.idp.Forge(func(c map[string]any) map[string]any { delete(c, "nonce"); return c }) },
		"no signature":       func() { h.idp.Resign(idp.Unsigned) },
		"a shared secret":    func() { h.idp.Resign(idp.WithSecret(secret)) },
		"address unverified": func() { h.idp.Forge(forged("email_verified", false)) },
		"no address":         func() { h.idp.Forge(forged("email", "")) },
		"another domain":     func() { h.idp.Forge(forged("email", "ada@example.com.evil.example")) },
		"another group":      func() { h.idp.Forge(forged("groups", []any{"others"})) },
		"no subject":         func() { h.idp.Forge(forged("sub", "")) },
		"nobody":             func() { h.idp.Seat(nil) },
	} {
		h.idp.Seat(ada)
		h.idp.Forge(nil)
		h.idp.Resign(nil)
		change()
		if out, err := h.whole("developers"); fault.CodeOf(err) != signon.CodeRefused || len(out.Cookies) > 0 {
			t.Errorf("%s: %+v %v", what, out, err)
		}
	}
	h.idp.Seat(ada)
	h.idp.Forge(nil)
	h.idp.Resign(nil)
	l := h.begin("developers")
	q := h.sit(l)
	q.Set("iss", "https://evil.example.com")
	if _, err := h.finish("developers", q, l.cookie); fault.CodeOf(err) != signon.CodeRefused {
		t.Error("another issuer sends the browser back:", err)
	}
	if _, err := h.whole("developers"); err != nil {
		t.Error(err)
	}
	h.idp.Rotate()
	if _, err := h.whole("developers"); err != nil {
		t.Error("after a rotation of keys:", err)
	}
}

// TestUserinfo reads claims that the token lacks, and accepts them for the same person only.
func TestUserinfo(t *testing.T) {
	h := withProvider(t, "")
	h.idp.Seat(map[string]any{"sub": "5"})
	h.idp.Tell(map[string]any{"email": "grace@example.com", "email_verified": true})
	if _, err := h.whole("developers"); err != nil || h.user("grace@example.com").SSOKey != "5@openid-connect/developers" {
		t.Error(err)
	}
	h.idp.Tell(map[string]any{"sub": "6", "email": "grace@example.com", "email_verified": true})
	if _, err := h.whole("developers"); fault.CodeOf(err) != signon.CodeRefused {
		t.Error("claims of another person:", err)
	}
}

// TestProviderIsAway reports that the provider is away, and logs people in when it is back.
func TestProviderIsAway(t *testing.T) {
	for _, at := range []idp.Endpoint{idp.Tokens, idp.Keys, idp.Discovery} {
		for _, f := range []idp.Fault{idp.Down, idp.Broken, idp.Garbage} {
			h := withProvider(t, "")
			h.idp.Misbehave(at, f, -1)
			_, err := sso.BeginAt(t.Context(), h.s, "developers", "openid-connect")
			if at == idp.Discovery {
				if fault.KindOf(err) != fault.Unavailable || strings.Contains(err.Error(), "127.0.0.1") {
					t.Errorf("%s %s: %v", at, f, err)
				}
			} else if _, err := h.whole("developers"); err == nil {
				t.Errorf("%s %s: somebody is let in", at, f)
			}
			h.idp.Behave()
			if _, err := h.whole("developers"); err != nil {
				t.Errorf("%s %s, and back: %v", at, f, err)
			}
		}
	}
}

// TestNoLogin states the errors of unknown logins.
func TestNoLogin(t *testing.T) {
	h := withProvider(t, "")
	h.make(`{"ID":"ldap","ActionType":"GenerateOrLoginDeveloperProfile","ProviderName":"ADProvider"}`)
	h.make(`{"ID":"saml","ActionType":"GenerateOrLoginDeveloperProfile","ProviderName":"SAMLProvider"}`)
	h.make(`{"ID":"empty","ActionType":"GenerateOrLoginDeveloperProfile","ProviderName":"SocialProvider"}`)
	h.make(`{"ID":"inside","ActionType":"GenerateOrLoginDeveloperProfile","ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Key":"x","DiscoverURL":"http://169.254.169.254/.well-known/openid-configuration"}]}}`)
	for _, c := range []struct{ profile, provider, code string }{
		{"ldap", "ldap", domain.CodeProfile}, {"saml", "saml", domain.CodeProfile}, {"empty", "openid-connect", domain.CodeProfile}, {"none", "openid-connect", signon.CodeMissing},
		{"developers", "other", signon.CodeMissing}, {"Developers", "openid-connect", signon.CodeMissing}, {"inside", "openid-connect", signon.CodeAway},
	} {
		if _, err := sso.BeginAt(t.Context(), h.s, c.profile, c.provider); fault.CodeOf(err) != c.code {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := h.finish(c.profile, url.Values{}, ""); err == nil {
			t.Error(c.profile)
		}
	}
	h.s.Profiles.URL = ""
	if _, err := sso.BeginAt(t.Context(), h.s, "developers", "openid-connect"); fault.CodeOf(err) != signon.CodeURL {
		t.Error(err)
	}
	h.s.Provider = nil
	if _, err := sso.BeginAt(t.Context(), h.s, "developers", "openid-connect"); fault.CodeOf(err) != signon.CodeOff {
		t.Error(err)
	}
}

// TestLoginHidesSecrets: state, codes and tokens are not stored in plain text, and the
// client's secret is not in the address to which browsers are redirected.
func TestLoginHidesSecrets(t *testing.T) {
	h := withProvider(t, "")
	l := h.begin("developers")
	q := h.sit(l)
	u, err := url.Parse(l.address)
	if err != nil || u.Query().Get("client_secret") != "" || u.Query().Get("code_challenge_method") != "S256" || u.Query().Get("redirect_uri") != portalURL+"/tib/auth/developers/openid-connect/callback" {
		t.Error(l.address, err)
	}
	if _, err := h.finish("developers", q, l.cookie); err != nil {
		t.Error(err)
	}
	kept, err := json.Marshal(h.dump())
	if err != nil || strings.Contains(string(kept), q.Get("state")) || strings.Contains(string(kept), q.Get("code")) || strings.Contains(l.cookie, q.Get("state")) {
		t.Errorf("%s %v", kept, err)
	}
}

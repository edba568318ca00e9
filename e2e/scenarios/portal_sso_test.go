package scenarios

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// signOnURL is the public address of a portal.
const signOnURL = "https://portal.example.com"

var signOn = environment{"SVC_PORTAL_TIB_ENABLED": "true", "PORTAL_URL": signOnURL, "SVC_PORTAL_SESSION_SAMESITE": "Lax"}

// TestPortalSingleSignOn follows users from the portal to an identity provider and back:
// beside a dashboard, and through two processes of a portal, of which either continues
// logins of the other.
func TestPortalSingleSignOn(t *testing.T) {
	t.Run("in one process", func(t *testing.T) {
		s := serve(t, onSQLite(t.TempDir()).with(environment{"STORAGE_MAIN_TYPE": "memory", "PORTAL_SERVE": "shared"}).with(signOn))
		signsOn(t, s.addr, s.addr, "/portal") // the console is at /
	})
	t.Run("in two processes", func(t *testing.T) {
		dsn := harness.Database(t)
		one, _ := runPortal(t, onPostgres(t.TempDir(), dsn).with(signOn))
		two, _ := runPortal(t, onPostgres(t.TempDir(), dsn).with(signOn))
		signsOn(t, one, two, "/")
	})
}

// TestSingleSignOn follows an operator from the dashboard to an identity provider and back,
// through two processes of the dashboard: with the groups that the provider names, and
// never with a login begun by another person.
func TestSingleSignOn(t *testing.T) {
	server := logins.New(logins.Other)
	t.Cleanup(server.Close)
	all := launchAll(t, 2, onPostgres("", harness.Database(t)).bootstrapping().with(environment{"TIB_ENABLED": "true", "IDENTITYBROKER_PRIVATEPROVIDERS": "true", "HOSTCONFIG_HOSTNAME": signOnURL}))
	one, two := all[0], all[1]
	one.admin.do(t, "PUT", "/admin/organisations/"+orgID, object{"owner_name": "Example", "sso_enabled": true})
	var group, profile struct{ Meta string }
	if err := one.api.call(t.Context(), "POST", "/api/usergroups", object{"name": "Readers", "active": true, "user_permissions": object{"apis": "read"}}, &group); err != nil {
		t.Fatal(err)
	}
	body := object{"Name": "Ours", "ActionType": "GenerateOrLoginUserProfile", "ProviderName": "SocialProvider", "CustomUserGroupField": "groups", "UserGroupMapping": object{"operators": group.Meta}}
	if err := one.api.call(t.Context(), "POST", "/api/tib/profiles", body, &profile); err != nil {
		t.Fatal(err)
	}
	path := "/auth/" + profile.Meta + "/openid-connect"
	id, secret := server.Application(signOnURL + path + "/callback")
	body["ProviderConfig"] = object{"UseProviders": []object{{"Name": "openid-connect", "Key": id, "Secret": secret, "DiscoverURL": server.WellKnown()}}}
	one.api.do(t, "PUT", "/api/tib/profiles/"+profile.Meta, body)

	server.Seat(object{"sub": "7", "email": "ada@example.com", "email_verified": true, "groups": []string{"operators"}})
	back := leavesFor(t, one.addr, server, path)
	comes := func(addr string, b returning, status int) *http.Response {
		t.Helper()
		got := asks(t, addr, b.path, &http.Cookie{Name: "dashboard-login", Value: b.cookie})
		if got.StatusCode != status || status != http.StatusSeeOther && len(got.Cookies()) > 0 {
			t.Fatalf("a login ends with %d and %v, want %d", got.StatusCode, got.Cookies(), status)
		}
		return got
	}
	for _, c := range comes(two.addr, back, http.StatusSeeOther).Cookies() {
		if c.Name != "authorisation" {
			continue
		}
		for path, status := range map[string]int{"/api/apis": http.StatusOK, "/api/users": http.StatusForbidden, "/api/tib/profiles": http.StatusForbidden} {
			if got := asks(t, one.addr, path, c); got.StatusCode != status {
				t.Errorf("an operator with the group asks for %s: %d, want %d", path, got.StatusCode, status)
			}
		}
	}
	comes(one.addr, returning{leavesFor(t, one.addr, server, path).path, back.cookie}, http.StatusUnauthorized)
	server.Seat(object{"sub": "8", "email": "eve@example.com", "email_verified": true, "groups": []string{"others"}})
	comes(two.addr, leavesFor(t, one.addr, server, path), http.StatusForbidden) // no group gives any rights
	for _, token := range []string{secret, back.cookie} {
		if text := one.api.read(t, "/api/audit-logs"); strings.Contains(text, token) {
			t.Error("the trail has a secret")
		}
	}
}

// returning is a browser that returns from the identity provider.
type returning struct{ path, cookie string }

// signsOn logs users in, who get to the start page: a login that begins at one address ends
// at the other.
func signsOn(t *testing.T, one, two, home string) {
	t.Helper()
	server := logins.New(logins.Other)
	t.Cleanup(server.Close)
	portal := newClient("http://"+one, "Authorization", "none")
	enter(t, portal)
	other := newClient("http://"+two, "Authorization", "none")
	until(t, startLimit, "readiness of the other process", func() error { return other.call(t.Context(), "GET", "/ready", nil, nil) })
	for name, action := range map[string]string{"developers": "GenerateOrLoginDeveloperProfile", "admins": "GenerateOrLoginUserProfile"} {
		id, secret := server.Application(signOnURL + "/tib/auth/" + name + "/openid-connect/callback")
		portal.do(t, "POST", "/portal-api/sso_profiles", object{"ID": name, "ActionType": action, "ProviderName": "SocialProvider", "CustomUserGroupField": "groups", "UserGroupMapping": object{"engineers": "1"},
			"ProviderConstraintsDomain": "example.com", "ProviderConfig": object{"UseProviders": []object{{"Name": "openid-connect", "Key": id, "Secret": secret, "DiscoverURL": server.WellKnown()}}}})
	}
	server.Seat(object{"sub": "7", "email": "ada@example.com", "email_verified": true, "name": "Ada", "groups": []string{"engineers"}})

	back := leaves(t, one, server, "developers")
	session := returns(t, two, back, http.StatusSeeOther, home)
	if got := asks(t, one, "/portal/api/profile", session); got.StatusCode != http.StatusOK {
		t.Errorf("the session that began at the other process: %d", got.StatusCode)
	}
	returns(t, one, back, http.StatusForbidden, "") // the provider has redeemed the code
	returns(t, one, returning{leaves(t, one, server, "developers").path, back.cookie}, http.StatusUnauthorized, "")
	returns(t, two, leaves(t, one, server, "admins"), http.StatusForbidden, "") // a developer is not an admin

	server.Rotate()
	server.Seat(object{"sub": "8", "email": "boss@example.com", "email_verified": true})
	returns(t, one, leaves(t, two, server, "admins"), http.StatusSeeOther, "/admin")
	server.Seat(object{"sub": "9", "email": "eve@elsewhere.example", "email_verified": true})
	returns(t, one, leaves(t, two, server, "admins"), http.StatusForbidden, "")

	var users []struct{ Email, Role, SSOKey string }
	portal.get(t, "/portal-api/users", &users)
	found := fmt.Sprint(users)
	for _, want := range []string{"{ada@example.com consumer-admin", "{boss@example.com provider-admin"} {
		if !strings.Contains(found, want) {
			t.Errorf("%s is not among %s", want, found)
		}
	}
	if strings.Contains(found, "eve@") {
		t.Errorf("somebody of another domain has an account: %s", found)
	}
	server.Misbehave(logins.Tokens, logins.Down, -1)
	returns(t, one, leaves(t, one, server, "developers"), http.StatusServiceUnavailable, "")
}

// leaves goes from a portal to the identity provider, logs in there, and returns the
// redirect.
func leaves(t *testing.T, addr string, server *logins.Server, profile string) returning {
	t.Helper()
	return leavesFor(t, addr, server, "/tib/auth/"+profile+"/openid-connect")
}

// leavesFor is leaves for a login at a path.
func leavesFor(t *testing.T, addr string, server *logins.Server, path string) returning {
	t.Helper()
	got := asks(t, addr, path, nil)
	if got.StatusCode != http.StatusSeeOther || len(got.Cookies()) != 1 {
		t.Fatalf("a login begins with %d", got.StatusCode)
	}
	back, err := server.Sit(got.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(back, signOnURL+"/") {
		t.Fatal(back, err)
	}
	return returning{strings.TrimPrefix(back, signOnURL), got.Cookies()[0].Value}
}

// returns goes back to a portal, and returns the session cookie if there is one.
func returns(t *testing.T, addr string, b returning, status int, location string) *http.Cookie {
	t.Helper()
	got := asks(t, addr, b.path, &http.Cookie{Name: "portal-login", Value: b.cookie})
	if got.StatusCode != status || got.Header.Get("Location") != location {
		t.Errorf("a login ends with %d %q, want %d %q", got.StatusCode, got.Header.Get("Location"), status, location)
	}
	for _, c := range got.Cookies() {
		if c.Name == "portal-session" {
			if status != http.StatusSeeOther {
				t.Error("a login that is refused begins a session")
			}
			return c
		}
	}
	return nil
}

// asks opens a path without following redirects.
func asks(t *testing.T, addr, path string, c *http.Cookie) *http.Response {
	t.Helper()
	u, err := url.Parse("http://" + addr + path)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c != nil {
		req.AddCookie(c)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res
}

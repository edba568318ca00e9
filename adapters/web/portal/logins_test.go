package portal_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	pages "github.com/gatehouse-io/gatehouse/adapters/web/portal"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
)

// TestLoginsElsewhere states that the login page links to identity providers, and that a page
// shows why one of them refused a user.
func TestLoginsElsewhere(t *testing.T) {
	w := newWorldWith(t, func(p *app.Portal) {
		p.URL, p.SignOn = "https://portal.example.com", sso.Settings{Provider: &apptest.Vouching{}}
	})
	login := "/auth/password/login"
	if strings.Contains(w.shows(w.open(login), 200, "Log in").text, "Or log in with") {
		t.Error("there is nowhere else to log in")
	}
	const config = `"ProviderName":"SocialProvider","ProviderConfig":{"UseProviders":[{"Name":"openid-connect","Key":"portal","Secret":"secret","DiscoverURL":"https://login.example.com/.well-known/openid-configuration"}]}}`
	w.api("POST", "/portal-api/sso_profiles", `{"ID":"staff","Name":"<Engineers>","ActionType":"GenerateOrLoginDeveloperProfile",`+config)
	w.api("POST", "/portal-api/sso_profiles", `{"ID":"office","ActionType":"GenerateOrLoginUserProfile",`+config)
	w.api("POST", "/portal-api/sso_profiles", `{"ID":"directory","ActionType":"GenerateOrLoginDeveloperProfile","ProviderName":"ADProvider"}`)
	page := w.shows(w.open(login), 200, `href="/tib/auth/staff/openid-connect">&lt;Engineers&gt;</a>`, `href="/tib/auth/office/openid-connect">office (admins)</a>`)
	if strings.Contains(page.text, "directory") {
		t.Error("nobody can log in by a profile that this portal cannot carry out")
	}
	w.shows(w.submit(page, login, "login", "x@example.com", "password", "wrong"), 401, "Or log in with")

	for _, visibility := range []string{"Public", "Private", "Hidden"} {
		w.api("PUT", "/portal-api/settings", `{"PortalVisibility":"`+visibility+`"}`)
		w.fresh()
		w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		w.shows(w.open("/tib/auth/none/openid-connect"), 404, "<h1>There is no login at this address</h1>", "GO TO LOGIN")
		w.shows(w.open("/tib/auth/staff/openid-connect/callback?state=x&code=ada"), 401, "<!doctype html>", "GO TO LOGIN")
		w.shows(w.open("/sso?nonce=used"), 401, "<h1>This link has been used or is too old; log in again</h1>")
		away := w.shows(w.open("/tib/auth/staff/openid-connect"), 303)
		if !strings.HasPrefix(away.header.Get("Location"), "https://login.example.com/authorize?") || !strings.Contains(strings.Join(away.header.Values("Set-Cookie"), " "), "portal-login=") {
			t.Error(away.header)
		}
	}
	req, err := http.NewRequest("GET", w.server.URL+"/tib/auth/none/openid-connect", nil)
	must(t, err)
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	_ = resp.Body.Close()
	if resp.Header.Get("Content-Type") != "application/json" {
		t.Error("programs get what the API answers:", resp.Header)
	}
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// TestAdministratorsArrive: single sign-on sends administrators to /admin, which redirects to
// the portal if the portal has its own port.
func TestAdministratorsArrive(t *testing.T) {
	w := newWorld(t)
	w.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, path := range []string{"/admin", "/admin/"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+path, nil)
		must(t, err)
		r.Header.Set("Accept", "text/html")
		got, err := w.client.Do(r)
		must(t, err)
		must(t, got.Body.Close())
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/" {
			t.Errorf("%s: %d to %q", path, got.StatusCode, got.Header.Get("Location"))
		}
	}
}

// TestHomeElsewhere: if another service answers at "/", users get to the portal after login,
// and its links lead to its own start page.
func TestHomeElsewhere(t *testing.T) {
	w := newWorldWith(t, func(p *app.Portal) {
		p.Pages = fronted(func(c *pages.Config) { c.Home, c.Alone = "/portal", false })
	})
	w.api("POST", "/portal-api/menus/1/items", `{"Title":"Begin","Path":"/"}`)
	const login = "/auth/password/login"
	home := w.shows(w.submit(w.open(login), login, "login", "admin@example.com", "password", "secret"), 200, "Build with our APIs", `class="brand" href="/portal"`, `<a href="/portal" aria-current="page">Begin</a>`)
	if home.path != "/portal" {
		t.Error(home.path)
	}
	w.shows(w.open("/portal/"), 200, "Build with our APIs")
	w.shows(w.open("/sitemap.xml"), 200, w.server.URL+"/portal</loc>")
	w.shows(w.open("/admin"), 200, "Build with our APIs")
	w.shows(w.open("/portal/private/nothing"), 404, "Page not found")
	w.shows(w.open("/blog/nothing"), 404, "Page not found")
	for path, want := range map[string]int{"/portal": 200, "/portal/": 200, "/about-us": 404} { // programs that accept anything, such as probes: other addresses belong to the dashboard
		resp, err := http.Get(w.server.URL + path)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// TestArrivalEndsSession: a user who logs in by single sign-on has one session per browser.
func TestArrivalEndsSession(t *testing.T) {
	w := newWorldWith(t, func(p *app.Portal) { p.SignOn = sso.Settings{Secret: "of brokers"} })
	var first []*http.Cookie
	for range 2 {
		var minted struct{ Meta string }
		must(t, json.Unmarshal(w.with("of brokers", "POST", "/portal-api/sso", `{"ForSection":"portal","EmailAddress":"ada@example.com"}`), &minted))
		req, err := http.NewRequest("GET", w.server.URL+"/sso?nonce="+url.QueryEscape(minted.Meta), nil)
		must(t, err)
		if w.shown(req); first == nil {
			first = w.client.Jar.Cookies(req.URL)
		}
	}
	w.shows(w.open("/portal/private/profile"), 200, "ada@example.com")
	w.fresh()
	req, err := http.NewRequest("GET", w.server.URL+"/portal/private/profile", nil)
	must(t, err)
	for _, c := range first {
		req.AddCookie(c)
	}
	if p := w.shown(req); len(first) == 0 || strings.Contains(p.text, "ada@example.com") {
		t.Error("the first session holds still", first)
	}
}

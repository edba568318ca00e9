package portal_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// agent is a browser without scripts, whose cookies a test can copy.
type agent struct {
	w   *world
	jar *cookiejar.Jar
}

func (w *world) agent() *agent {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	must(w.t, err)
	return &agent{w, jar}
}

// ask sends a request and returns the answer; it does not follow redirects.
func (a *agent) ask(method, path string, form url.Values) (int, string, http.Header) {
	a.w.t.Helper()
	return a.from(nil, method, path, form)
}

// from is ask with the headers of a request from a page of another site.
func (a *agent) from(header http.Header, method, path string, form url.Values) (int, string, http.Header) {
	a.w.t.Helper()
	req, err := http.NewRequestWithContext(a.w.t.Context(), method, a.w.at+path, strings.NewReader(form.Encode()))
	must(a.w.t, err)
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("User-Agent", "agent")
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	c := http.Client{Jar: a.jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	must(a.w.t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(a.w.t, err)
	return resp.StatusCode, string(text), resp.Header
}

var proof = regexp.MustCompile(`name="csrf_token" value="([^"]*)"`)

// post sends a form with the CSRF token of a page.
func (a *agent) post(page, path string, fields ...string) (int, string) {
	a.w.t.Helper()
	_, text, _ := a.ask("GET", page, nil)
	form := url.Values{}
	if m := proof.FindStringSubmatch(text); m != nil {
		form.Set("csrf_token", m[1])
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	status, text, _ := a.ask("POST", path, form)
	return status, text
}

func (a *agent) enter(email, secret string) {
	a.w.t.Helper()
	if status, text := a.post("/auth/password/login", "/auth/password/login", "login", email, "password", secret); status != http.StatusSeeOther {
		a.w.t.Fatal(status, text)
	}
}

// inside reports whether the agent can see the profile.
func (a *agent) inside() bool {
	status, _, _ := a.ask("GET", "/portal/private/profile", nil)
	return status == http.StatusOK
}

// steal returns another agent with the same cookies.
func (a *agent) steal() *agent {
	a.w.t.Helper()
	thief := a.w.agent()
	at, err := url.Parse(a.w.at)
	must(a.w.t, err)
	thief.jar.SetCookies(at, a.jar.Cookies(at))
	return thief
}

// TestSessions: a cookie from before the login gives no access after it, and neither does
// one from before a logout, a change of the password or a deactivation.
func TestSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	fixed := w.agent()
	at, err := url.Parse(w.at)
	must(t, err)
	fixed.jar.SetCookies(at, []*http.Cookie{{Name: "portal-session", Value: "chosen-by-somebody-else", Path: "/"}})
	fixed.enter(developer, password)
	for _, c := range fixed.jar.Cookies(at) {
		if c.Name == "portal-session" && c.Value == "chosen-by-somebody-else" {
			t.Error("the login has kept a cookie that somebody else chose")
		}
	}
	if mallory := w.agent(); true {
		mallory.jar.SetCookies(at, []*http.Cookie{{Name: "portal-session", Value: "chosen-by-somebody-else", Path: "/"}})
		if mallory.inside() {
			t.Error("a cookie that was there before the login is a session after it")
		}
	}
	for name, end := range map[string]func(a *agent){
		"logout": func(a *agent) { a.post("/portal/private/profile", "/auth/logout") },
		"link":   func(a *agent) { a.ask("GET", "/auth/password/logout", nil) },
		"password": func(a *agent) {
			a.post("/portal/private/profile", "/portal/private/profile", "current_password", password, "password1", "another-passphrase", "password2", "another-passphrase")
		},
		"deactivation": func(*agent) { w.api("PUT", "/users/2", object{"Active": false}) },
	} {
		t.Run(name, func(t *testing.T) {
			w.api("PUT", "/users/2", object{"Active": true, "Password": password})
			a := w.agent()
			a.enter(developer, password)
			thief := a.steal()
			if !thief.inside() {
				t.Fatal("the session opens nothing while it lasts")
			}
			if end(a); thief.inside() {
				t.Errorf("the cookie opens pages after the %s", name)
			}
		})
	}
}

// payloads are texts that would run as scripts if they were used as markup, as an address,
// as a template or as a part of a script.
func payloads() (out []string) {
	seeds := []string{
		"<script>%s</script>", "<img src=x onerror=%s>", "<svg onload=%s>", "<svg><script>%s</script></svg>", "<body onload=%s>", "<iframe srcdoc='<script>parent.%s</script>'>", "<iframe src=javascript:%s>",
		"<a href=javascript:%s>x</a>", "javascript:%s", "JaVaScRiPt:%s", "java\tscript:%s", "data:text/html,<script>opener.%s</script>", "<details open ontoggle=%s>", "<input autofocus onfocus=%s>", "<video><source onerror=%s>",
		"<math><mtext><script>%s</script></mtext></math>", "<style>@import 'javascript:%s'</style>", "<object data=javascript:%s>", "<embed src=javascript:%s>", "<form action=javascript:%s><button>x", "<meta http-equiv=refresh content='0;url=javascript:%s'>",
		"<link rel=stylesheet href=javascript:%s>", "<base href=javascript:%s//>", "<template><script>%s</script></template>", "<noscript><img src=x onerror=%s></noscript>", "<marquee onstart=%s>", "${%s}", "{{%s}}", "{{constructor.constructor('%s')()}}", "'-%s-'",
	}
	for _, frame := range []string{"%s", "\"><!--%s", "'><!--%s", "</textarea>%s", "</title>%s", "</style>%s", "</script>%s", "--></option>%s", "\u2028%s", "a %s b"} {
		for _, s := range seeds {
			out = append(out, fmt.Sprintf(frame, strings.ReplaceAll(s, "%s", "window.pwned=1")))
		}
	}
	return out
}

// line returns a payload in the form of names: without the control characters that browsers
// drop from addresses.
func line(payload string) string { return strings.ReplaceAll(payload, "\t", "") }

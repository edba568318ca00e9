package portal_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app"
)

// TestStart: until a portal has its first admin, its start page is the form that creates one,
// for browsers and for probes; there is no other page. The form creates only one admin.
func TestStart(t *testing.T) {
	w := unbegun(t, func(*app.Portal) {})
	for accept, page := range map[string]bool{"": true, "*/*": true, "text/html": true, "application/json": false} {
		req, err := http.NewRequest("GET", w.server.URL+"/", nil)
		must(t, err)
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK || strings.Contains(resp.Header.Get("Content-Type"), "html") != page {
			t.Errorf("%q: %d %v", accept, resp.StatusCode, resp.Header)
		}
	}
	w.shows(w.open("/portal/catalogue-products"), 503)
	form := w.shows(w.open("/"), 200, "Start the portal", `name="password"`)
	good := []string{"username", "admin@example.com", "password", "a-good-password", "first_name", "Ada", "last_name", "Love<lace"}
	w.shows(w.submit(page{}, "/", good...), 400)
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		req, err := http.NewRequest("POST", w.server.URL+"/", strings.NewReader("username=a@example.com&password=a-good-password&csrf_token="+token.FindStringSubmatch(form.text)[1]))
		must(t, err)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set(name, map[string]string{"Origin": "https://other.example", "Sec-Fetch-Site": "cross-site"}[name])
		w.shows(w.shown(req), 400)
	}
	wrong := w.shows(w.submit(form, "/", "username", "nobody", "password", "a-bad", "first_name", `Ada">`), 422, "Email is invalid", "Password is too short", `value="Ada&#34;&gt;"`)
	if strings.Contains(wrong.text, "a-bad") {
		t.Error("the page has the password")
	}
	begun := w.shows(w.submit(form, "/", good...), 200, "The portal is started", "<code>ey")
	_, text, _ := strings.Cut(begun.text, "<code>")
	w.token, _, _ = strings.Cut(text, "</code>")
	if users := string(w.api("GET", "/portal-api/users", "")); !strings.Contains(users, "admin@example.com") {
		t.Error(users)
	}
	w.shows(w.submit(form, "/", good...), 405)
	if p := w.shows(w.open("/"), 200); strings.Contains(p.text, "Start the portal") {
		t.Error("the form is there for ever")
	}
}

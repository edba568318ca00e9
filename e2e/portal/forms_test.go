package portal_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	forms   = regexp.MustCompile(`(?s)<form\b([^>]*)>(.*?)</form>`)
	action  = regexp.MustCompile(`action="([^"]*)"`)
	links   = regexp.MustCompile(`<a\b[^>]*href="(/[^"#]*)`)
	numbers = regexp.MustCompile(`/\d+`)
	inputs  = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)
)

// sent is a form of a page.
type sent struct {
	page, action, body string
	fields             url.Values // hidden fields
}

// walk follows the links of pages and returns every form that changes something.
func (a *agent) walk(from ...string) (found []sent) {
	a.w.t.Helper()
	seen, known := map[string]bool{"/": true}, map[string]bool{}
	for len(from) > 0 && len(seen) < 300 {
		at := from[0]
		from = from[1:]
		path, _, _ := strings.Cut(at, "?")
		if seen[path] || strings.HasPrefix(path, "/portal/private/cart/remove/") || path == "/auth/logout" { // these links change the cart, or end the walk
			continue
		}
		seen[path] = true
		status, text, header := a.ask("GET", at, nil)
		if to := header.Get("Location"); strings.HasPrefix(to, "/") {
			from = append(from, to)
		}
		if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, l := range links.FindAllStringSubmatch(text, -1) {
			from = append(from, html.UnescapeString(l[1]))
		}
		for _, f := range forms.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(f[1], `method="post"`) {
				continue
			}
			one := sent{page: at, action: at, body: f[2], fields: url.Values{}}
			if m := action.FindStringSubmatch(f[1]); m != nil {
				one.action, _, _ = strings.Cut(html.UnescapeString(m[1]), "#")
			}
			for _, i := range inputs.FindAllStringSubmatch(f[2], -1) {
				one.fields.Set(i[1], html.UnescapeString(i[2]))
			}
			if key := one.action + one.fields.Get("mode") + one.fields.Get("cert-mode") + one.fields.Get("plan_id"); !known[key] {
				known[key] = true
				found = append(found, one)
			}
		}
	}
	return found
}

// TestEveryForm sends each form of each linked page: without its CSRF token, with another
// user's, and from a page of another site. Each is refused, and nothing changes.
func TestEveryForm(t *testing.T) {
	t.Parallel()
	w := offering(t)
	w.certified()
	stranger, member, other := w.agent(), w.agent(), w.agent()
	member.enter("ada@example.com", password)
	other.enter("bob@example.com", password)
	member.post("/portal/catalogue-products/payments", "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "1")
	_, page, _ := other.ask("GET", "/portal/private/profile", nil)
	foreign := proof.FindStringSubmatch(page)[1]
	state := func() (out []string) {
		for _, path := range []string{"/apps/1", "/apps/2", "/apps?page=-1", "/users?page=-1", "/organisations", "/access_requests?page=-1"} {
			out = append(out, string(w.api("GET", path, nil)))
		}
		return out
	}
	before := state()
	seen := map[string]bool{}
	for _, from := range []struct {
		a     *agent
		start []string
	}{
		{stranger, []string{"/portal/catalogue-products", "/auth/password/login", "/auth/password/register", "/auth/password/new", "/auth/reset/code?token=abc", "/auth/password/register?token=abc"}},
		{member, []string{"/portal/catalogue-products", "/portal/private/apps", "/portal/private/profile", "/portal/private/users", "/portal/private/organisation", "/portal/private/cart/provision", "/portal/private/analytics", "/auth/password/edit"}},
	} {
		for _, f := range from.a.walk(from.start...) {
			own := f.fields.Get("csrf_token")
			if own == "" {
				t.Errorf("%s: the form to %s has no proof", f.page, f.action)
			}
			seen[numbers.ReplaceAllString(strings.Split(f.action, "?")[0], "/N")+" "+f.fields.Get("mode")+f.fields.Get("cert-mode")] = true
			f.fields.Set("first", "Mallory")
			f.fields.Set("name", "Mallory")
			for _, token := range []string{"", "made-up", foreign} {
				f.fields.Set("csrf_token", token)
				if status, _, _ := from.a.ask("POST", f.action, f.fields); status != http.StatusBadRequest {
					t.Errorf("%s with the proof %q: %d", f.action, token, status)
				}
			}
			f.fields.Set("csrf_token", own)
			for _, header := range []http.Header{{"Origin": {"https://elsewhere.example"}}, {"Origin": {"null"}}, {"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}}} {
				if status, _, _ := from.a.from(header, "POST", f.action, f.fields); status != http.StatusBadRequest {
					t.Errorf("%s from %v: %d", f.action, header, status)
				}
			}
		}
	}
	if after := state(); !slices.Equal(before, after) {
		t.Errorf("there was\n%q\nand there is\n%q", before, after)
	}
	if !member.inside() {
		t.Error("a form of another site has ended the session")
	}
	var names []string
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, form := range []string{"update", "delete"} {
		if !seen["/portal/private/apps/N/cert/N "+form] {
			t.Errorf("no page has the form that does %s to a certificate", form)
		}
	}
	if len(seen) < 26 {
		t.Errorf("%d forms were found: %q", len(seen), names)
	}
	t.Logf("%d forms: %q", len(seen), names)
}

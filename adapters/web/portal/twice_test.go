package portal_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var ticket = regexp.MustCompile(`name="form_ticket" value="([^"]+)"`)

// twice sends a form twice, as a browser without scripts does when its button is pressed twice:
// both requests have the cookies of the form's page.
func (w *world) twice(p page, action string, fields ...string) {
	w.t.Helper()
	form := url.Values{"csrf_token": {token.FindStringSubmatch(p.text)[1]}}
	if m := ticket.FindStringSubmatch(p.text); m != nil {
		form.Set("form_ticket", m[1])
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	at, err := url.Parse(w.server.URL)
	must(w.t, err)
	cookies := w.client.Jar.Cookies(at)
	for range 2 {
		req, err := http.NewRequest("POST", w.server.URL+action, strings.NewReader(form.Encode()))
		must(w.t, err)
		for _, c := range cookies {
			req.AddCookie(c)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Referer", w.server.URL+p.path)
		resp, err := http.DefaultTransport.RoundTrip(req)
		must(w.t, err)
		must(w.t, resp.Body.Close())
		if resp.StatusCode != http.StatusSeeOther {
			w.t.Errorf("%s: %d", action, resp.StatusCode)
		}
	}
}

// TestTwice: a form that is sent twice makes one app, and one access request for each product.
// Another form with the same content makes another app, and so does the same form with other
// content, after a step back in the browser.
func TestTwice(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	count := func(path string) int {
		var list []any
		must(t, json.Unmarshal(w.api("GET", path, ""), &list))
		return len(list)
	}
	for n := 1; n <= 2; n++ {
		w.twice(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
		if got := count("/portal-api/apps"); got != n {
			t.Errorf("%d apps, want %d", got, n)
		}
	}
	form := w.open("/portal/private/apps/new")
	w.twice(form, "/portal/private/apps", "name", "Kiosk")
	w.twice(form, "/portal/private/apps", "name", "Other")
	if got := count("/portal-api/apps"); got != 4 {
		t.Errorf("%d apps, want 4", got)
	}
	for i, path := range []string{"/portal/catalogue-products/payments", "/portal/catalogue-products/shipping"} {
		w.submit(w.open(path), path, "product_id", string(rune('1'+i)), "catalogue_id", "1", "plan_id", string(rune('2'-i)))
	}
	const cart = "/portal/private/cart/provision"
	form = w.shows(w.open(cart), 200, "Payments", "Shipping")
	w.twice(form, cart, "app-action", "create", "client_name", "Kiosk of the cart", "redirect-to-app", "1")
	if apps, requests := count("/portal-api/apps"), count("/portal-api/access_requests"); apps != 5 || requests != 2 {
		t.Errorf("%d apps and %d access requests, want 5 and 2", apps, requests)
	}
	w.twice(form, cart, "app-action", "create", "client_name", "Kiosk of the cart", "redirect-to-app", "1", "plan-for-0", "1", "plan-for-1", "1")
	if apps, requests := count("/portal-api/apps"), count("/portal-api/access_requests"); apps != 5 || requests != 3 {
		t.Errorf("%d apps and %d access requests after another plan was chosen, want 5 and 3", apps, requests)
	}
}

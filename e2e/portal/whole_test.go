package portal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestWholeJourney goes from the registration to the deletion of the account, without
// scripts: with a cart and without, in a public portal, a private one and one that is
// hidden for a while, in one process and with the portal separate from its dashboard.
func TestWholeJourney(t *testing.T) {
	t.Parallel()
	for mode, home := range map[string]string{config.PortalAlone: "/", config.PortalShared: "/portal"} { // the console is at / if both are one process
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, mode)
			for _, j := range []struct{ flow, visibility string }{{"cart", "Public"}, {"direct", "Private"}} {
				t.Run(j.flow+", "+j.visibility, func(t *testing.T) {
					s.api("PUT", "/settings", object{"APIAccessFlow": j.flow, "PortalVisibility": j.visibility})
					s.travel(t, home, j.flow, j.flow+"@example.com", j.visibility)
				})
			}
		})
	}
}

// travel is the journey of one developer, whom the login redirects to home.
func (s *shop) travel(t *testing.T, home, flow, email, visibility string) {
	b := s.visitor(t)
	b.Scripts(false)
	b.Expect("/auth/password/login", "/portal/", s.at+"/")
	if b.Go("/portal/catalogue-products"); visibility == "Private" {
		b.See("This Portal is private")
	}
	b.Go("/auth/password/register")
	b.Fill("Email", email)
	b.Fill("First name", "Ada")
	b.Fill("Password", password)
	b.Fill("Password again", password)
	submit(b)
	b.See("An administrator looks at your registration")
	enter(b, email, password)
	b.See("Email or password is wrong")
	user := s.idOf("/users", "Email", email)
	s.api("PUT", "/users/"+user, object{"Active": true})
	s.mailed(email, "Your account is active")
	enter(b, email, password)
	b.Wait("location.pathname === '" + home + "'")

	// Find, read and request.
	b.Go("/portal/catalogue-products")
	b.See("Log out")
	b.Fill("Search", "refund")
	b.Click("Search")
	b.Wait("new URLSearchParams(location.search).get('search') === 'refund'")
	b.Click("Payments")
	b.Click("API specification")
	b.See("Take a payment")
	b.Go("/portal/catalogue-products/payments")
	if flow == "cart" {
		b.Click("Add to the cart")
		b.Click("Go to your cart")
	} else {
		b.Click("Ask for access")
	}
	b.Fill("Name", "Till of "+email)
	b.Wait(`(() => { [...document.querySelectorAll('main button')].at(-1).click(); return true; })()`)
	b.See("Your request is on its way")
	app := s.idOf("/apps", "Name", "Till of "+email)
	b.Go("/portal/private/apps/" + app)
	b.See("An administrator has to decide")
	b.See("There is no credential yet")
	s.api("PUT", "/access_requests/"+s.idOf("/access_requests", "Client", "Till of "+email)+"/approve", nil)

	// Call, rotate, call again.
	first := s.shown(b, app)
	s.answers(t, "the key", first, http.StatusOK)
	b.Click("Rotate")
	b.Click("Rotate now")
	b.See("The credential has another value")
	second := s.shown(b, app)
	s.answers(t, "the key before the rotation", first, http.StatusForbidden)
	for range 3 {
		s.answers(t, "the key after the rotation", second, http.StatusOK)
	}
	calls, patience := "", time.Now().Add(browser.Patience)
	for calls != "4" && time.Now().Before(patience) { // of both keys
		b.Go("/portal/private/analytics?app=" + app + "&days=7")
		b.See("The numbers")
		calls = browser.Value[string](b, "document.querySelector('table tbody tr:last-child td').textContent")
	}
	if calls != "4" {
		t.Fatalf("%s calls are counted, 4 were made", calls)
	}
	b.See("4 calls") // the chart's data as text

	// A hidden portal shows nothing; its credentials keep working.
	s.api("PUT", "/settings", object{"PortalVisibility": "Hidden"})
	for _, path := range []string{"/portal/catalogue-products", "/portal/private/apps/" + app, "/portal/private/profile"} {
		b.Go(path)
		b.See("This Portal is disabled")
	}
	s.answers(t, "the key while the portal is hidden", second, http.StatusOK)
	s.api("PUT", "/settings", object{"PortalVisibility": visibility})

	b.Go("/portal/private/profile/delete")
	b.Fill("Your password", "wrong")
	b.Click("Delete the account")
	b.See("wrong")
	b.Fill("Your password", password)
	b.Click("Delete the account")
	b.See("Your account is deleted")
	s.answers(t, "the key of a deleted account", second, http.StatusForbidden)
	enter(b, email, password)
	b.See("Email or password is wrong")
}

// shown returns the key on an app's page after it is revealed.
func (s *shop) shown(b *browser.Tab, app string) string {
	b.T.Helper()
	b.Go("/portal/private/apps/" + app)
	b.Click("Show")
	b.See("Keep it secret")
	return browser.Value[string](b, "document.querySelector('input[id^=secret-]').value")
}

// answers checks the status of a call with a key.
func (s *shop) answers(t *testing.T, what, key string, want int) {
	t.Helper()
	if got := s.call(key); got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// idOf returns the number of the record with a value.
func (s *shop) idOf(path, member string, value any) string {
	s.t.Helper()
	var list []object
	must(s.t, json.Unmarshal(s.api("GET", path+"?page=-1", nil), &list))
	for _, one := range list {
		if one[member] == value {
			return fmt.Sprint(one["ID"])
		}
	}
	s.t.Fatalf("no %s %v is among %v", member, value, list)
	return ""
}

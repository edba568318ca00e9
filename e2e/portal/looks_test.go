package portal_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// place is a page, or a state of one.
type place struct {
	name, path string
	sees       string
	refused    bool // its status is not 200, which the browser reports
}

// strangers are the pages without a session.
var strangers = []place{
	{"home", "/", "Featured products", false},
	{"content", "/about-us", "About us", false},
	{"catalogue", "/portal/catalogue-products", "6 products", false},
	{"search", "/portal/catalogue-products?search=refund", "Payments", false},
	{"search-nothing", "/portal/catalogue-products?search=xylophone", "No product matches", false},
	{"product", "/portal/catalogue-products/payments", "Your first payment", false},
	{"docs", "/portal/catalogue-products/payments/main/docs", "Take a payment", false},
	{"blog", "/blog", "What is new in version 3", false},
	{"login", "/auth/password/login", "Forgotten password?", false},
	{"login-private", "/auth/password/login?private=1", "This Portal is private", false},
	{"register", "/auth/password/register", "Password again", false},
	{"forgotten", "/auth/password/new", "Send the mail", false},
	{"reset", "/auth/reset/code?token=abc", "New password again", false},
	{"invited", "/auth/password/register?token=abc", "Finish your registration", false},
	{"absent", "/nothing-here", "Page not found", true},
}

// members are the pages of logged-in users.
var members = []place{
	{"profile", "/portal/private/profile", "Your password", false},
	{"team", "/portal/private/users", "Team", false},
	{"organisation", "/portal/private/organisation", "Organisation", false},
	{"password", "/auth/password/edit", "New password again", false},
}

// users are the pages of users with apps (see world.offer).
var users = []place{
	{"product-plans", "/portal/catalogue-products/payments", "Add to the cart", false},
	{"try", "/portal/catalogue-products/payments/pay/try", "Calls go to", false},
	{"cart", "/portal/private/cart/provision", "A new app", false},
	{"apps", "/portal/private/apps", "Pays", false},
	{"app-new", "/portal/private/apps/new", "Redirect addresses", false},
	{"app", "/portal/private/apps/1", "Rotate", false},
	{"app-pending", "/portal/private/apps/2", "An administrator has to decide", false},
	{"app-empty", "/portal/private/apps/3", "There is no credential yet", false},
	{"usage", "/portal/private/analytics?app=1&days=7", "The numbers", false},
	{"invite", "/portal/private/users/invite", "Send the invitation", false},
	{"people", "/portal/private/users", "bob@example.com", false},
	{"colleague", "/portal/private/users/3", "Change", false},
	{"colleague-edit", "/portal/private/users/3/edit", "Remove from the organisation", false},
	{"leave", "/portal/private/profile/delete", "Your password", false},
}

func look(b *browser.Tab, all []place) {
	b.T.Helper()
	for _, p := range all {
		if p.refused {
			b.Expect(p.path)
		}
		b.Go(p.path)
		b.See(p.sees)
		b.Looks(p.name)
	}
}

// TestLooks: every page and state, in light and dark, on a phone, a tablet and a desktop
// screen, fits the window and is accessible.
func TestLooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	for name, rest := range map[string]func(t *testing.T){
		"strangers": func(t *testing.T) { look(w.visitor(t), strangers) },
		"members":   func(t *testing.T) { look(w.loggedIn(t, developer), members) },
		"wrong": func(t *testing.T) {
			b := w.visitor(t)
			b.Expect("/auth/password/login", "/auth/password/register")
			enter(b, "nobody@example.com", "wrong")
			b.See("Email or password is wrong")
			b.Looks("login-wrong")
			b.Go("/auth/password/register")
			b.Fill("Email", "grace@elsewhere.example")
			b.Fill("First name", "Grace")
			b.Fill("Password", "short")
			b.Fill("Password again", "another")
			submit(b)
			b.See("not the same")
			b.Looks("register-wrong")
		},
	} {
		t.Run(name, rest)
	}
	w.api("PUT", "/settings", object{"RegistrationEnabled": false})
	b := w.visitor(t)
	b.Expect("/auth/password/register", w.at+"/")
	look(b, []place{{"closed", "/auth/password/register", "GO TO LOGIN", true}})
	w.api("PUT", "/settings", object{"PortalVisibility": "Hidden"})
	look(b, []place{{"hidden", "/", "This Portal is disabled", true}})
}

// TestLooksOfApps is TestLooks for the pages of users with apps. Folded parts are open.
func TestLooksOfApps(t *testing.T) {
	t.Parallel()
	w := offering(t)
	parts := 3
	for n := range parts {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			b := w.filled(t)
			for i, p := range users {
				if i%parts == n {
					b.Go(p.path)
					b.See(p.sees)
					must(t, b.Run("document.querySelectorAll('details').forEach(d => { d.open = true })", nil))
					b.Looks(p.name)
				}
			}
		})
	}
	t.Run("states", func(t *testing.T) {
		t.Parallel()
		b := w.filled(t)
		b.Expect("/portal/private/")
		b.Go("/portal/private/apps/1")
		b.Click("Show")
		b.See("Keep it secret")
		b.Looks("app-shown")
		b.Go("/portal/private/cart/provision")
		b.Fill("Redirect addresses", "/back")
		b.Wait(`(() => { [...document.querySelectorAll('main button')].at(-1).click(); return true; })()`)
		b.See("Redirect addresses are invalid")
		b.Looks("cart-wrong")
		b.Go("/portal/private/apps/1")
		unfold := "document.querySelectorAll('details').forEach(d => { d.open = true })"
		must(t, b.Run(unfold, nil))
		b.Fill("Address that gets the messages", "http://127.0.0.1:9/messages")
		b.Check("order.paid")
		b.Click("Save the subscription")
		b.See("The subscription is saved")
		must(t, b.Run(unfold, nil))
		b.Click("Send a test message")
		b.See("The test message has not arrived")
		must(t, b.Run("document.querySelector('.note.bad').scrollIntoView({ block: 'center' })", nil))
		b.Looks("app-tested")
		b.Go("/portal/private/profile/delete")
		b.Fill("Your password", "wrong")
		b.Click("Delete the account")
		b.See("wrong")
		b.Looks("leave-wrong")
	})
}

// TestPrint prints documentation and products: without controls, with the whole text, dark on
// white whatever the screen shows.
func TestPrint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.visitor(t)
	for _, p := range []place{strangers[6], strangers[5], strangers[7], strangers[1]} {
		b.Colours("dark")
		b.Go(p.path)
		b.See(p.sees)
		b.Print()
		b.Size(794, 1123) // A4
		if left := browser.Value[[]string](b, `[...document.querySelectorAll('nav, header.top, footer, form, button, .button, .skip')].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 80))`); len(left) > 0 {
			t.Errorf("%s prints %q", p.name, left)
		}
		if hidden := browser.Value[[]string](b, `[...document.querySelectorAll('main :is(h1, h2, h3, h4, p, pre, td)')].filter(e => !e.closest('form, nav, .trail, .side, .hidden') && e.textContent.trim() && !e.checkVisibility()).map(e => e.outerHTML.slice(0, 80))`); len(hidden) > 0 {
			t.Errorf("%s does not print %q", p.name, hidden)
		}
		const dark = `(c => c.match(/\d+/g).slice(0, 3).every(n => n < 110))`
		if !browser.Value[bool](b, dark+`(getComputedStyle(document.querySelector('h1')).color) && getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'`) {
			t.Errorf("%s prints light on dark", p.name)
		}
		if over := browser.Value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
			t.Errorf("%s is %d pixels wider than the paper", p.name, over)
		}
		b.Picture("print-" + p.name)
	}
}

// TestWidths opens pages in windows from 320 to 2560 pixels, and from right to left.
func TestWidths(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.visitor(t)
	for _, p := range strangers[:8] {
		b.Go(p.path)
		b.See(p.sees)
		for _, direction := range []string{"ltr", "rtl"} {
			must(t, b.Run("void (document.documentElement.dir = '"+direction+"')", nil))
			for _, width := range []int64{320, 360, 768, 1440, 2560} {
				b.Size(width, 900)
				if over := browser.Value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s, %s: %d pixels wider than %d", p.name, direction, over, width)
				}
			}
		}
	}
}

package portal_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestJourney registers, waits for an admin, logs in, finds a product, reads its documentation,
// changes the own account and logs out: without scripts, in one process and with a separate portal.
func TestJourney(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{config.PortalAlone, config.PortalShared} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, mode)
			w.stock()
			b := w.visitor(t)
			b.Scripts(false)
			b.Expect("/auth/password/login", "/portal/private/profile")
			b.Go("/auth/password/register")
			b.Fill("Email", "ada@example.com")
			b.Fill("First name", "Ada")
			b.Fill("Password", password)
			b.Fill("Password again", password)
			submit(b)
			b.See("An administrator looks at your registration")
			enter(b, "ada@example.com", password)
			b.See("Email or password is wrong")
			w.api("PUT", "/users/3", object{"Active": true})
			b.Go("/portal/private/profile") // redirects to the login, and back
			b.Fill("Email", "ada@example.com")
			b.Fill("Password", password)
			submit(b)
			b.See("Your password")
			b.Go("/portal/catalogue-products") // "/" is the console if the portal is shared
			b.Fill("Search", "refund")
			b.Click("Search")
			b.See("1 product")
			b.Click("Payments")
			b.See("Your first payment")
			b.Click("API specification")
			b.See("Take a payment")
			b.Go("/portal/private/profile")
			b.Fill("Last name", "Lovelace")
			b.Click("Save")
			b.See("Your changes are saved")
			b.See("Ada Lovelace")
			b.Fill("Current password", "wrong")
			b.Fill("New password", "another-passphrase")
			b.Fill("New password again", "another-passphrase")
			b.Click("Change the password")
			b.See("The current password is wrong")
			b.Click("Log out")
			b.See("You are logged out")
		})
	}
}

// submit sends the form of the page.
func submit(b *browser.Tab) {
	b.T.Helper()
	b.Wait(`(() => { document.querySelector('main form button').click(); return true; })()`)
}

// TestVisibility opens a private portal, and a hidden one.
func TestVisibility(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	w.api("PUT", "/settings", object{"PortalVisibility": "Private"})
	b := w.visitor(t)
	b.Expect(w.at + "/")
	for _, path := range []string{"/", "/portal/catalogue-products", "/blog"} {
		b.Go(path)
		b.See("This Portal is private")
	}
	b.Fill("Email", developer)
	b.Fill("Password", password)
	submit(b)
	b.See("What is new in version 3") // the page that was requested before the login
	w.api("PUT", "/settings", object{"PortalVisibility": "Hidden"})
	b.Go("/portal/catalogue-products")
	b.See("This Portal is disabled")
	other := w.visitor(t)
	enter(other, admin, password)
	other.See("Featured products")
}

// TestKeyboard logs in and finds a product using only the keyboard, and the focus is always
// visible.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.visitor(t)
	to := func(name string) { t.Helper(); reach(b, name) }
	b.Go("/auth/password/login")
	b.See("Forgotten password?")
	to("Skip to the content")
	b.Press("\r")
	to("Email *")
	b.Press(developer)
	to("Password *")
	b.Press(password)
	b.Press("\r")
	b.See("Featured products")
	to("Search the catalogue")
	b.Press("refund")
	b.Press("\r")
	b.See("1 product")
	to("Payments")
	b.Press("\r")
	b.See("Your first payment")
	to("API specification")
	b.Press("\r")
	b.See("Take a payment")
}

// TestKeyboardOfStrangers registers using only the keyboard, reads the errors at their fields, and
// logs in after an admin's approval.
func TestKeyboardOfStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.visitor(t)
	b.Expect("/auth/password/register")
	b.Go("/")
	b.See("Featured products")
	reach(b, "Register")
	b.Press("\r")
	b.See("Password again")
	for _, again := range []string{"another-passphrase", password} {
		for _, f := range [][2]string{{"Email *", "ada@example.com"}, {"First name *", "Ada"}, {"Password *", password}, {"Password again *", again}} {
			reach(b, f[0])
			if f[0][0] == 'P' || again != password {
				b.Press(f[1])
			}
		}
		b.Press("\r")
		if again != password {
			b.See("not the same")
		}
	}
	b.See("An administrator looks at your registration")
	w.api("PUT", "/users/3", object{"Active": true})
	reach(b, "Email *")
	b.Press("ada@example.com")
	reach(b, "Password *")
	b.Press(password)
	b.Press("\r")
	b.See("Log out")
}

// reach presses Tab until an element has the focus, which must be visible.
func reach(b *browser.Tab, name string) {
	b.T.Helper()
	for range 80 {
		b.Press("\t")
		at := browser.Value[string](b, `(e => e === document.body ? '' : (e.labels?.[0]?.innerText ?? e.innerText ?? '').trim().replace(/\s+/g, ' '))(document.activeElement)`)
		if at != "" && !browser.Value[bool](b, `(s => s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))`) {
			b.T.Errorf("%q has the focus, and nothing shows it", at)
		}
		if at == name {
			return
		}
	}
	b.T.Fatalf("no key leads to %q", name)
}

// TestKeyboardOfApps requests access, shows and rotates a key and logs out, using only the
// keyboard.
func TestKeyboardOfApps(t *testing.T) {
	t.Parallel()
	w := offering(t)
	b := w.visitor(t)
	enter(b, "ada@example.com", password)
	b.Wait("location.pathname === '/portal'")
	step := func(name, keys, sees string) {
		t.Helper()
		reach(b, name)
		b.Press(keys)
		b.See(sees)
	}
	b.Go("/portal/catalogue-products")
	b.See("Log out")
	step("Payments", "\r", "Plans")
	step("Add to the cart with Open", "\r", "The product is in your cart")
	step("Go to your cart", "\r", "A new app")
	reach(b, "Name")
	b.Press("Keyboard")
	step("Ask for access", "\r", "Access is granted")
	step("Show the credential for Payments", "\r", "Keep it secret")
	step("Rotate", "\r", "The old value stops working at once")
	step("Rotate now", "\r", "The credential has another value")
	b.Go("/portal/private/profile")
	step("Delete your account", "\r", "Your apps go too")
	reach(b, "Your password *")
	b.Press(password)
	step("Delete the account", "\r", "Your account is deleted")
}

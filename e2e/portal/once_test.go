package portal_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestFormsGoOnce clicks the button of a form repeatedly while its answer is pending: it is
// sent once. With another value it is sent again.
func TestFormsGoOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.loggedIn(t, developer)
	b.Go("/portal/private/apps/new")
	b.Fill("Name", "Till")
	must(t, b.Run(`window.sent = 0; addEventListener("submit", (e) => { if (!e.defaultPrevented) window.sent++; e.preventDefault(); });`, nil))
	const clicks = `(() => { const f = document.querySelector("main form"); for (let i = 0; i < 3; i++) f.querySelector("button").click(); return window.sent; })()`
	if n := browser.Value[int](b, clicks); n != 1 {
		t.Errorf("three clicks send the form %d times", n)
	}
	b.Fill("Name", "Desk")
	if n := browser.Value[int](b, clicks); n != 2 {
		t.Errorf("after another entry the form has gone %d times", n)
	}
	must(t, b.Run(`dispatchEvent(new Event("pageshow"))`, nil)) // the user has returned to the page
	if n := browser.Value[int](b, clicks); n != 3 {
		t.Errorf("on the page that is shown again the form has gone %d times", n)
	}
}

package portal_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// TestViewers shows descriptions with each of the viewers. The browser reports no
// errors: no policy is violated, and no other host is called.
func TestViewers(t *testing.T) {
	at := "/portal/catalogue-products/payments/main/docs"
	t.Run("elements", func(t *testing.T) {
		w := newWorld(t, config.PortalAlone)
		w.stock()
		b := w.visitor(t)
		b.Go(at)
		b.Click("Interactive view")
		b.See("Take payments in 30 currencies.")
		b.See("https://api.example.com/payments")
		b.Wait(`(() => { const a = [...document.querySelectorAll('elements-api svg')]; return a.length > 0 && a.every(i => i.getBoundingClientRect().width < 40); })()`)
	})
	t.Run("redoc", func(t *testing.T) {
		w := newWorld(t, config.PortalAlone, "PORTAL_DOCRENDERER=redoc")
		w.stock()
		b := w.visitor(t)
		b.Go(at + "?embed=1")
		b.See("Take a payment")
		b.Wait(`getComputedStyle(document.querySelector('#viewer .menu-content')).position === 'sticky'`)
	})
	t.Run("graphiql", func(t *testing.T) {
		w := newWorld(t, config.PortalAlone)
		w.stock()
		w.upload("PUT", "/products/2/spec-details/2/graphql/schema", "pets.graphql", "\"Root of all\"\ntype Query {\n  \"Those for sale\"\n  pets: [String]\n}\n")
		b := w.visitor(t)
		b.Go("/portal/catalogue-products/shipping/main/docs")
		b.Click("Playground")
		b.Wait(`(() => { const i = document.querySelector('.graphiql-sidebar button'); i?.click(); return !!i; })()`)
		b.See("Root Types")
		b.Wait(`(() => { document.querySelector('.graphiql-execute-button').click(); return true; })()`)
		b.See("Log in, and choose an API")
		if n := browser.Value[int](b, `document.querySelectorAll('.graphiql-editor-tools button').length`); n < 2 {
			t.Error("variables and headers have no editors")
		}
	})
}

// TestSearchAsYouType finds products while the user types, and the address follows.
func TestSearchAsYouType(t *testing.T) {
	w := newWorld(t, config.PortalAlone)
	w.stock()
	b := w.visitor(t)
	b.Go("/portal/catalogue-products")
	b.See("6 products")
	b.Wait(`(() => { const i = document.querySelector('#search'); i.value = 'refnud'; i.dispatchEvent(new Event('input', {bubbles: true})); return true; })()`)
	b.See("1 product")
	b.Wait(`document.querySelector('.found mark')?.textContent === 'refund' && location.search === '?search=refnud'`)
	b.Wait(`(() => { document.querySelector('.found a').click(); return true; })()`)
	b.Wait(`location.hash.startsWith('#post-payments-id-refund-') && document.querySelector(location.hash) !== null`)
}

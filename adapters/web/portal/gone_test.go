package portal_test

import (
	"strings"
	"testing"
)

// TestGone shows an app whose products and plan are deleted, one after the other: the page
// says why gateways refuse its calls.
func TestGone(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.approved("1", "2", "1,2")
	w.approved("1", "1", "1")
	const app = "/portal/private/apps/1"
	if p := w.shows(w.open(app), 200, "Payments, Shipping"); strings.Contains(p.text, "note bad") {
		t.Error("something is said to be wrong with a credential that works")
	}
	w.api("PUT", "/portal-api/products/1", `{"APIDetails":[]}`)
	w.shows(w.open(app), 200, "Payments has no APIs at the moment: gateways refuse calls to it.")
	w.shows(w.open("/portal/catalogue-products/payments"), 200, "This product is documentation only: there is nothing to ask access for.")
	w.api("PUT", "/portal-api/products/1", `{"APIDetails":[{"APIID":"pay"}]}`)
	if p := w.open(app); strings.Contains(p.text, "note bad") {
		t.Error("something is said to be wrong with a product that is back")
	}
	w.api("DELETE", "/portal-api/products/2", "")
	if p := w.shows(w.open(app), 200, "Shipping is not there any more: gateways may refuse calls."); strings.Contains(p.text, "catalogue-products/shipping") {
		t.Error("the page leads to a product that is not there")
	}
	w.api("DELETE", "/portal-api/plans/2", "")
	if p := w.shows(w.open(app), 200, "The plan Open is not there any more"); strings.Contains(p.text, "The plan Gold") {
		t.Error("a plan that is there is said to be gone")
	}
	w.api("DELETE", "/portal-api/plans/1", "") // a waiting request is rejected with it
	w.shows(w.open(app), 200, "The plan Gold is not there any more")
}

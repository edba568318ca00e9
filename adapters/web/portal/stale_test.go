package portal_test

import (
	"strings"
	"testing"
)

// TestCartChanges sends the form of a cart that has changed since, in another window or because a
// product is no longer offered. No product gets the plan that was chosen for another.
func TestCartChanges(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	const at, why = "/portal/private/cart/provision", "Your cart has changed since this form was shown"
	payments := w.open("/portal/catalogue-products/payments")
	w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "1")
	w.submit(payments, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "2")
	cart := w.shows(w.open(at), 200, `name="cart" value="0.1.1 1.1.2"`)
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[]}`)
	order := []string{"app-action", "create", "client_name", "Till", "plan-for-0", "1", "plan-for-1", "2"}
	w.shows(w.submit(cart, at, append(order, "cart", "0.1.1 1.1.2")...), 422, why, `value="Till"`)
	w.shows(w.submit(cart, at, order...), 422, why) // of a theme whose form does not identify its cart
	if p := w.open("/portal/private/apps"); strings.Contains(p.text, "Till") {
		t.Error("access is asked for by a form of another cart")
	}
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[1]}`)
	w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "1")
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[]}`)
	w.shows(w.open(at), 200, "Products that are no longer offered were removed from your cart.", "Shipping")
	if p := w.open(at); strings.Contains(p.text, "not offered any more") {
		t.Error("it is said for ever that something is out of the cart")
	}
	// The form keeps the chosen plan.
	cart = w.open(at)
	w.shows(w.submit(cart, at, "cart", "0.1.2", "app-action", "create", "client_name", "", "plan-for-0", "1"), 422, "Name can&#39;t be blank", `<option value="1" selected>Gold`)
	w.shows(w.submit(cart, at, "cart", "0.1.2", "app-action", "create", "client_name", "Till", "plan-for-0", "2", "redirect-to-app", "1"), 200, "Access is granted")
	// The same form again, as after going back in the browser.
	w.shows(w.submit(cart, at, "cart", "0.1.2", "app-action", "create", "client_name", "Till", "plan-for-0", "2", "redirect-to-app", "1"), 422, why, "There is nothing to ask for")
}

// TestFormsAfterTheEnd sends forms after the session has ended: the login page says that nothing
// was done, and returns to the form.
func TestFormsAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	form := w.open("/portal/private/apps/new")
	w.submit(form, "/auth/logout")
	p := w.shows(w.submit(form, "/portal/private/apps", "name", "Till"), 200, "Your session has ended, so the form you sent was not processed", `name="next" value="/portal/private/apps/new"`)
	w.shows(w.submit(p, "/auth/password/login", "login", "ada@example.com", "password", "secret", "next", "/portal/private/apps/new"), 200, "<h1>New app</h1>")
	if p := w.open("/portal/private/apps/1"); strings.Contains(p.text, "Till") {
		t.Error("the app is there")
	}
	if p := w.open("/auth/password/login?next=/portal/private/apps"); strings.Contains(p.text, "not logged in any more") {
		t.Error("a login without a form says that one is not done")
	}
}

// TestRefusedItem requests three products of which the second is refused: the page names it.
func TestRefusedItem(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("POST", "/portal-api/plans", `{"Name":"Once","ProviderID":1,"RateLimit":1,"Per":1,"Quota":-1,"PlanQuota":1,"PlanQuotaRenewalRate":-1,"Catalogues":[1,2]}`)
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[1,2]}`)
	w.as("eve")
	form := w.open("/portal/catalogue-products/payments")
	w.submit(form, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "3")
	w.submit(form, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "2", "plan_id", "3")
	w.submit(form, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "1")
	cart := w.open("/portal/private/cart/provision")
	p := w.shows(w.submit(cart, "/portal/private/cart/provision", "client_name", "Till"), 422, "Plan access quota exceeded")
	refused, other, _ := strings.Cut(p.text, "Shipping</a>")
	if !strings.Contains(refused, "This could not be asked for.") || strings.Contains(other, "This could not be asked for.") {
		t.Error("the page does not tell what is refused")
	}
}

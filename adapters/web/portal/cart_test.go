package portal_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestCart puts products into the cart, removes one, and requests access: for a new app, for an
// existing one, and with an existing credential.
func TestCart(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.shows(w.open("/portal/catalogue-products/payments"), 200, "Log in to ask for access")
	w.as("ada")
	w.shows(w.open("/portal/private/cart/provision"), 200, "There is nothing to ask for")
	payments := w.shows(w.open("/portal/catalogue-products/payments"), 200, "Add to the cart", `name="plan_id" value="2"`)
	shipping := w.open("/portal/catalogue-products/shipping")
	w.shows(w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1"), 400, "Choose a plan")
	w.shows(w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "2"), 200, "The product is in your cart", "Go to your cart", `<span class="badge">1<`)
	w.submit(shipping, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "1")
	cart := w.shows(w.open("/portal/private/cart/provision"), 200, "Payments", "Shipping", "plan-for-0", "plan-for-1", "Take Shipping out", "A new app", "Who may use it")
	w.shows(w.open("/portal/private/cart/remove/1/2"), 200, "out of your cart")
	if p := w.open("/portal/private/cart/provision"); strings.Contains(p.text, "Shipping") {
		t.Error("what was taken out is there")
	}
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "create", "client_name", "", "description", "Kept", "redirect_urls", "/back"), 422, "Name can&#39;t be blank", "Redirect addresses are invalid", ">Kept<")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "create", "client_name", "Till", "redirect-to-app", "1"), 200, "Access is granted", "<h1>Till</h1>", "Rotate now", "approved")
	w.shows(w.open("/portal/private/cart/provision"), 200, "There is nothing to ask for")

	// An existing credential gets another product.
	w.submit(shipping, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "1")
	w.shows(w.open("/portal/private/cart/provision"), 200, "One that the app has", "Till: Payments (Open)")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "1", "credential_action", "reuse_existing", "credential_id", "1", "redirect-to-app", "1"), 422, "The credential has another plan")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "99"), 422, "choose another one")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing"), 422, "Choose an app")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "1", "credential_action", "reuse_existing", "credential_id", "99"), 422, "The credential is invalid")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "1", "plan-for-0", "2", "credential_action", "reuse_existing", "credential_id", "1", "redirect-to-app", "1"), 200, "Access is granted", "Payments, Shipping")
	if w.log.Len() > 0 {
		t.Error(w.log)
	}
}

// TestCartInVain: a new app that gets no access is deleted again, and the form keeps its
// values.
func TestCartInVain(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.as("ada")
	payments := w.open("/portal/catalogue-products/payments")
	w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "2")
	cart := w.open("/portal/private/cart/provision")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "create", "client_name", "Vain", "plan-for-0", "999"), 422, "The plan", `value="Vain"`)
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "create", "client_name", "Vain", "credential_action", "reuse_existing", "credential_id", "999"), 422, "A new app has no credential to use again", `value="Vain"`)
	if p := w.shows(w.open("/portal/private/apps"), 200); strings.Contains(p.text, "Vain") {
		t.Error("an app is there that has access to nothing")
	}
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "create", "client_name", "Till", "redirect-to-app", "1"), 200, "Access is granted", "<h1>Till</h1>")
}

// TestCartPartly requests two products of which one is refused: the other is granted, and
// removed from the cart.
func TestCartPartly(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("POST", "/portal-api/plans", `{"Name":"Once","ProviderID":1,"RateLimit":1,"Per":1,"Quota":-1,"PlanQuota":1,"PlanQuotaRenewalRate":-1,"Catalogues":[1]}`)
	w.as("eve")
	form := w.open("/portal/catalogue-products/payments")
	w.submit(form, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "1")
	w.submit(form, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "3")
	cart := w.open("/portal/private/cart/provision")
	if strings.Contains(cart.text, "Who may use it") {
		t.Error("somebody without colleagues is asked who may use the app")
	}
	if p := w.shows(w.submit(cart, "/portal/private/cart/provision", "client_name", "", "plan-for-0", "3", "plan-for-1", "3"), 422, "blank"); strings.Contains(p.text, "This could not be asked for") {
		t.Error("a product is said to be refused, and the app is")
	}
	w.shows(w.submit(cart, "/portal/private/cart/provision", "client_name", "Till", "plan-for-0", "3", "plan-for-1", "3"), 422, "Plan access quota exceeded", "Your request for Payments was sent and is out of the cart.", "Shipping", `<option value="1" selected>Till`)
	if p := w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "1", "plan-for-0", "3"); strings.Contains(p.text, "was sent") {
		t.Error("a request is said to be made, and is not")
	}
	w.shows(w.submit(cart, "/portal/private/cart/provision", "app-action", "existing", "selected-app", "1", "plan-for-0", "1"), 200, "Your request is on its way. The page of the app", "Go to your apps")
	app := w.shows(w.open("/portal/private/apps/1"), 200, "pending", "An administrator has to decide", "Withdraw the request")
	w.shows(w.submit(app, "/portal/private/apps/1/access-requests/1", "mode", "delete"), 200, "The access request is gone")
}

// TestCartOfOffers: only offered products can be put into the cart, and products that are no
// longer offered are removed.
func TestCartOfOffers(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("POST", "/portal-api/plans", `{"Name":"Elsewhere","ProviderID":1,"RateLimit":1,"Per":1,"Quota":-1,"Catalogues":[2]}`)
	w.as("ada")
	const at = "/portal/catalogue-products/payments"
	form := w.open(at)
	for _, wrong := range [][]string{{"9", "1", "2"}, {"2", "1", "2"}, {"1", "9", "2"}, {"1", "2", "2"}, {"1", "1", "9"}, {"1", "1", "3"}} {
		w.shows(w.submit(form, at, "product_id", wrong[0], "catalogue_id", wrong[1], "plan_id", wrong[2]), 422, "not offered under this plan")
	}
	w.shows(w.submit(form, at, "product_id", "1", "catalogue_id", "1", "plan_id", "2"), 200, `<span class="badge">1<`)
	w.submit(form, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "1", "plan_id", "2")
	w.api("PUT", "/portal-api/products/1", `{"Catalogues":[]}`)
	w.shows(w.open("/portal/private/cart/provision"), 200, `<span class="badge">1<`, "Shipping")
	w.shows(w.open("/portal/catalogue-products"), 200, `<span class="badge">1<`)
}

// TestCartOfCatalogue requests the products of one catalogue in the cart: the rest stays there.
func TestCartOfCatalogue(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/products/2", `{"Catalogues":[1,2]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Free","ProviderID":1,"RateLimit":1,"Per":1,"Quota":-1,"AutoApproveAccessRequests":true,"Catalogues":[1,2]}`)
	w.as("ada")
	form := w.open("/portal/catalogue-products/payments")
	w.submit(form, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "2")
	w.submit(form, "/portal/catalogue-products/shipping", "product_id", "2", "catalogue_id", "2", "plan_id", "3")
	cart := w.shows(w.open("/portal/private/cart/provision"), 200, "Payments", "Shipping", `name="plan-for-1"`)
	w.shows(w.submit(cart, "/portal/private/cart/provision", "catalogue-id", "9", "client_name", "Till"), 422, "There is nothing to ask for", "Payments", "Shipping")
	w.shows(w.submit(cart, "/portal/private/cart/provision", "catalogue-id", "2", "client_name", "Till", "plan-for-1", "999"), 422, "The plan", "Payments", "Shipping")
	app := w.shows(w.submit(cart, "/portal/private/cart/provision", "catalogue-id", "2", "client_name", "Till", "plan-for-1", "3", "redirect-to-app", "1"), 200, "Access is granted", "Shipping")
	if strings.Contains(app.text, "Payments") {
		t.Error("the app has access to what is of another catalogue")
	}
	w.shows(w.open("/portal/private/cart/provision"), 200, "Payments")
}

// TestDirect requests access without a cart, and reads forged carts.
func TestDirect(t *testing.T) {
	w := newWorld(t)
	w.offering()
	w.api("PUT", "/portal-api/settings", `{"APIAccessFlow":"direct"}`)
	w.as("ada")
	payments := w.shows(w.open("/portal/catalogue-products/payments"), 200, "Ask for access")
	form := w.shows(w.submit(payments, "/portal/catalogue-products/payments", "product_id", "1", "catalogue_id", "1", "plan_id", "2"), 200, "<h1>Ask for access</h1>", "Payments")
	if !strings.HasPrefix(form.path, "/portal/private/cart/provision?") {
		t.Error(form.path)
	}
	const at = "/portal/private/cart/provision?catalogue=1&path=payments&plan=2&product=1"
	w.shows(w.submit(form, at, "client_name", ""), 422, "Name can&#39;t be blank")
	w.shows(w.submit(form, at, "client_name", "Till"), 200, "Access is granted", "<h1>Till</h1>")
	for _, other := range []string{"catalogue=7&path=payments&plan=2&product=1", "catalogue=1&path=shipping&plan=2&product=1", "catalogue=1&path=..&plan=2&product=1", "catalogue=1&path=payments&plan=9&product=1", "catalogue=x"} {
		w.shows(w.open("/portal/private/cart/provision?"+other), 200, "There is nothing to ask for")
	}
	w.api("PUT", "/portal-api/settings", `{"APIAccessFlow":"cart"}`)
	for _, value := range []string{"3:1.1.2.payments", "2:", "2:1.1.2", "x", "2:1.1.2.%zz", "2:" + strings.Repeat("1.1.2.payments_", 400)} {
		req, err := http.NewRequest("GET", w.server.URL+"/portal/private/cart/provision", nil)
		must(t, err)
		req.Header.Set("Accept", "text/html")
		req.AddCookie(&http.Cookie{Name: "portal-cart", Value: value})
		w.shows(w.shown(req), 200, "There is nothing to ask for")
	}
}

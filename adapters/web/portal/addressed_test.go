package portal_test

import (
	"strings"
	"testing"
)

// TestAddressed requests access with clients for user login: an app without redirect URLs is
// refused at once. No administrator could approve such a request, nor change it.
func TestAddressed(t *testing.T) {
	w, _ := registering(t, map[string]string{"orders": `"enable_jwt":true,"jwt_signing_method":"rsa"`, "basic": `"use_basic_auth":true`})
	w.api("POST", "/portal-api/oauth-providers/1/client-types", `{"Name":"Web","ResponseTypes":"code","GrantType":"authorization_code"}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":1,"JWTScope":"gold","Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Shop","Path":"shop","ProviderID":1,"APIDetails":[{"APIID":"orders"}],"DCREnabled":true,"Scopes":"shop","Templates":[1],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Tills","Path":"tills","ProviderID":1,"APIDetails":[{"APIID":"basic"}],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/users", `{"Email":"ada@example.com","First":"Ada","Active":true,"Password":"secret"}`)
	w.as("ada")
	form := w.open("/portal/catalogue-products/shop")
	w.submit(form, "/portal/catalogue-products/shop", "product_id", "1", "catalogue_id", "1", "plan_id", "1")
	const at = "/portal/private/cart/provision"
	cart := w.open(at)
	// A new app: the error is at the field, and neither the app nor the request is created.
	w.shows(w.submit(cart, at, "app-action", "create", "client_name", "Till", "app-action-template", "1"), 422,
		"See the fields below", "Redirect addresses of the app can&#39;t be blank: the client type Web uses authorization_code", `value="Till"`)
	if p := w.open("/portal/private/apps"); strings.Contains(p.text, "Till") {
		t.Error("an app is there that has access to nothing")
	}
	// An existing app: the error does not name the fields of a new app.
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Desk")
	if p := w.shows(w.submit(cart, at, "app-action", "existing", "selected-app", "2", "app-action-template", "1"), 422, "Redirect addresses of the app can&#39;t be blank"); strings.Contains(p.text, "See the fields below") {
		t.Error("a field of a new app is said to be wrong with one that there is")
	}
	w.shows(w.submit(cart, at, "app-action", "create", "client_name", "Till", "redirect_urls", "https://till.example.com/back", "app-action-template", "1"), 200, "Your request is on its way")
	w.api("PUT", "/portal-api/access_requests/1/approve", "")

	// A product for which access cannot be requested says so, and shows its authentication once.
	if p := w.shows(w.open("/portal/catalogue-products/tills"), 200, "You can't ask for access to this product here", ">Basic auth<"); strings.Contains(p.text, ">BA<") {
		t.Error("a badge shows a word of the inside")
	}
}

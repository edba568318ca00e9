package portal_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestAddressed asks for clients that log people in: an app without redirect URLs is refused at once.
// No administrator could approve such a request, nor change it.
func TestAddressed(t *testing.T) {
	provider := idp.New(idp.Keycloak)
	t.Cleanup(provider.Close)
	caller := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w := newWorldWith(t, func(p *app.Portal) { p.Registry, p.Registrar = true, registration.New(caller, registration.Config{}) })
	b, err := w.app.Bootstrap(t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	must(t, err)
	for id, by := range map[string]string{"orders": `"enable_jwt":true,"jwt_signing_method":"rsa"`, "basic": `"use_basic_auth":true`} {
		req, err := http.NewRequest("POST", w.server.URL+"/api/apis", strings.NewReader(`{"api_definition":{"name":"`+id+`","api_id":"`+id+`","active":true,`+by+`,"proxy":{"listen_path":"/`+id+`/","target_url":"http://up.example"}}}`))
		must(t, err)
		req.Header.Set("Authorization", b.AccessKey)
		w.answered(req)
	}
	w.api("POST", "/portal-api/providers", `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":"`+b.AccessKey+`"}}}`)
	w.api("POST", "/portal-api/oauth-providers", fmt.Sprintf(`{"Name":"Login","Type":"Keycloak","WellKnownURL":%q,"RegistrationAccessToken":%q}`, provider.WellKnown(), provider.InitialToken()))
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
	// A new app: the field says it, and neither the app nor the request is there.
	w.shows(w.submit(cart, at, "app-action", "create", "client_name", "Till", "app-action-template", "1"), 422,
		"See the fields below", "RedirectURLs of the app can&#39;t be blank: the client type Web uses authorization_code", `value="Till"`)
	if p := w.open("/portal/private/apps"); strings.Contains(p.text, "Till") {
		t.Error("an app is there that has access to nothing")
	}
	// An existing app: the error does not name the fields of a new app.
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Desk")
	if p := w.shows(w.submit(cart, at, "app-action", "existing", "selected-app", "2", "app-action-template", "1"), 422, "RedirectURLs of the app can&#39;t be blank"); strings.Contains(p.text, "See the fields below") {
		t.Error("a field of a new app is said to be wrong with one that there is")
	}
	w.shows(w.submit(cart, at, "app-action", "create", "client_name", "Till", "redirect_urls", "https://till.example.com/back", "app-action-template", "1"), 200, "Your request is on its way")
	w.api("PUT", "/portal-api/access_requests/1/approve", "")

	// A product without a way to ask for access says so, and names its authentication once.
	if p := w.shows(w.open("/portal/catalogue-products/tills"), 200, "You can't ask for access to this product here", ">Basic auth<"); strings.Contains(p.text, ">BA<") {
		t.Error("a badge shows a word of the inside")
	}
}

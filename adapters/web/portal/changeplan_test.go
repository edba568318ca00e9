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

// TestChangePlan requests another plan for a client of an identity provider, and for one of
// gateways; other credentials keep theirs.
func TestChangePlan(t *testing.T) {
	w, provider := registering(t, map[string]string{"orders": `"enable_jwt":true,"jwt_signing_method":"rsa"`, "pay": `"use_standard_auth":true`, "oauth": `"use_oauth2":true`})
	w.api("POST", "/portal-api/oauth-providers/1/client-types", `{"Name":"Server","ResponseTypes":"none","GrantType":"client_credentials"}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":1,"JWTScope":"gold","AutoApproveAccessRequests":true,"Catalogues":[1]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Silver","ProviderID":1,"RateLimit":5,"Per":1,"JWTScope":"silver","AutoApproveAccessRequests":true,"Catalogues":[1]}`)
	w.api("POST", "/portal-api/plans", `{"Name":"Bronze","ProviderID":1,"RateLimit":1,"Per":1,"JWTScope":"bronze","Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Shop","Path":"shop","ProviderID":1,"APIDetails":[{"APIID":"orders"}],"DCREnabled":true,"Scopes":"shop","Templates":[1],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Pay","Path":"pay","ProviderID":1,"APIDetails":[{"APIID":"pay"}],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/products", `{"Name":"Own","Path":"own","ProviderID":1,"APIDetails":[{"APIID":"oauth"}],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/users", `{"Email":"ada@example.com","First":"Ada","Active":true,"Password":"secret"}`)
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	w.api("PUT", "/portal-api/apps/1/provision", `{"PlanID":1,"ProductIDs":[1],"CatalogueID":1,"DCRTemplateID":1}`)
	w.approved("1", "1", "2")
	const app = "/portal/private/apps/1"
	form := w.shows(w.open(app), 200, `action="`+app+`/credentials/1/change-plan"`, "Silver: 5 calls", "Bronze: 1 calls", "Token address", ">"+provider.Issuer()+"/token<")
	if strings.Contains(form.text, `credentials/2/change-plan`) || strings.Contains(form.text, ">Gold: 10 calls / 1 second(s), quota unlimited</option>") {
		t.Error(form.text)
	}
	w.shows(w.submit(form, app+"/credentials/1/change-plan", "new_plan_id", "99"), 422, "The plan is invalid")
	w.shows(w.submit(form, app+"/credentials/2/change-plan", "new_plan_id", "2"), 422, "This credential keeps its plan")
	w.shows(w.submit(form, app+"/credentials/9/change-plan", "new_plan_id", "2"), 404)
	moved := w.shows(w.submit(form, app+"/credentials/1/change-plan", "new_plan_id", "2"), 200, "The credential has another plan.", "Gold: 10 calls")
	w.shows(w.submit(moved, app+"/credentials/1/change-plan", "new_plan_id", "3"), 200, "Your request is on its way", "An administrator has to decide")
	w.approved("1", "1", "3")
	own := w.shows(w.open(app), 200, `action="`+app+`/credentials/3/change-plan"`)
	w.shows(w.submit(own, app+"/credentials/3/change-plan", "new_plan_id", "2"), 200, "The credential has another plan.")
	if n := len(provider.Clients()); n != 1 {
		t.Errorf("%d clients are registered", n)
	}
}

// TestChangePlanOfMany offers other plans for all clients of an app, or for some of them only on
// request: a page has a limit of lookups.
func TestChangePlanOfMany(t *testing.T) {
	w := newWorld(t)
	b, err := w.app.Bootstrap(t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	must(t, err)
	req, err := http.NewRequest("POST", w.server.URL+"/api/apis", strings.NewReader(`{"api_definition":{"name":"oauth","api_id":"oauth","active":true,"use_oauth2":true,"proxy":{"listen_path":"/oauth/","target_url":"http://up.example"}}}`))
	must(t, err)
	req.Header.Set("Authorization", b.AccessKey)
	w.answered(req)
	w.api("POST", "/portal-api/providers", `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":"`+b.AccessKey+`"}}}`)
	for i := range 91 {
		w.api("POST", "/portal-api/plans", fmt.Sprintf(`{"Name":"Plan %d","ProviderID":1,"RateLimit":5,"Per":1,"AutoApproveAccessRequests":true,"Catalogues":[1]}`, i))
	}
	w.api("POST", "/portal-api/products", `{"Name":"Own","Path":"own","ProviderID":1,"APIDetails":[{"APIID":"oauth"}],"Catalogues":[1]}`)
	w.api("POST", "/portal-api/users", `{"Email":"ada@example.com","First":"Ada","Active":true,"Password":"secret"}`)
	w.as("ada")
	w.submit(w.open("/portal/private/apps/new"), "/portal/private/apps", "name", "Till")
	const app = "/portal/private/apps/1"
	for range 13 {
		w.approved("1", "1", "1")
	}
	p := w.shows(w.open(app), 200, `credentials/13/change-plan"`, `credentials/3/change-plan"`, `href="`+app+`?page=1&amp;plans=1#credential-1"`)
	if strings.Contains(p.text, `credentials/1/change-plan"`) {
		t.Error("a page offers more than it may")
	}
	p = w.shows(w.open(app+"?page=1&plans=1"), 200, `credentials/1/change-plan"`)
	w.shows(w.submit(p, app+"/credentials/1/change-plan", "new_plan_id", "2"), 200, "The credential has another plan.")
}

// registering returns a portal with an identity provider that registers clients, and with a
// dashboard with APIs: their names, and the authentication members of their definitions.
func registering(t *testing.T, apis map[string]string) (*world, *idp.Server) {
	t.Helper()
	provider := idp.New(idp.Keycloak)
	t.Cleanup(provider.Close)
	caller := fetch.New(fetch.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	w := newWorldWith(t, func(p *app.Portal) { p.Registry, p.Registrar = true, registration.New(caller, registration.Config{}) })
	b, err := w.app.Bootstrap(t.Context(), identity.First{OrgID: "one", Email: "admin@example.com"})
	must(t, err)
	for id, by := range apis {
		req, err := http.NewRequest("POST", w.server.URL+"/api/apis", strings.NewReader(`{"api_definition":{"name":"`+id+`","api_id":"`+id+`","active":true,`+by+`,"proxy":{"listen_path":"/`+id+`/","target_url":"http://up.example"}}}`))
		must(t, err)
		req.Header.Set("Authorization", b.AccessKey)
		w.answered(req)
	}
	w.api("POST", "/portal-api/providers", `{"Name":"Ours","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":"`+b.AccessKey+`"}}}`)
	w.api("POST", "/portal-api/oauth-providers", fmt.Sprintf(`{"Name":"Login","Type":"Keycloak","WellKnownURL":%q,"RegistrationAccessToken":%q}`, provider.WellKnown(), provider.InitialToken()))
	return w, provider
}

package portal_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
	"github.com/gatehouse-io/gatehouse/e2e/browser"
)

// offering starts a portal beside a dashboard, with a product that sends messages, a plan
// with immediate access and one with approval, and Ada, an admin of an organisation, and
// Bob of the same. Ada has an app with a key, a waiting one, and an empty one.
func offering(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, at: start(t, config.PortalShared, []string{"SVC_DB_BOOTSTRAP_EMAIL=" + admin, "SVC_DB_BOOTSTRAP_ACCESSKEY=" + accessKey})}
	w.bootstrap()
	w.dashboardAPI("pay")
	where, err := json.Marshal(object{"URL": w.at, "Secret": accessKey, "Gateway": "https://api.example.com"})
	must(t, err)
	w.api("POST", "/providers", object{"Name": "Ours", "Configuration": object{"MetaData": string(where)}})
	w.api("POST", "/products", object{"Name": "payments", "DisplayName": "Payments", "Path": "payments", "Description": "Take payments, and give refunds within a day.", "ProviderID": 1, "Catalogues": []int{1},
		"APIDetails": []object{{"APIID": "pay"}}, "WebhookEventTypes": []string{"order.paid"}})
	w.describe("/products/1/api-details/pay/oas", payments)
	w.api("POST", "/plans", object{"Name": "Business", "ProviderID": 1, "RateLimit": 100, "Per": 1, "Quota": -1, "Catalogues": []int{1}})
	w.api("POST", "/plans", object{"Name": "Open", "ProviderID": 1, "RateLimit": 10, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true, "Catalogues": []int{1}})
	w.api("POST", "/organisations", object{"Name": "Acme"})
	for _, who := range []string{"Ada", "Bob"} {
		w.api("POST", "/users", object{"Email": map[string]string{"Ada": "ada@example.com", "Bob": "bob@example.com"}[who], "First": who, "Password": password, "Active": true, "OrganisationID": 2, "Role": map[string]string{"Ada": "consumer-admin", "Bob": "consumer-team-member"}[who]})
	}
	for _, app := range []string{"Till", "Shop", "Empty"} {
		w.api("POST", "/apps", object{"Name": app, "Description": "Pays for what people buy.", "UserID": 2})
	}
	w.api("PUT", "/apps/1/provision", object{"PlanID": 2, "ProductIDs": []int{1}, "CatalogueID": 1})
	w.api("PUT", "/apps/2/provision", object{"PlanID": 1, "ProductIDs": []int{1}, "CatalogueID": 1})
	return w
}

// dashboardAPI creates an API on the dashboard that accepts keys.
func (w *world) dashboardAPI(id string) {
	w.t.Helper()
	text, err := json.Marshal(object{"api_definition": object{
		"api_id": id, "name": id, "active": true, "use_standard_auth": true, "auth_configs": object{"authToken": object{"auth_header_name": "Authorization"}},
		"proxy":        object{"listen_path": "/" + id + "/", "target_url": "http://127.0.0.1:9/", "strip_listen_path": true},
		"version_data": object{"not_versioned": true, "versions": object{"Default": object{"name": "Default", "use_extended_paths": true}}},
	}})
	must(w.t, err)
	if status, answer := fetch(w.t, "POST", w.at+"/api/apis", accessKey, text); status != http.StatusOK {
		w.t.Fatal(status, answer)
	}
}

// filled opens a browser of Ada, with a product in the cart.
func (w *world) filled(t testing.TB) *browser.Tab {
	t.Helper()
	b := w.visitor(t)
	enter(b, "ada@example.com", password)
	b.Wait("location.pathname === '/portal'")
	b.Go("/portal/catalogue-products/payments")
	b.Click("Add to the cart")
	b.See("The product is in your cart")
	return b
}

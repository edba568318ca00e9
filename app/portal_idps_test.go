package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/identity"
	idpcore "github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestRegisteredClients: a developer requests access to a product with client registration. The
// approval registers a client that gets tokens, and the dashboard's registry, or the definition of
// the API, has their scopes. Deleting the app deletes the client; deleting the product removes its
// scopes from the registry.
func TestRegisteredClients(t *testing.T) {
	for _, registry := range []bool{true, false} {
		server := idp.New(idp.Keycloak)
		t.Cleanup(server.Close)
		caller := fetching.New(fetching.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		a, err := app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPortal(app.Portal{
			Shared: true, Local: []string{"http://localhost:3000"}, Registry: registry, Registrar: registration.New(caller, registration.Config{}),
		}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
		if err != nil {
			t.Fatal(err)
		}
		apptest.Send(t, a, b.AccessKey, "POST", "/api/apis", `{"api_definition":{"name":"Orders","api_id":"orders","active":true,"enable_jwt":true,"jwt_signing_method":"rsa","proxy":{"listen_path":"/orders/","target_url":"http://orders.example"}}}`)
		token := apptest.Send(t, a, "", "POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`).Get("data", "api_token").Text()
		send := func(method, path, body string) {
			t.Helper()
			r := httptest.NewRequestWithContext(t.Context(), method, "/portal-api"+path, strings.NewReader(body))
			r.Header.Set("Authorization", token)
			w := httptest.NewRecorder()
			if a.ServeHTTP(w, r); w.Code != http.StatusOK && w.Code != http.StatusCreated {
				t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
			}
		}
		send("POST", "/providers", fmt.Sprintf(`{"Name":"Dashboard","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":%q}}}`, b.AccessKey))
		send("POST", "/oauth-providers", fmt.Sprintf(`{"Name":"Login","Type":"Keycloak","WellKnownURL":%q,"RegistrationAccessToken":%q}`, server.WellKnown(), server.InitialToken()))
		send("POST", "/oauth-providers/1/client-types", `{"Name":"Server","ResponseTypes":"none","GrantType":"client_credentials"}`)
		send("POST", "/plans", `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":1,"JWTScope":"gold","AutoApproveAccessRequests":true}`)
		send("POST", "/products", `{"Name":"Shop","ProviderID":1,"APIDetails":[{"APIID":"orders"}],"DCREnabled":true,"Scopes":"shop","Templates":[1]}`)
		send("POST", "/users", `{"Email":"dev@example.com","First":"Dora","Last":"Dev","Password":"secret-enough","Role":"consumer-admin","OrganisationID":1,"Active":true}`)
		send("POST", "/apps", `{"Name":"Till","UserID":2}`)
		send("PUT", "/apps/1/provision", `{"PlanID":1,"ProductIDs":[1],"DCRTemplateID":1}`)
		shown := apptest.Send(t, a, token, "GET", "/portal-api/apps/1/access-requests/1/credentials/1", "")
		id, secret := shown.Get("OAuthClientID").Text(), shown.Get("OAuthClientSecret").Text()
		if minted, status := server.Token(id, secret, "shop", "gold"); minted == "" {
			t.Fatalf("registry %v: %d, %s", registry, status, shown.JSON())
		}
		policy := func(path string) string {
			return apptest.Send(t, a, token, "GET", "/portal-api"+path, "").Get("ReferenceID").Text()
		}
		custom := func(ref string) string {
			return apptest.Send(t, a, b.AccessKey, "GET", "/api/portal/policies/"+ref, "").Get("id").Text()
		}
		shop, gold := custom(policy("/products/1")), custom(policy("/plans/1"))
		if registry {
			entry := apptest.Send(t, a, b.AccessKey, "GET", "/api/clientidps/portal-"+apptest.Send(t, a, token, "GET", "/portal-api/oauth-providers/1", "").Get("CID").Text(), "")
			if got := entry.Get("api_mappings", "orders", "scope_to_policy"); got.Get("shop").Text() != shop || got.Get("gold").Text() != gold || shop == "" || entry.Get("jwks_uri").Text() != server.JWKS() {
				t.Errorf("%s, %s: %s", shop, gold, entry.JSON())
			}
		} else {
			definition := apptest.Send(t, a, b.AccessKey, "GET", "/api/apis/orders", "").Get("api_definition")
			if got := definition.Get("scopes", "jwt", "scope_to_policy"); got.Get("shop").Text() != shop || got.Get("gold").Text() != gold || definition.Get("jwt_source").Text() == "" {
				t.Errorf("%s", definition.JSON())
			}
		}
		// Changed scopes reach the client at the next synchronisation, if the registry maps them.
		send("PUT", "/products/1", `{"Scopes":"store,till"}`)
		send("PUT", "/plans/1", `{"JWTScope":"silver"}`)
		send("PUT", "/providers/1/synchronize", "")
		want := []string{"shop", "gold"}
		if registry {
			want = []string{"store", "till", "silver"}
			shown = apptest.Send(t, a, token, "GET", "/portal-api/apps/1/access-requests/1/credentials/1", "")
		}
		if minted, status := server.Token(id, shown.Get("OAuthClientSecret").Text(), want...); minted == "" || len(idpcore.Scopes(server.Clients()[id])) != len(want) {
			t.Errorf("registry %v: %d, the client has the scopes %v", registry, status, server.Clients()[id])
		}
		send("DELETE", "/apps/1", "")
		if n := len(server.Clients()); n != 0 {
			t.Errorf("%d clients are left", n)
		}
		send("DELETE", "/products/1", "")
		if list := apptest.Send(t, a, b.AccessKey, "GET", "/api/clientidps", ""); strings.Contains(string(list.JSON()), `"client_idp_id":"portal-`) != registry || strings.Contains(string(list.JSON()), `"shop"`) {
			t.Errorf("registry %v: %s", registry, list.JSON())
		}
	}
}

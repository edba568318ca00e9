package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// mapped is a world with two APIs, a policy and a provider that maps one of them.
func mapped(t *testing.T, environ ...string) *world {
	t.Helper()
	w := newWorld(t, environ...)
	for _, id := range []string{"orders", "users"} {
		w.ask("POST", "/api/apis/oas", fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":%q,"version":"1"},"paths":{},"components":{"securitySchemes":{"jwtAuth":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}},"security":[{"jwtAuth":[]}],`+
			`"x-tyk-api-gateway":{"info":{"id":%[1]q,"name":"The %[1]s","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/%[1]s/"},`+
			`"authentication":{"enabled":true,"securitySchemes":{"jwtAuth":{"enabled":true,"signingMethod":"rsa","subjectClaims":["sub"],"header":{"enabled":true,"name":"Authorization"}}}}}}}`, id))
	}
	w.ask("POST", "/api/portal/policies", `{"id":"5f1a0c5d8e3b2a1f0000000a","name":"Gold","state":"active","rate":1,"per":1,"access_rights":{"orders":{"api_id":"orders","api_name":"orders","versions":["Default"]}}}`)
	w.ask("POST", "/api/clientidps", `{"client_idp_id":"corp","name":"Corporate login","issuer":"https://login.example/","jwks_uri":"https://login.example/jwks.json","api_mappings":{`+
		`"orders":{"scope_to_policy":{"read":"5f1a0c5d8e3b2a1f0000000a","write":"nowhere"}},"lost":{"scope_to_policy":{"read":"5f1a0c5d8e3b2a1f0000000a"}}}}`)
	return w
}

// TestRegistryPage: a matrix shows what leads nowhere and where a scope was forgotten. Lines
// are pasted into it, the merge patch is looked at, and stored on top of what somebody else
// has stored meanwhile.
func TestRegistryPage(t *testing.T) {
	w := mapped(t)
	b := w.signIn(t)
	b.visit("registry")
	b.click("Corporate login")
	b.see("no such API")
	b.see("no such policy")
	b.click("Paste many…")
	b.fill("Lines", "users\tread\t5f1a0c5d8e3b2a1f0000000a\nusers\twrite\nlost\tread")
	b.see("3 mappings on 2 APIs")
	b.click("Put into the matrix")
	b.fill("Policy of write on The orders", "5f1a0c5d8e3b2a1f0000000a")
	b.click("Remove lost")
	b.click("Review and save…")
	b.see("The merge patch")
	b.see(`"lost": null`)
	// Somebody else stores first: nothing of either is lost.
	w.ask("PATCH", "/api/clientidps/corp/mappings", `{"orders":{"scope_to_policy":{"audit":"5f1a0c5d8e3b2a1f0000000a"}}}`)
	b.wait(named("Save") + " && !" + named("Save") + ".disabled")
	b.expect("/api/clientidps/corp/mappings") // 412
	b.click("Save")
	b.see("Somebody else changed the mappings meanwhile")
	b.click("Review and save…")
	b.wait(named("Save") + " && !" + named("Save") + ".disabled")
	b.click("Save")
	b.see("The mappings are stored")
	got := w.ask("GET", "/api/clientidps/corp", "")["api_mappings"]
	const gold = "5f1a0c5d8e3b2a1f0000000a"
	want := map[string]any{"orders": map[string]any{"scope_to_policy": map[string]any{"read": gold, "write": gold, "audit": gold}}, "users": map[string]any{"scope_to_policy": map[string]any{"read": gold}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	b.click("The orders")
	b.see("The registry is asked for the issuer of the token")
	b.fill("Scopes of the token", "write")
	b.see("The token gets " + gold)
	b.fill("Scopes of the token", "none")
	b.see("None of the scopes is mapped here")
}

// TestGatewaysPage: who is alive, what it has loaded, and what it is not given.
func TestGatewaysPage(t *testing.T) {
	told := make(chan string, 8)
	control := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/tyk/reload/group" {
			told <- r.Header.Get("X-Tyk-Authorization")
		}
		_, _ = w.Write([]byte(`{"status":"ok","message":""}`))
	}))
	t.Cleanup(control.Close)
	w := mapped(t, "SVC_DB_TYKAPI_HOST="+control.URL, "SVC_DB_TYKAPI_SECRET=gateway-secret")
	b := w.signIn(t)
	b.visit("gateways")
	b.see("No gateway is connected")
	gateway := gatewaysim.New(gatewaysim.Config{DashboardURL: w.at, NodeSecret: node})
	must(t, gateway.Start(t.Context()))
	t.Cleanup(func() { _ = gateway.Stop(context.Background()) })
	b.see("apis: up to date")
	b.see("clientidps: up to date")
	b.see("Nothing is left out")
	b.click("Reload all…")
	b.see("Calls go on meanwhile")
	b.click("Reload")
	b.see("Gateways are told to load everything anew")
	if secret := <-told; secret != "gateway-secret" {
		t.Errorf("the gateway was told with the secret %q", secret)
	}
	b.see(control.URL)
}

// TestPermissionsPage: the levels of a matrix are stored where they belong, other members
// stay as they are, and the page says what counts in the end.
func TestPermissionsPage(t *testing.T) {
	w := newWorld(t)
	w.ask("POST", "/api/users", `{"first_name":"Grace","last_name":"H","email_address":"grace@example.com","user_permissions":{"apis":"read"}}`)
	group := w.ask("POST", "/api/usergroups", `{"name":"Designers","description":"Those who write APIs","user_permissions":{"apis":"read"}}`)
	b := w.signIn(t)
	b.visit("people")
	b.see("grace@example.com")
	b.fill("policies of grace@example.com", "write")
	b.fill("apis of grace@example.com", "")
	b.click("Save")
	b.see("The permissions are stored")
	b.wait(`document.querySelector('[aria-label="policies of grace@example.com"]')?.value === 'write'`)
	b.click("What may grace@example.com do?")
	b.see("Where it comes from")
	b.click("Close")
	b.click("Groups of users")
	b.fill("keys of Designers", "read")
	b.click("Save")
	b.wait("document.querySelector('[aria-label=\"keys of Designers\"]:not(.new)')?.value === 'read'")
	got := w.ask("GET", fmt.Sprintf("/api/usergroups/%v", group["Meta"]), "")
	if fmt.Sprint(got["user_permissions"]) != "map[apis:read keys:read]" || got["description"] != "Those who write APIs" {
		t.Errorf("%v", got)
	}
}

// TestRightsPage: what a policy gives, on which API, and what names it.
func TestRightsPage(t *testing.T) {
	w := mapped(t)
	w.ask("PUT", "/api/portal/policies/5f1a0c5d8e3b2a1f0000000a", `{"id":"5f1a0c5d8e3b2a1f0000000a","name":"Gold","state":"active","rate":100,"per":60,"quota_max":-1,"partitions":{"acl":true},`+
		`"access_rights":{"orders":{"api_id":"orders","versions":["Default"],"allowed_urls":[{"url":"/items","methods":["GET"]}]},"gone":{"api_id":"gone"}}}`)
	w.ask("POST", "/api/keys", `{"alias":"billing","apply_policies":["5f1a0c5d8e3b2a1f0000000a"]}`)
	b := w.signIn(t)
	b.visit("rights")
	b.click("Gold")
	for _, text := range []string{"100 calls in 60 s, quota unlimited", "acl", "The orders", "/items", "no such API", "1 key.", "billing", "Corporate login"} {
		b.see(text)
	}
}

// TestVersions: an API says which versions it has and who names it; one
// of the versions becomes the base.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := mapped(t)
	w.ask("POST", "/api/apis/oas?base_api_id=orders&base_api_version_name=v1&new_version_name=v2", `{"openapi":"3.0.3","info":{"title":"Orders 2","version":"2"},"paths":{},`+
		`"x-tyk-api-gateway":{"info":{"id":"orders2","name":"Orders 2","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/orders2/"}}}}`)
	b := w.signIn(t)
	b.visit("apis.oas/orders")
	for _, text := range []string{"Gold", "Corporate login", "v2", "Orders 2"} {
		b.see(text)
	}
	b.looks("api")
	b.click("Make it the base: v2")
	b.see("takes over the table of versions")
	b.click("Make it the base")
	b.wait("location.hash === '#/apis.oas/orders2'")
	b.see("v1")
	b.click("v1")
	b.wait("location.hash === '#/apis.oas/orders'")
}

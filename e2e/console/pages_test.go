package console_test

import (
	"github.com/gatehouse-io/gatehouse/e2e/browser"

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

// TestRegistryPage: a matrix shows mappings without target and forgotten scopes. Lines are pasted
// into it, and the merge patch is reviewed and stored on top of another user's change.
func TestRegistryPage(t *testing.T) {
	w := mapped(t)
	b := w.signIn(t)
	b.visit("registry")
	b.Click("Corporate login")
	b.See("no such API")
	b.See("no such policy")
	b.Click("Paste many…")
	b.Fill("Lines", "users\tread\t5f1a0c5d8e3b2a1f0000000a\nusers\twrite\nlost\tread")
	b.See("3 mappings on 2 APIs")
	b.Click("Put into the matrix")
	b.Fill("Policy of write on The orders", "5f1a0c5d8e3b2a1f0000000a")
	b.Click("Remove lost")
	b.Click("Review and save…")
	b.See("The merge patch")
	b.See(`"lost": null`)
	// Another user stores first: neither change is lost.
	w.ask("PATCH", "/api/clientidps/corp/mappings", `{"orders":{"scope_to_policy":{"audit":"5f1a0c5d8e3b2a1f0000000a"}}}`)
	b.Wait(browser.Named("Save") + " && !" + browser.Named("Save") + ".disabled")
	b.Expect("/api/clientidps/corp/mappings") // 412
	b.Click("Save")
	b.See("Somebody else changed the mappings meanwhile")
	b.Click("Review and save…")
	b.Wait(browser.Named("Save") + " && !" + browser.Named("Save") + ".disabled")
	b.Click("Save")
	b.See("The mappings are stored")
	got := w.ask("GET", "/api/clientidps/corp", "")["api_mappings"]
	const gold = "5f1a0c5d8e3b2a1f0000000a"
	want := map[string]any{"orders": map[string]any{"scope_to_policy": map[string]any{"read": gold, "write": gold, "audit": gold}}, "users": map[string]any{"scope_to_policy": map[string]any{"read": gold}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	b.Click("The orders")
	b.See("The registry is asked for the issuer of the token")
	b.Fill("Scopes of the token", "write")
	b.See("The token gets " + gold)
	b.Fill("Scopes of the token", "none")
	b.See("None of the scopes is mapped here")
}

// TestGatewaysPage: which gateways are alive, what they have loaded, and what is left out for them.
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
	b.See("No gateway is connected")
	gateway := gatewaysim.New(gatewaysim.Config{DashboardURL: w.at, NodeSecret: node})
	must(t, gateway.Start(t.Context()))
	t.Cleanup(func() { _ = gateway.Stop(context.Background()) })
	b.See("apis: up to date")
	b.See("clientidps: up to date")
	b.See("Nothing is left out")
	b.See("What they were told lately")
	b.See("ClientIdPChanged corp")
	b.Wait("[...document.querySelectorAll('.panel a')].some(a => a.hash === '#/apis/orders' || a.hash === '#/apis.oas/orders')")
	b.Click("Reload all…")
	b.See("Calls go on meanwhile")
	b.Click("Reload")
	b.See("Gateways are told to load everything anew")
	if secret := <-told; secret != "gateway-secret" {
		t.Errorf("the gateway was told with the secret %q", secret)
	}
	b.See(control.URL)
}

// TestPlaces: the page of an API shows its addresses for clients, and which live gateways serve its
// current version, both for OAS and classic APIs.
func TestPlaces(t *testing.T) {
	t.Parallel()
	w := mapped(t, "SVC_DB_HOSTCONFIG_GATEWAYHOSTNAME=gw.example.com:8080")
	w.ask("POST", "/api/apis", `{"api_definition":{"name":"Old","api_id":"old","active":true,"use_keyless":true,"tags":["edge"],"proxy":{"listen_path":"/old/","target_url":"http://up.example/"}}}`)
	gateway := gatewaysim.New(gatewaysim.Config{DashboardURL: w.at, NodeSecret: node, Hostname: "gw-north"})
	must(t, gateway.Start(t.Context()))
	t.Cleanup(func() { _ = gateway.Stop(context.Background()) })
	b := w.signIn(t)
	b.visit("apis.oas/orders")
	for _, text := range []string{"Where it is reached", "http://gw.example.com:8080/orders", "gw-north/orders/", "up to date"} {
		b.See(text)
	}
	w.ask("POST", "/api/apis", `{"api_definition":{"name":"New","api_id":"new","active":true,"use_keyless":true,"proxy":{"listen_path":"/new/","target_url":"http://up.example/"}}}`)
	b.visit("apis/old")
	for _, text := range []string{"No address is known", "gw-north/old/", "has not loaded the last change", "Only gateways with the tag edge load it"} {
		b.See(text)
	}
	b.visit("apis/new")
	b.See("http://gw.example.com:8080/new/")
}

// TestEndpoints: the page of an API lists its endpoints with their middleware, and links to the
// definition that gateways execute.
func TestEndpoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("POST", "/api/apis/oas", `{"openapi":"3.0.3","info":{"title":"Orders","version":"1"},"paths":{"/items":{"get":{"operationId":"list","summary":"List items","responses":{"200":{"description":"ok"}}},`+
		`"post":{"operationId":"add","responses":{"200":{"description":"ok"}}}}},"x-tyk-api-gateway":{"info":{"id":"orders","name":"Orders","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/orders/"}},`+
		`"middleware":{"global":{"cache":{"enabled":true,"timeout":5}},"operations":{"list":{"enforceTimeout":{"enabled":true,"value":3}},"add":{"enforceTimeout":{"enabled":false,"value":3},"validateRequest":{"enabled":true}}}}}}`)
	b := w.signIn(t)
	b.visit("apis.oas/orders")
	b.See("Everywhere: Cache")
	rows := `[...document.querySelectorAll('[aria-label=Endpoints] tbody tr')].map(r => r.innerText.replace(/\s+/g, ' ').trim())`
	b.Wait(rows + ".length === 2")
	if got := value[[]string](b, rows); got[0] != "GET /items List items Enforce Timeout" || got[1] != "POST /items add Validate Request" {
		t.Errorf("%q", got)
	}
	b.Looks("endpoints")
	b.Click("the classic definition")
	b.Wait("location.hash === '#/apis/orders' && document.querySelector('h1').innerText === 'Orders'")
	b.See("Where it is reached")
}

// TestPermissionsPage: the levels of a matrix are stored in the right place, other members stay as
// they are, and the page shows the effective permissions.
func TestPermissionsPage(t *testing.T) {
	w := newWorld(t)
	w.ask("POST", "/api/users", `{"first_name":"Grace","last_name":"H","email_address":"grace@example.com","user_permissions":{"apis":"read"}}`)
	group := w.ask("POST", "/api/usergroups", `{"name":"Designers","description":"Those who write APIs","user_permissions":{"apis":"read"}}`)
	b := w.signIn(t)
	b.visit("people")
	b.See("grace@example.com")
	b.Fill("policies of grace@example.com", "write")
	b.Fill("apis of grace@example.com", "")
	b.Click("Save")
	b.See("The permissions are stored")
	b.Wait(`document.querySelector('[aria-label="policies of grace@example.com"]')?.value === 'write'`)
	b.Click("What may grace@example.com do?")
	b.See("Where it comes from")
	b.Click("Close")
	b.Click("Groups of users")
	b.Fill("keys of Designers", "read")
	b.Click("Save")
	b.Wait("document.querySelector('[aria-label=\"keys of Designers\"]:not(.new)')?.value === 'read'")
	got := w.ask("GET", fmt.Sprintf("/api/usergroups/%v", group["Meta"]), "")
	if fmt.Sprint(got["user_permissions"]) != "map[apis:read keys:read]" || got["description"] != "Those who write APIs" {
		t.Errorf("%v", got)
	}
}

// TestSessionsPage: an admin sees and ends a user's sessions at once; users find their own sessions
// in the menu, end the others, and stay signed in themselves.
func TestSessionsPage(t *testing.T) {
	w := newWorld(t)
	id := fmt.Sprint(w.ask("POST", "/api/users", `{"first_name":"Grace","last_name":"H","email_address":"grace@example.com","password":"a-long-passphrase","active":true,"user_permissions":{"apis":"read"}}`)["Meta"])
	signed := func() *tab {
		g := open(t, w.at)
		g.Expect("/api/users/me", "status of 401")
		g.load("")
		g.Fill("E-mail address", "grace@example.com")
		g.Fill("Password", "a-long-passphrase")
		g.Click("Sign in")
		g.See("Hello, Grace")
		return g
	}
	first, second := signed(), signed()
	w.ask("POST", "/login", `{"username":"grace@example.com","password":"a-long-passphrase"}`)
	first.visit("users/" + id)
	first.See("this one")
	first.Wait("document.querySelectorAll('section.read table tbody tr').length === 3")
	first.See("Go-http-client")
	first.See("Chrome on Linux")
	first.Looks("sessions")
	first.Click("End all others")
	first.See("2 sessions have ended")
	first.Wait("document.querySelectorAll('section.read table tbody tr').length === 1")
	second.visit("apis")
	second.See("Your session has ended")

	b := w.signIn(t)
	b.visit("people")
	b.Click("Sessions of grace@example.com")
	b.See("Chrome on Linux")
	b.Click("End all")
	b.See("One session has ended")
	b.See("Not signed in with any browser")
	b.Click("Close")
	first.visit("apis")
	first.See("Your session has ended")
}

// TestRightsPage: the rights that a policy gives on each API, and the records that name the policy.
func TestRightsPage(t *testing.T) {
	w := mapped(t)
	w.ask("PUT", "/api/portal/policies/5f1a0c5d8e3b2a1f0000000a", `{"id":"5f1a0c5d8e3b2a1f0000000a","name":"Gold","state":"active","rate":100,"per":60,"quota_max":-1,"partitions":{"acl":true},`+
		`"access_rights":{"orders":{"api_id":"orders","versions":["Default"],"allowed_urls":[{"url":"/items","methods":["GET"]}]},"gone":{"api_id":"gone"}}}`)
	w.ask("POST", "/api/keys", `{"alias":"billing","apply_policies":["5f1a0c5d8e3b2a1f0000000a"]}`)
	b := w.signIn(t)
	b.visit("rights")
	b.Click("Gold")
	for _, text := range []string{"100 calls in 60 s, quota unlimited", "acl", "The orders", "/items", "no such API", "1 key.", "billing", "Corporate login"} {
		b.See(text)
	}
	b.visit("api-keys?apiID=orders")
	b.See("1 entry")
}

// TestVersions: an API shows its versions and who refers to it; one of the versions becomes the
// base.
func TestVersions(t *testing.T) {
	t.Parallel()
	w := mapped(t)
	w.ask("POST", "/api/apis/oas?base_api_id=orders&base_api_version_name=v1&new_version_name=v2", `{"openapi":"3.0.3","info":{"title":"Orders 2","version":"2"},"paths":{},`+
		`"x-tyk-api-gateway":{"info":{"id":"orders2","name":"Orders 2","state":{"active":true}},"upstream":{"url":"http://up.example/"},"server":{"listenPath":{"value":"/orders2/"}}}}`)
	b := w.signIn(t)
	b.visit("apis.oas/orders")
	for _, text := range []string{"Gold", "Corporate login", "v2", "Orders 2"} {
		b.See(text)
	}
	b.Looks("api")
	b.Click("Make it the base: v2")
	b.See("takes over the table of versions")
	b.Click("Make it the base")
	b.Wait("location.hash === '#/apis.oas/orders2'")
	b.See("v1")
	b.Click("v1")
	b.Wait("location.hash === '#/apis.oas/orders'")
}

// TestNew: a resource made from a document begins with an example if no form can ask for it, and a
// resource made from a file asks for a file.
func TestNew(t *testing.T) {
	t.Parallel()
	b := newWorld(t).signIn(t)
	b.visit("apis/+new")
	b.See("Listen path")
	b.visit("certs/+new")
	b.Wait("document.querySelector('input[type=file]')")
}

// TestListOfDocuments: items of the list of MCP proxies are documents; the list shows name, listen
// path and target of each.
func TestListOfDocuments(t *testing.T) {
	w := newWorld(t)
	w.ask("POST", "/api/mcps", `{"openapi":"3.0.3","info":{"title":"Tools","version":"1"},"paths":{},"x-tyk-api-gateway":{"info":{"name":"Our tools","id":"tools","state":{"active":true}},`+
		`"upstream":{"url":"http://tools.internal/mcp"},"server":{"listenPath":{"value":"/tools/","strip":true}},"middleware":{"mcpTools":{"add":{"allow":{"enabled":true}}}}}}`)
	b := w.signIn(t)
	b.visit("mcps")
	for _, text := range []string{"Our tools", "/tools/", "http://tools.internal/mcp"} {
		b.See(text)
	}
	b.Looks("documents")
	b.Click("Our tools")
	b.Wait("location.hash.startsWith('#/mcps/tools') && document.querySelector('section.read h2')")
}

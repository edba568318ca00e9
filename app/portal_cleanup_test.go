package app_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/dashboard/local"
	fetching "github.com/gatehouse-io/gatehouse/adapters/fetch"
	"github.com/gatehouse-io/gatehouse/adapters/registration"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/e2e/idp"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// cleaned is a portal with a developer whose app has a key for one product and a client of an
// identity provider for another one.
type cleaned struct {
	*testing.T
	a      *app.App
	token  string
	dash   dashboard.Dashboard
	server *idp.Server
	entry  string // of the identity provider in the registry
}

func (c *cleaned) send(method, path, body string) {
	c.Helper()
	r := httptest.NewRequestWithContext(c.Context(), method, "/portal-api"+path, strings.NewReader(body))
	r.Header.Set("Authorization", c.token)
	w := httptest.NewRecorder()
	if c.a.ServeHTTP(w, r); w.Code != http.StatusOK && w.Code != http.StatusCreated {
		c.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

func settle(t *testing.T, registry bool) *cleaned {
	c := &cleaned{T: t, server: idp.New(idp.Other)}
	t.Cleanup(c.server.Close)
	caller := fetching.New(fetching.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	var err error
	if c.a, err = app.New(app.WithLogger(slog.New(slog.DiscardHandler)), app.WithPortal(app.Portal{
		Shared: true, Local: []string{"http://localhost:3000"}, Registry: registry, Registrar: registration.New(caller, registration.Config{}),
	})); err != nil {
		t.Fatal(err)
	}
	b, err := c.a.Bootstrap(t.Context(), identity.First{Email: "admin@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	c.dash = local.New(c.a.Do, c.a.Text, b.AccessKey)
	for name, method := range map[string]string{"orders": `"enable_jwt":true,"jwt_signing_method":"rsa"`, "tills": `"use_standard_auth":true`} {
		apptest.Send(t, c.a, b.AccessKey, "POST", "/api/apis", fmt.Sprintf(`{"api_definition":{"name":%q,"api_id":%q,"active":true,%s,"proxy":{"listen_path":"/%s/","target_url":"http://up.example"}}}`, name, name, method, name))
	}
	c.token = apptest.Send(t, c.a, "", "POST", "/portal-api/bootstrap", `{"username":"admin@example.com","password":"secret"}`).Get("data", "api_token").Text()
	c.send("POST", "/providers", fmt.Sprintf(`{"Name":"Dashboard","Configuration":{"MetaData":{"URL":"http://localhost:3000","Secret":%q}}}`, b.AccessKey))
	c.send("POST", "/oauth-providers", fmt.Sprintf(`{"Name":"Login","Type":"Other","WellKnownURL":%q,"RegistrationAccessToken":%q}`, c.server.WellKnown(), c.server.InitialToken()))
	c.send("POST", "/oauth-providers/1/client-types", `{"Name":"Server","ResponseTypes":"none","GrantType":"client_credentials"}`)
	c.send("POST", "/plans", `{"Name":"Gold","ProviderID":1,"RateLimit":10,"Per":1,"JWTScope":"gold","AutoApproveAccessRequests":true}`)
	c.send("POST", "/products", `{"Name":"Shop","ProviderID":1,"APIDetails":[{"APIID":"orders"}],"DCREnabled":true,"Scopes":"shop","Templates":[1]}`)
	c.send("POST", "/products", `{"Name":"Tills","ProviderID":1,"APIDetails":[{"APIID":"tills"}]}`)
	c.send("POST", "/users", `{"Email":"dev@example.com","First":"Dora","Last":"Dev","Password":"secret-enough","Role":"consumer-admin","OrganisationID":1,"Active":true}`)
	c.send("POST", "/apps", `{"Name":"Till","UserID":2}`)
	c.send("PUT", "/apps/1/provision", `{"PlanID":1,"ProductIDs":[1],"DCRTemplateID":1}`)
	c.send("PUT", "/apps/1/provision", `{"PlanID":1,"ProductIDs":[2]}`)
	c.entry = "portal-" + apptest.Send(t, c.a, c.token, "GET", "/portal-api/oauth-providers/1", "").Get("CID").Text()
	return c
}

// state describes what exists, here and elsewhere.
func (c *cleaned) state(registry bool) string {
	c.Helper()
	keys, err := c.dash.Keys(c.Context())
	policies, wrong := c.dash.Policies(c.Context())
	if err = errors.Join(err, wrong); err != nil {
		c.Fatal(err)
	}
	requests, names, mapped := []string{}, []string{}, []string{}
	for _, r := range apptest.Send(c, c.a, c.token, "GET", "/portal-api/access_requests", "").Items() {
		requests = append(requests, r.Get("Status").Text())
	}
	for _, p := range policies {
		names = append(names, p.Get("name").Text())
	}
	if registry {
		entry, err := c.dash.Entry(c.Context(), c.entry)
		if errors.Is(err, dashboard.ErrGone) {
			mapped = append(mapped, "no entry")
		} else if err != nil {
			c.Fatal(err)
		}
		for _, m := range entry.APIMappings.All() {
			for scope := range m.All() {
				mapped = append(mapped, scope)
			}
		}
	} else {
		d, err := c.dash.Definition(c.Context(), "orders")
		if err != nil {
			c.Fatal(err)
		}
		for scope := range d.Document.Get("api_definition", "scopes", "jwt", "scope_to_policy").Members() {
			mapped = append(mapped, scope)
		}
	}
	slices.Sort(requests)
	slices.Sort(names)
	slices.Sort(mapped)
	return fmt.Sprintf("%d keys, %d clients, requests %v, policies %v, scopes %v", len(keys), len(c.server.Clients()), requests, names, mapped)
}

// TestCleanUp is the table of docs/wire/portal-oauth-providers.md#clean-up, and the same for
// keys: what each deletion leaves at the dashboard, at the identity provider, in the
// registry, and in definitions.
func TestCleanUp(t *testing.T) {
	const all = "policies [Gold Shop Tills]"
	for name, c := range map[string]struct {
		delete  []string
		left    string
		on, off string // scopes that dashboards know: in the registry, in the definition
	}{
		"nothing":        {nil, "1 keys, 1 clients, requests [approved approved], " + all, "[gold shop]", "[gold shop]"},
		"credential":     {[]string{"/apps/1/access-requests/1/credentials/1", "/apps/1/access-requests/2/credentials/2"}, "0 keys, 0 clients, requests [approved approved], " + all, "[gold shop]", "[gold shop]"},
		"access request": {[]string{"/access_requests/1", "/access_requests/2"}, "0 keys, 0 clients, requests [], " + all, "[gold shop]", "[gold shop]"},
		"app":            {[]string{"/apps/1"}, "0 keys, 0 clients, requests [], " + all, "[gold shop]", "[gold shop]"},
		"user":           {[]string{"/users/2"}, "0 keys, 0 clients, requests [], " + all, "[gold shop]", "[gold shop]"},
		"product":        {[]string{"/products/1", "/products/2"}, "1 keys, 1 clients, requests [approved approved], policies [Gold]", "[]", "[gold shop]"},
		"plan":           {[]string{"/plans/1"}, "1 keys, 1 clients, requests [approved approved], policies [Shop Tills]", "[shop]", "[gold shop]"},
		"client type":    {[]string{"/oauth-providers/1/client-types/1?force=true"}, "1 keys, 0 clients, requests [approved rejected], " + all, "[gold shop]", "[gold shop]"},
		"IdP":            {[]string{"/oauth-providers/1?force=true"}, "1 keys, 0 clients, requests [approved rejected], " + all, "[no entry]", "[gold shop]"},
	} {
		for registry, scopes := range map[bool]string{true: c.on, false: c.off} {
			t.Run(fmt.Sprintf("%s, registry %v", name, registry), func(t *testing.T) {
				t.Parallel()
				w := settle(t, registry)
				for _, path := range c.delete {
					w.send("DELETE", path, "")
				}
				if have, want := w.state(registry), c.left+", scopes "+scopes; have != want {
					t.Errorf("there is left %s, and not %s", have, want)
				}
			})
		}
	}
}

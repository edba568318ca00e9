package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// ask calls an operation of the portal and returns status and answer.
func (c *cleaned) ask(method, path, body string) (int, *doc.Node) {
	c.Helper()
	r := httptest.NewRequestWithContext(c.Context(), method, "/portal-api"+path, strings.NewReader(body))
	r.Header.Set("Authorization", c.token)
	w := httptest.NewRecorder()
	c.a.ServeHTTP(w, r)
	n, err := doc.ParseNode(w.Body.Bytes())
	if err != nil {
		c.Fatal(err)
	}
	return w.Code, n
}

// scopes returns the scopes of the only client.
func (c *cleaned) scopes() (id string, out []string) {
	c.Helper()
	all := c.server.Clients()
	if len(all) != 1 {
		c.Fatalf("clients %v", all)
	}
	for id, text := range all {
		out = strings.Fields(text)
		slices.Sort(out)
		return id, out
	}
	return "", nil
}

// TestCustomClients: custom credentials that are clients of an identity provider share the
// client of the app, gateways know their scopes, no answer contains the secret, and a
// deletion ends them at the provider; a deleted client type ends all of them.
func TestCustomClients(t *testing.T) {
	for _, registry := range []bool{true, false} {
		c := settle(t, registry)
		known, _ := c.scopes()
		_, shown := c.ask("GET", "/apps/1/access-requests/1/credentials/1", "")
		secret := shown.Get("OAuthClientSecret").Text()
		const order = `{"Alias":"Robot","Type":"CREDENTIAL_TYPE_TYK_MANAGED","PlanID":1,"ProductIDs":[1],"AuthenticationMethod":%q,"ProviderID":%d,"ClientTypeID":%d}`
		for body, want := range map[string]string{
			fmt.Sprintf(order, "oauth2", 9, 1): "ProviderID is invalid", fmt.Sprintf(order, "oauth2", 1, 9): "ClientTypeID is invalid",
			fmt.Sprintf(order, "oauth2", 0, 0):                                                  "blank",
			strings.Replace(fmt.Sprintf(order, "oauth2", 1, 1), "[1]", "[2]", 1):                "product Tills",
			strings.Replace(fmt.Sprintf(order, "authToken", 1, 1), `"authToken"`, `"basic"`, 1): "the portal makes no credentials for basic",
		} {
			if status, out := c.ask("POST", "/apps/1/custom_credentials", body); status != http.StatusUnprocessableEntity || !strings.Contains(string(out.JSON()), want) {
				t.Errorf("%s: %d %s", body, status, out.JSON())
			}
		}
		for i, method := range []string{"oauth2", "jwt"} { // both share the client of the app
			status, made := c.ask("POST", "/apps/1/custom_credentials", fmt.Sprintf(order, method, 1, 1))
			id, scopes := c.scopes()
			if status != http.StatusCreated || made.Get("KeyID").Text() != id || id != known || !slices.Equal(scopes, []string{"gold", "shop"}) || made.Get("PlanID").Text() != "1" {
				t.Fatalf("%d: %d %s, %v", i, status, made.JSON(), scopes)
			}
			if i == 0 {
				c.send("DELETE", "/access_requests/1", "") // the client stays for the custom credential
			}
			if token, got := c.server.Token(id, secret, "shop", "gold"); token == "" {
				t.Error(got)
			}
			for _, path := range []string{"", "/" + string(made.Get("ID").JSON())} {
				if _, out := c.ask("GET", "/apps/1/custom_credentials"+path, ""); strings.Contains(string(out.JSON()), secret) {
					t.Errorf("the secret is in %s", out.JSON())
				}
			}
		}
		if want := "1 keys, 1 clients, requests [approved], policies [Gold Shop Tills], scopes [gold shop]"; c.state(registry) != want {
			t.Error(c.state(registry))
		}
		_, list := c.ask("GET", "/apps/1/custom_credentials", "")
		first, second := string(list.Items()[1].Get("ID").JSON()), string(list.Items()[0].Get("ID").JSON())
		if status, out := c.ask("PUT", "/apps/1/custom_credentials/"+first+"/rotate", ""); status != http.StatusUnprocessableEntity {
			t.Error(status, string(out.JSON()))
		}
		c.send("DELETE", "/apps/1/custom_credentials/"+first, "")
		if _, scopes := c.scopes(); !slices.Equal(scopes, []string{"gold", "shop"}) {
			t.Error("the other credential needs the scopes:", scopes)
		}
		if _, out := c.ask("GET", "/doctor", ""); len(out.Get("Findings").Items()) != 0 {
			t.Errorf("%s", out.JSON())
		}
		if registry {
			c.send("DELETE", "/apps/1/custom_credentials/"+second, "")
		} else {
			c.send("DELETE", "/oauth-providers/1/client-types/1?force=true", "")
		}
		if _, got := c.server.Token(known, secret); got != http.StatusBadRequest {
			t.Error("a client that is gone gets", got)
		}
		if _, list := c.ask("GET", "/apps/1/custom_credentials", ""); len(c.server.Clients())+len(list.Items()) != 0 {
			t.Error(c.server.Clients(), string(list.JSON()))
		}
		if !registry {
			continue
		}
		if status, made := c.ask("POST", "/apps/1/custom_credentials", fmt.Sprintf(order, "oauth2", 1, 1)); status != http.StatusCreated || made.Get("KeyID").Text() == known {
			t.Error(status, string(made.JSON()))
		}
		c.send("DELETE", "/apps/1", "")
		if n := len(c.server.Clients()); n != 0 {
			t.Errorf("%d clients are left of an app", n)
		}
	}
}

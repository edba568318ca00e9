package scenarios

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// registering makes the portal write identity providers to the registry of its dashboards.
var registering = environment{"SVC_PORTAL_ENABLEIDPREGISTRY": "true"}

// APIs to which apps get access.
const (
	byKey   = "shop"
	byToken = "vault"
)

// publish creates the APIs.
func (s *shop) publish(t *testing.T) {
	t.Helper()
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI(byKey, nil))
	s.api.do(t, http.MethodPost, classicAPIs, classicAPI(byToken, object{
		"use_standard_auth": false, "enable_jwt": true, "jwt_signing_method": "rsa", "jwt_identity_base_field": "sub",
		"auth_configs": object{"jwt": object{"auth_header_name": "Authorization"}},
	}))
	s.becomes(t, "the APIs are loaded", request{path: "/" + byKey + "/x"}, http.StatusUnauthorized, "")
	s.becomes(t, "the APIs are loaded", request{path: "/" + byToken + "/x"}, http.StatusBadRequest, "")
}

// household is a developer with an app and its access: a product with keys and a product
// with clients, under one plan.
type household struct {
	*shop
	login                                  *logins.Server
	user, app, keys, clients, plan         string // numbers at the portal
	provider, idp, clientType, entry       string
	keysPolicy, clientsPolicy, plansPolicy string
	key, client, secret, scope, planScope  string
	there                                  state
}

// state is the expected state of a household.
type state struct {
	app, user, products, plan, provider, idp bool // at the portal
	key, client, entry                       bool // at the gateway, at the identity provider, in the registry
	keysPolicy, clientsPolicy, plansPolicy   bool // at the dashboard
}

// register registers a developer, whom an admin activates.
func (s *shop) register(t *testing.T, address string) (user string) {
	t.Helper()
	if err := s.portal.call(t.Context(), "POST", "/portal/api/register", object{"Email": address, "First": "Ada", "Password": "a-good-password"}, nil); err != nil {
		t.Fatal(err)
	}
	var found []struct {
		ID    int
		Email string
	}
	s.portal.get(t, "/portal-api/users?page=-1", &found)
	for _, u := range found {
		if u.Email == address {
			user = fmt.Sprint(u.ID)
		}
	}
	if user == "" {
		t.Fatalf("%s is not among %v", address, found)
	}
	s.write(t, "PUT", "/users/"+user, object{"Active": true})
	return user
}

// settle creates the n-th household: both products are approved.
func (s *shop) settle(t *testing.T, server *logins.Server, n int) *household {
	t.Helper()
	h := &household{shop: s, login: server, scope: fmt.Sprintf("vault-%d:read", n), planScope: fmt.Sprintf("gold-%d", n)}
	h.provider = s.connect(t)
	made := s.write(t, "POST", "/oauth-providers", object{"Name": fmt.Sprint("Login ", n), "Type": "Other", "WellKnownURL": server.WellKnown()})
	h.idp, h.entry = number(made), fmt.Sprint("portal-", made["CID"])
	h.clientType = number(s.write(t, "POST", "/oauth-providers/"+h.idp+"/client-types", object{"Name": "Server", "ResponseTypes": "none", "GrantType": "client_credentials"}))
	made = s.write(t, "POST", "/products", object{"Name": fmt.Sprint("Keys ", n), "ProviderID": h.provider, "APIDetails": []object{{"APIID": byKey}}})
	h.keys, h.keysPolicy = number(made), s.policyOf(t, made)
	made = s.write(t, "POST", "/products", object{"Name": fmt.Sprint("Clients ", n), "ProviderID": h.provider, "APIDetails": []object{{"APIID": byToken}}, "DCREnabled": true, "Scopes": h.scope, "Templates": []string{h.clientType}})
	h.clients, h.clientsPolicy = number(made), s.policyOf(t, made)
	made = s.write(t, "POST", "/plans", object{"Name": fmt.Sprint("Gold ", n), "ProviderID": h.provider, "RateLimit": 1000, "Per": 1, "Quota": -1, "AutoApproveAccessRequests": true, "JWTScope": h.planScope})
	h.plan, h.plansPolicy = number(made), s.policyOf(t, made)
	if address := fmt.Sprintf("ada-%d@example.com", n); n == 0 { // it takes a second, so that answers do not reveal who has an account
		h.user = s.register(t, address)
	} else {
		h.user = number(s.write(t, "POST", "/users", object{"Email": address, "First": "Ada", "Active": true}))
	}
	h.app = number(s.write(t, "POST", "/apps", object{"Name": fmt.Sprint("Till ", n), "UserID": h.user}))
	s.write(t, "PUT", "/apps/"+h.app+"/provision", object{"PlanID": h.plan, "ProductIDs": []string{h.keys}})
	s.write(t, "PUT", "/apps/"+h.app+"/provision", object{"PlanID": h.plan, "ProductIDs": []string{h.clients}, "DCRTemplateID": h.clientType})
	for _, c := range h.granted(t) {
		if c["OAuthClientID"] != "" {
			h.client, h.secret = fmt.Sprint(c["OAuthClientID"]), fmt.Sprint(c["OAuthClientSecret"])
		} else {
			h.key = fmt.Sprint(c["Credential"])
		}
	}
	h.there = state{true, true, true, true, true, true, true, true, true, true, true, true}
	return h
}

// policyOf returns the custom identifier of the policy of a product or plan.
func (s *shop) policyOf(t *testing.T, record object) string {
	t.Helper()
	return fmt.Sprint(s.policy(t, fmt.Sprint(record["ReferenceID"]))["id"])
}

// granted returns the credentials of the app.
func (h *household) granted(t *testing.T) (out []object) {
	t.Helper()
	var app struct {
		AccessRequests []struct{ Credentials []object }
	}
	h.portal.get(t, "/portal-api/apps/"+h.app, &app)
	for _, r := range app.AccessRequests {
		out = append(out, r.Credentials...)
	}
	return out
}

// removals are the deletions in a household: the call to the portal, its expected answer,
// and the effect on the rest.
var removals = map[string]func(h *household, t *testing.T){
	"app": func(h *household, t *testing.T) {
		h.remove(t, "/apps/"+h.app, h.there.app)
		h.there.withoutApp()
	},
	"user": func(h *household, t *testing.T) {
		h.remove(t, "/users/"+h.user, h.there.user)
		h.there.user = false
		h.there.withoutApp()
	},
	"products": func(h *household, t *testing.T) {
		h.remove(t, "/products/"+h.keys, h.there.products)
		h.remove(t, "/products/"+h.clients, h.there.products)
		if h.there.products {
			h.there.products, h.there.keysPolicy, h.there.clientsPolicy = false, false, false
		}
	},
	"plan": func(h *household, t *testing.T) {
		h.remove(t, "/plans/"+h.plan, h.there.plan)
		if h.there.plan {
			h.there.plan, h.there.plansPolicy = false, false
		}
	},
	"provider": func(h *household, t *testing.T) { // the dashboard keeps its own data: docs/wire/portal-providers.md#deletion
		h.remove(t, "/providers/"+h.provider, h.there.provider)
		h.there.provider, h.there.products, h.there.plan = false, false, false
	},
	"identity provider": func(h *household, t *testing.T) {
		h.remove(t, "/oauth-providers/"+h.idp+"?force=true", h.there.idp)
		h.there.idp, h.there.client = false, false
		h.there.entry = h.there.entry && !h.there.provider
	},
}

// withoutApp removes the app from the state, with its credentials if these can still be
// revoked.
func (s *state) withoutApp() {
	if s.app {
		s.app, s.client = false, false
		s.key = s.key && !s.provider
	}
}

// remove deletes a record: an existing one is deleted, and a missing one is not found.
func (h *household) remove(t *testing.T, path string, there bool) {
	t.Helper()
	want := http.StatusOK
	if !there {
		want = http.StatusNotFound
	}
	if err := h.portal.call(t.Context(), "DELETE", "/portal-api"+path, nil, nil); statusOf(err) != want {
		t.Errorf("DELETE %s: %v, want %d", path, err, want)
	}
}

// outside is the state of the other services.
type outside struct {
	Keys     []string            // their policies, sorted
	Clients  map[string]string   // their scopes
	Mappings map[string][]string // of a registry entry: scope and policy of APIs
	Policies []string
}

// expected returns the expected state of the other services.
func (h *household) expected() outside {
	out := outside{Clients: map[string]string{}, Mappings: map[string][]string{}}
	for id, there := range map[string]bool{h.keysPolicy: h.there.keysPolicy, h.clientsPolicy: h.there.clientsPolicy, h.plansPolicy: h.there.plansPolicy} {
		if there {
			out.Policies = append(out.Policies, id)
		}
	}
	if h.there.key {
		out.Keys = []string{h.keysPolicy + " " + h.plansPolicy}
	}
	if h.there.client {
		out.Clients[h.client] = h.scope + " " + h.planScope
	}
	if h.there.entry {
		list := []string{}
		if h.there.clientsPolicy {
			list = append(list, byToken+" "+h.scope+" "+h.clientsPolicy)
			if h.there.plansPolicy {
				list = append(list, byToken+" "+h.planScope+" "+h.plansPolicy)
			}
		}
		out.Mappings[h.entry] = list
	}
	return out.sorted()
}

func (o outside) sorted() outside {
	slices.Sort(o.Keys)
	slices.Sort(o.Policies)
	for _, list := range o.Mappings {
		slices.Sort(list)
	}
	return o
}

// outside reads the state of the other services.
func (s *shop) outside(t *testing.T, server *logins.Server) outside {
	t.Helper()
	out := outside{Clients: server.Clients(), Mappings: map[string][]string{}}
	var keys struct {
		Keys []struct {
			Data struct {
				Policies []string `json:"apply_policies"`
			}
		}
	}
	s.api.get(t, "/api/keys/detailed?p=-1", &keys)
	for _, k := range keys.Keys {
		out.Keys = append(out.Keys, strings.Join(k.Data.Policies, " "))
	}
	var entries struct {
		IDPs []idp `json:"client_idps"`
	}
	s.api.get(t, clientIDPs+"?p=-1", &entries)
	for _, e := range entries.IDPs {
		out.Mappings[e.ClientIDPID] = []string{}
		for api, m := range e.APIMappings {
			for scope, policy := range m.ScopeToPolicy {
				out.Mappings[e.ClientIDPID] = append(out.Mappings[e.ClientIDPID], api+" "+scope+" "+policy)
			}
		}
	}
	var listed struct{ Data []struct{ ID string } }
	s.api.get(t, policies+"?p=-2", &listed)
	for _, p := range listed.Data {
		out.Policies = append(out.Policies, p.ID)
	}
	return out.sorted()
}

// differs returns how two such states differ.
func (o outside) differs(want outside) error {
	if slices.Equal(o.Keys, want.Keys) && maps.Equal(o.Clients, want.Clients) && slices.Equal(o.Policies, want.Policies) && maps.EqualFunc(o.Mappings, want.Mappings, slices.Equal) {
		return nil
	}
	return fmt.Errorf("outside there is\n%+v, want\n%+v", o, want)
}

// consistent fails unless the other services have the expected state, the portal shows
// what is left, and no saga waits.
func (h *household) consistent(t *testing.T, what string) {
	t.Helper()
	err := h.outside(t, h.login).differs(h.expected())
	var apps, requests, waiting []object
	h.portal.get(t, "/portal-api/apps", &apps)
	h.portal.get(t, "/portal-api/access_requests", &requests)
	h.portal.get(t, "/portal-api/operations", &waiting)
	switch {
	case err != nil:
	case h.there.app != (len(apps) == 1), h.there.app != (len(requests) == 2):
		err = fmt.Errorf("apps %v, requests %v", apps, requests)
	case len(waiting) > 0:
		err = fmt.Errorf("operations %v", waiting)
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// opens fails unless the gateway accepts exactly the expected credentials.
func (h *household) opens(t *testing.T, what, token string) {
	t.Helper()
	rights := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}
	with := h.there
	h.becomes(t, what+": the key", request{path: "/" + byKey + "/x", token: h.key}, rights[with.key && with.keysPolicy && with.plansPolicy], "")
	h.becomes(t, what+": the token", request{path: "/" + byToken + "/x", token: "Bearer " + token}, rights[with.entry && with.clientsPolicy], "")
	_, status := h.login.Token(h.client, h.secret)
	if want := map[bool]int{true: http.StatusOK, false: http.StatusBadRequest}[with.client]; status != want {
		t.Errorf("%s: the identity provider answers the client %d, want %d", what, status, want)
	}
}

// clear removes what a dashboard keeps of a deleted provider.
func (h *household) clear(t *testing.T) {
	t.Helper()
	var failed error
	if h.there.key {
		failed = errors.Join(failed, h.api.call(t.Context(), "DELETE", "/api/keys/"+h.key, nil, nil))
	}
	if h.there.entry {
		failed = errors.Join(failed, h.api.call(t.Context(), "DELETE", idpPath(h.entry), nil, nil))
	}
	for id, there := range map[string]bool{h.keysPolicy: h.there.keysPolicy, h.clientsPolicy: h.there.clientsPolicy, h.plansPolicy: h.there.plansPolicy} {
		if there {
			failed = errors.Join(failed, h.api.call(t.Context(), "DELETE", policyPath(id), nil, nil))
		}
	}
	if failed != nil {
		t.Fatal(failed)
	}
}

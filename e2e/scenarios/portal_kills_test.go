package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestPortalKills kills the portal, its dashboard, the gateway or the identity provider at
// random moments while apps get access, rotate and are deleted. When all are back, no
// acknowledged change is lost, and each key and each client belongs to a credential.
func TestPortalKills(t *testing.T) {
	r := random(t)
	t.Run("in one process", func(t *testing.T) {
		e := controlled(t, environment{"PORTAL_SERVE": "shared"}.with(hashing).with(registering))
		v := &victims{shop: openShop(t, e, e.addr)}
		v.kills(t, r, 4, map[string]func(){"service": v.process.Kill})
	})
	t.Run("as two processes", func(t *testing.T) {
		e := controlled(t, hashing)
		addr, portal := runPortal(t, registering)
		v := &victims{shop: openShop(t, e, addr), own: portal}
		v.kills(t, r, 6, map[string]func(){"portal": portal.Kill, "dashboard": v.process.Kill})
	})
}

// kills repeatedly kills a random victim.
func (v *victims) kills(t *testing.T, r *rand.Rand, rounds int, acts map[string]func()) {
	if long() {
		rounds *= 10
	}
	v.login, v.apps = logins.New(logins.Other), map[string]*tenantOf{}
	t.Cleanup(v.login.Close)
	v.publish(t)
	v.prepare(t)
	acts["gateway"], acts["identity provider"] = v.gateway.Kill, v.silence
	names := slices.Sorted(maps.Keys(acts))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	began, done := time.Now(), 0
	for round := range rounds {
		name, delay := names[round%len(names)], time.Duration(r.IntN(150))*time.Millisecond
		killed := make(chan struct{})
		go func() { defer close(killed); time.Sleep(delay); acts[name]() }()
		failed := error(nil)
		for failed == nil {
			failed = v.live(t, r)
			done++
		}
		<-killed
		v.revive(t, name)
		what := fmt.Sprintf("round %d, the %s was killed after %v, which showed as %v", round, name, delay, failed)
		v.calm(t, what)
		v.check(t, what)
	}
	t.Logf("%d kills in %v, %d lives begun, %d apps left", rounds, time.Since(began).Round(time.Millisecond), done, len(v.apps))
}

// victims are the services that are killed, and the acknowledged changes.
type victims struct {
	*shop
	own                            *harness.Process
	login                          *logins.Server
	user, plan, keys, clients, way string
	further                        map[string]string // a second product, by authentication of its APIs
	policies                       map[string]string // of products and of the plan, by name
	scopes                         map[string]string // of products, by name
	apps                           map[string]*tenantOf
	made, silenced                 int
}

// tenantOf is what is certain about an app: acknowledged access, and whether its removal has
// begun.
type tenantOf struct {
	keys, clients bool
	leaving       bool
}

func (v *victims) prepare(t *testing.T) {
	t.Helper()
	provider := v.connect(t)
	made := v.write(t, "POST", "/oauth-providers", object{"Name": "Login", "Type": "Other", "WellKnownURL": v.login.WellKnown()})
	v.way = number(v.write(t, "POST", "/oauth-providers/"+number(made)+"/client-types", object{"Name": "Server", "ResponseTypes": "none", "GrantType": "client_credentials"}))
	v.policies, v.scopes, v.further = map[string]string{}, map[string]string{"Clients": "vault:read", "More clients": "vault:write"}, map[string]string{}
	sell := func(path string, record object) string {
		record["ProviderID"] = provider
		made := v.write(t, "POST", path, record)
		v.policies[fmt.Sprint(record["Name"])] = v.policyOf(t, made)
		return number(made)
	}
	keys := func(name string) string {
		return sell("/products", object{"Name": name, "APIDetails": []object{{"APIID": byKey}}})
	}
	clients := func(name string) string {
		return sell("/products", object{"Name": name, "APIDetails": []object{{"APIID": byToken}}, "DCREnabled": true, "Scopes": v.scopes[name], "Templates": []string{v.way}})
	}
	v.keys, v.further["authToken"] = keys("Keys"), keys("More keys")
	v.clients, v.further["jwt"] = clients("Clients"), clients("More clients")
	v.plan = sell("/plans", object{"Name": "Gold", "RateLimit": -1, "Per": -1, "Quota": -1, "AutoApproveAccessRequests": true, "JWTScope": "gold"})
	v.user = number(v.write(t, "POST", "/users", object{"Email": "ada@example.com", "First": "Ada", "Active": true}))
}

// silence makes the identity provider close all connections, alternately before and after it
// has carried out a request.
func (v *victims) silence() {
	v.silenced++
	for i, at := range logins.Endpoints {
		v.login.Misbehave(at, []logins.Fault{logins.Down, logins.Dies}[(i+v.silenced)%2], -1)
	}
}

// revive restarts what was killed.
func (v *victims) revive(t *testing.T, name string) {
	t.Helper()
	switch name {
	case "portal":
		v.own.Start(t)
	case "dashboard", "service":
		v.restart(t)
	case "gateway":
		if err := v.gateway.Start(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	default:
		v.login.Behave()
	}
	until(t, startLimit, "readiness of the portal", func() error { return v.portal.call(t.Context(), "GET", "/ready", nil, nil) })
	until(t, startLimit, "readiness of the gateway", func() error {
		if a := v.ask(t, request{path: "/ready"}); a.status != http.StatusOK {
			return errors.New(a.String())
		}
		return nil
	})
}

// live creates an app, gets access to both products, rotates, and perhaps deletes the app.
func (v *victims) live(t *testing.T, r *rand.Rand) error {
	do := func(method, path string, body, out any) error {
		return v.portal.call(t.Context(), method, "/portal-api"+path, body, out)
	}
	var app object
	v.made++
	if err := do("POST", "/apps", object{"Name": fmt.Sprint("Till ", v.made), "UserID": v.user}, &app); err != nil {
		return err
	}
	id, mine := number(app), &tenantOf{}
	v.apps[id] = mine
	if err := do("PUT", "/apps/"+id+"/provision", object{"PlanID": v.plan, "ProductIDs": []string{v.keys}}, nil); err != nil {
		return err
	}
	mine.keys = true
	if err := do("PUT", "/apps/"+id+"/provision", object{"PlanID": v.plan, "ProductIDs": []string{v.clients}, "DCRTemplateID": v.way}, nil); err != nil {
		return err
	}
	mine.clients = true
	asked, err := v.requestsOf(t, id)
	if err != nil {
		return err
	}
	for _, a := range asked {
		if a.AuthType != "authToken" {
			continue
		}
		if err := do("PUT", fmt.Sprintf("/apps/%s/access-requests/%d/credentials/%d/rotate", id, a.ID, a.Credentials[0].ID), nil, nil); err != nil {
			return err
		}
	}
	switch one := asked[r.IntN(2)]; r.IntN(4) {
	case 0:
		mine.leaving = true
		return do("DELETE", "/apps/"+id, nil, nil)
	case 1:
		return v.again(t, id, do)
	case 2:
		if one.AuthType == "authToken" {
			mine.keys = false
		} else {
			mine.clients = false
		}
		return do("DELETE", fmt.Sprintf("/access_requests/%d", one.ID), nil, nil)
	}
	return nil
}

// again adds another product to each credential of an app.
func (v *victims) again(t *testing.T, app string, do func(method, path string, body, out any) error) error {
	t.Helper()
	list, err := v.requestsOf(t, app)
	for _, a := range list {
		further := object{"PlanID": v.plan, "ProductIDs": []string{v.further[a.AuthType]}, "CredentialID": a.Credentials[0].ID}
		if a.AuthType != "authToken" {
			further["DCRTemplateID"] = v.way
		}
		if err == nil {
			err = do("PUT", "/apps/"+app+"/provision", further, nil)
		}
	}
	return err
}

// asked is an access request in the representation of its app.
type asked struct {
	ID               int
	Status, AuthType string
	Products         []string
	Credentials      []struct {
		ID                                        int
		Credential, OAuthClientID, CredentialHash string
	}
}

func (v *victims) requestsOf(t *testing.T, app string) ([]asked, error) {
	var shown struct{ AccessRequests []asked }
	err := v.portal.call(t.Context(), "GET", "/portal-api/apps/"+app, nil, &shown)
	return shown.AccessRequests, err
}

// calm waits until no saga is running.
func (v *victims) calm(t *testing.T, what string) {
	t.Helper()
	until(t, startLimit, what+": operations that go on", func() error {
		var open []struct{ ID, Operation, State, Error string }
		v.portal.get(t, "/portal-api/operations", &open)
		if len(open) == 0 {
			return nil
		}
		for _, o := range open { // a saga that is being carried out right now refuses
			if err := v.portal.call(t.Context(), "PUT", "/portal-api/operations/"+o.ID+"/retry", nil, nil); err != nil && statusOf(err) < http.StatusBadRequest {
				return err
			}
		}
		return fmt.Errorf("%+v", open)
	})
}

// check compares the credentials of the portal with the acknowledged changes, with the keys
// of the gateway, with the clients of the identity provider, and with the registry.
func (v *victims) check(t *testing.T, what string) {
	t.Helper()
	keys, clients := v.credentials(t, what)
	var there struct {
		Keys []struct {
			Hash string `json:"key_hash"`
			Data struct {
				Policies []string `json:"apply_policies"`
			}
		}
	}
	v.api.get(t, "/api/keys/detailed?p=-1", &there)
	have := map[string]string{}
	for _, k := range there.Keys {
		have[k.Hash] = strings.Join(sortedTexts(k.Data.Policies), " ")
	}
	if !maps.Equal(have, keys) {
		t.Errorf("%s: the gateway has the keys %v, want %v", what, have, keys)
	}
	have = v.login.Clients()
	for id, scopes := range have {
		have[id] = strings.Join(sortedTexts(strings.Fields(scopes)), " ")
	}
	if !maps.Equal(have, clients) {
		t.Errorf("%s: the identity provider has the clients %v, want %v", what, have, clients)
	}
	told := map[string]string{"gold": v.policies["Gold"]}
	for name, scope := range v.scopes {
		told[scope] = v.policies[name]
	}
	for entry, list := range v.outside(t, v.login).Mappings {
		all := strings.Join(list, " ")
		for _, scopes := range clients {
			for _, scope := range strings.Fields(scopes) {
				if !strings.Contains(all, byToken+" "+scope+" "+told[scope]) {
					t.Errorf("%s: the entry %s does not know %s: %q", what, entry, scope, list)
				}
			}
		}
	}
	var found struct{ Findings []object }
	v.portal.get(t, "/portal-api/doctor", &found)
	if len(found.Findings) > 0 { // the next synchronisation repeats failed writes to a registry
		t.Logf("%s: before a synchronisation the doctor finds %v", what, found.Findings)
		v.synchronise(t)
		v.portal.get(t, "/portal-api/doctor", &found)
	}
	if len(found.Findings) > 0 || t.Failed() {
		t.Fatalf("%s: the doctor finds %v", what, found.Findings)
	}
}

// credentials returns the policies of keys and the scopes of clients according to the access
// requests of the portal, and compares these with the acknowledged changes.
func (v *victims) credentials(t *testing.T, what string) (keys, clients map[string]string) {
	t.Helper()
	var all []struct{ ID int }
	v.portal.get(t, "/portal-api/apps?page=-1", &all)
	policies, scopes, known := map[string][]string{}, map[string][]string{}, map[string]bool{}
	for _, a := range all {
		id := fmt.Sprint(a.ID)
		list, err := v.requestsOf(t, id)
		if err != nil {
			t.Fatal(err)
		}
		known[id] = true
		has := map[string]bool{}
		for _, r := range list {
			if r.Status == "approved" && len(r.Credentials) != 1 {
				t.Errorf("%s: an approved request has %d credentials", what, len(r.Credentials))
			}
			for _, c := range r.Credentials {
				has[r.AuthType] = true
				for _, name := range r.Products {
					if c.OAuthClientID != "" {
						scopes[c.OAuthClientID] = append(scopes[c.OAuthClientID], v.scopes[name])
					} else {
						policies[c.CredentialHash] = append(policies[c.CredentialHash], v.policies[name])
					}
				}
			}
		}
		if mine := v.apps[id]; mine != nil && !mine.leaving && (mine.keys && !has["authToken"] || mine.clients && !has["jwt"]) {
			t.Errorf("%s: of app %s, which should have %+v, there is left %+v", what, id, *mine, list)
		}
	}
	for id, mine := range v.apps {
		if !known[id] && !mine.leaving {
			t.Errorf("%s: app %s is gone", what, id)
		}
		if mine.leaving {
			delete(v.apps, id)
		}
	}
	return joined(policies, v.policies["Gold"]), joined(scopes, "gold")
}

// joined adds a text to each list and joins the list.
func joined(lists map[string][]string, more string) map[string]string {
	out := map[string]string{}
	for id, list := range lists {
		out[id] = strings.Join(sortedTexts(append(list, more)), " ")
	}
	return out
}

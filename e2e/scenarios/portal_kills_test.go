package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
	logins "github.com/gatehouse-io/gatehouse/e2e/idp"
)

// TestPortalKills kills the portal, its dashboard, the gateway or the identity provider at
// random moments while apps get access, rotate and leave. When all are back, nothing that
// was acknowledged is lost, and each key and each client belongs to a credential.
func TestPortalKills(t *testing.T) {
	rounds := 10
	if long() {
		rounds = 100
	}
	r := random(t)
	e := controlled(t, hashing)
	addr, portal := runPortal(t, registering)
	v := &victims{shop: openShop(t, e, addr), own: portal, login: logins.New(logins.Other), apps: map[string]*tenantOf{}}
	t.Cleanup(v.login.Close)
	v.publish(t)
	v.prepare(t)
	acts := map[string]func(){"portal": portal.Kill, "dashboard": v.process.Kill, "gateway": v.gateway.Kill, "identity provider": v.silence}
	names := slices.Sorted(maps.Keys(acts))
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

// victims are those that are killed, and what was acknowledged.
type victims struct {
	*shop
	own                            *harness.Process
	login                          *logins.Server
	user, plan, keys, clients, way string
	told                           []string // what the registry says after an approval
	approved                       bool     // and whether there was one for a client
	apps                           map[string]*tenantOf
	made                           int
}

// tenantOf is what is known for sure of an app: access that was acknowledged, and whether
// somebody has begun to take it away.
type tenantOf struct {
	keys, clients bool
	leaving       bool
}

func (v *victims) prepare(t *testing.T) {
	t.Helper()
	provider := v.connect(t)
	made := v.write(t, "POST", "/oauth-providers", object{"Name": "Login", "Type": "Other", "WellKnownURL": v.login.WellKnown()})
	v.way = number(v.write(t, "POST", "/oauth-providers/"+number(made)+"/client-types", object{"Name": "Server", "ResponseTypes": "none", "GrantType": "client_credentials"}))
	v.keys = number(v.write(t, "POST", "/products", object{"Name": "Keys", "ProviderID": provider, "APIDetails": []object{{"APIID": byKey}}}))
	product := v.write(t, "POST", "/products", object{"Name": "Clients", "ProviderID": provider, "APIDetails": []object{{"APIID": byToken}}, "DCREnabled": true, "Scopes": "vault:read", "Templates": []string{v.way}})
	plan := v.write(t, "POST", "/plans", object{"Name": "Gold", "ProviderID": provider, "RateLimit": -1, "Per": -1, "Quota": -1, "AutoApproveAccessRequests": true, "JWTScope": "gold"})
	v.clients, v.plan = number(product), number(plan)
	v.told = []string{byToken + " gold " + v.policyOf(t, plan), byToken + " vault:read " + v.policyOf(t, product)}
	v.user = number(v.write(t, "POST", "/users", object{"Email": "ada@example.com", "First": "Ada", "Active": true}))
}

// silence makes the identity provider end all connections, at random before or after it has
// done what was asked.
func (v *victims) silence() {
	for i, at := range logins.Endpoints {
		v.login.Misbehave(at, []logins.Fault{logins.Down, logins.Dies}[i%2], -1)
	}
}

// revive starts again what was killed.
func (v *victims) revive(t *testing.T, name string) {
	t.Helper()
	switch name {
	case "portal":
		v.own.Start(t)
	case "dashboard":
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

// live lets an app come, get access to both products, rotate, and perhaps leave.
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
	mine.clients, v.approved = true, true
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
	switch one := asked[r.IntN(2)]; r.IntN(3) {
	case 0:
		mine.leaving = true
		if err := do("DELETE", "/apps/"+id, nil, nil); err != nil {
			return err
		}
		delete(v.apps, id)
	case 1:
		if one.AuthType == "authToken" {
			mine.keys = false
		} else {
			mine.clients = false
		}
		return do("DELETE", fmt.Sprintf("/access_requests/%d", one.ID), nil, nil)
	}
	return nil
}

// asked is an access request as it stands in its app.
type asked struct {
	ID               int
	Status, AuthType string
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

// calm waits until no operation goes on.
func (v *victims) calm(t *testing.T, what string) {
	t.Helper()
	until(t, startLimit, what+": operations that go on", func() error {
		var open []struct{ ID, Operation, State, Error string }
		v.portal.get(t, "/portal-api/operations", &open)
		if len(open) == 0 {
			return nil
		}
		for _, o := range open { // one that is carried out at the moment refuses
			if err := v.portal.call(t.Context(), "PUT", "/portal-api/operations/"+o.ID+"/retry", nil, nil); err != nil && statusOf(err) < http.StatusBadRequest {
				return err
			}
		}
		return fmt.Errorf("%+v", open)
	})
}

// check compares the credentials of the portal with what was acknowledged, with the keys of
// the gateway and with the clients of the identity provider.
func (v *victims) check(t *testing.T, what string) {
	t.Helper()
	var all []struct{ ID int }
	v.portal.get(t, "/portal-api/apps?page=-1", &all)
	keys, clients, known := []string{}, []string{}, map[string]bool{}
	for _, a := range all {
		id := fmt.Sprint(a.ID)
		known[id] = true
		list, err := v.requestsOf(t, id)
		if err != nil {
			t.Fatal(err)
		}
		has := map[string]bool{}
		for _, r := range list {
			if r.Status == "approved" && len(r.Credentials) != 1 {
				t.Errorf("%s: an approved request has %d credentials", what, len(r.Credentials))
			}
			for _, c := range r.Credentials {
				has[r.AuthType] = true
				if c.OAuthClientID != "" {
					clients = append(clients, c.OAuthClientID)
				} else {
					keys = append(keys, c.CredentialHash)
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
	var there struct {
		Keys []struct {
			Hash string `json:"key_hash"`
		}
	}
	v.api.get(t, "/api/keys/detailed?p=-1", &there)
	hashes := []string{}
	for _, k := range there.Keys {
		hashes = append(hashes, k.Hash)
	}
	if !slices.Equal(sortedTexts(hashes), sortedTexts(keys)) {
		t.Errorf("%s: the gateway has the keys %q, want %q", what, hashes, keys)
	}
	if ids := slices.Sorted(maps.Keys(v.login.Clients())); !slices.Equal(ids, sortedTexts(clients)) {
		t.Errorf("%s: the identity provider has the clients %q, want %q", what, ids, clients)
	}
	for entry, told := range v.outside(t, v.login).Mappings { // one that was not acknowledged may have been told, too
		if v.approved && !slices.Equal(told, v.told) || !v.approved && len(told) != 0 && !slices.Equal(told, v.told) {
			t.Errorf("%s: the entry %s says %q, want %q", what, entry, told, v.told)
		}
	}
	var found struct{ Findings []object }
	v.portal.get(t, "/portal-api/doctor", &found)
	if len(found.Findings) > 0 || t.Failed() {
		t.Fatalf("%s: the doctor finds %v", what, found.Findings)
	}
}

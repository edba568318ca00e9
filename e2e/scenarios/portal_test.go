package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// shop is a portal, its dashboard, and a gateway of the dashboard.
type shop struct {
	*estate
	portal *client // as the first admin of the portal
}

// TestPortal publishes a product with a plan and follows both until their deletion, at
// the portal, at the dashboard and at the gateway: in one process, and over HTTP.
func TestPortal(t *testing.T) {
	t.Run("in one process", func(t *testing.T) {
		e := newEstate(t, environment{"PORTAL_SERVE": "shared"})
		newShop(t, e, e.addr).life(t)
	})
	t.Run("as two processes", func(t *testing.T) {
		e := newEstate(t, nil)
		newShop(t, e, startPortal(t)).life(t)
	})
}

// startPortal runs a portal without a dashboard and returns its address.
func startPortal(t *testing.T) string {
	t.Helper()
	addr, _ := runPortal(t, nil)
	return addr
}

// runPortal runs a portal without a dashboard, which can be killed and restarted.
func runPortal(t *testing.T, env environment) (addr string, p *harness.Process) {
	t.Helper()
	port := strconv.Itoa(harness.FreePort(t))
	env = onSQLite(t.TempDir()).with(environment{"SVC_PORTAL_HOSTPORT": port}).with(env)
	p = harness.StartProcess(t, harness.Command{Path: harness.Binary(t), Args: []string{"portal"}, Dir: t.TempDir(), Env: env.list()})
	return net.JoinHostPort("127.0.0.1", port), p
}

// newShop bootstraps the portal and connects it with the dashboard.
func newShop(t *testing.T, e *estate, addr string) *shop {
	t.Helper()
	s := openShop(t, e, addr)
	s.connect(t)
	return s
}

// openShop bootstraps the portal.
func openShop(t *testing.T, e *estate, addr string) *shop {
	t.Helper()
	s := &shop{e, newClient("http://"+addr, "Authorization", "none")}
	enter(t, s.portal)
	return s
}

// connect connects the portal with the dashboard and returns the number of the provider.
func (s *shop) connect(t *testing.T) string {
	t.Helper()
	settings, err := json.Marshal(object{"URL": s.api.base, "Secret": accessKey, "OrgID": orgID})
	if err != nil {
		t.Fatal(err)
	}
	id := number(s.write(t, "POST", "/providers", object{"Name": "Ours", "Configuration": object{"MetaData": string(settings)}}))
	s.write(t, "PUT", "/providers/"+id+"/synchronize", nil)
	return id
}

// enter bootstraps a portal: from then on its client is the first admin.
func enter(t *testing.T, portal *client) {
	t.Helper()
	until(t, startLimit, "readiness of the portal", func() error { return portal.call(t.Context(), "GET", "/ready", nil, nil) })
	var first struct {
		Data struct {
			Token string `json:"api_token"`
		}
	}
	if err := portal.call(t.Context(), "POST", "/portal-api/bootstrap", object{"username": adminEmail, "password": "secret"}, &first); err != nil {
		t.Fatal(err)
	}
	portal.header.Set("Authorization", first.Data.Token)
}

// write makes a change at the portal and returns the answer.
func (s *shop) write(t *testing.T, method, path string, body any) (out object) {
	t.Helper()
	if err := s.portal.call(t.Context(), method, "/portal-api"+path, body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *shop) synchronise(t *testing.T) {
	t.Helper()
	s.write(t, "PUT", "/providers/1/synchronize", nil)
}

// drifts returns the kinds of differences.
func (s *shop) drifts(t *testing.T) (words []string) {
	t.Helper()
	var found struct{ Differences []struct{ Drift string } }
	s.portal.get(t, "/portal-api/providers/1/drift", &found)
	for _, d := range found.Differences {
		words = append(words, d.Drift)
	}
	return words
}

// inStep fails unless both sides agree.
func (s *shop) inStep(t *testing.T, step string) {
	t.Helper()
	if words := s.drifts(t); len(words) > 0 {
		t.Errorf("%s: the sides differ: %q", step, words)
	}
}

// at returns a record of the portal, nil if it is not shown.
func (s *shop) at(t *testing.T, path string) (out object) {
	t.Helper()
	err := s.portal.call(t.Context(), "GET", "/portal-api"+path, nil, &out)
	if err != nil && statusOf(err) != http.StatusNotFound {
		t.Fatal(err)
	}
	return out
}

// policy returns a policy of the dashboard, nil if it does not exist.
func (s *shop) policy(t *testing.T, id string) (out object) {
	t.Helper()
	err := s.api.call(t.Context(), "GET", policyPath(id), nil, &out)
	if err != nil && statusOf(err) >= http.StatusInternalServerError {
		t.Fatal(err)
	}
	return out
}

// feeds waits until the gateway has exactly the policies with these names.
func (s *shop) feeds(t *testing.T, names ...string) {
	t.Helper()
	slices.Sort(names)
	waitFor(t, s.gateway, fmt.Sprintf("has the policies %q", names), func(st gatewaysim.State) bool {
		var have []string
		for _, p := range st.Policies {
			have = append(have, p.Name)
		}
		slices.Sort(have)
		return slices.Equal(have, names)
	})
}

func (s *shop) life(t *testing.T) {
	for _, id := range []string{"shop", "stock"} {
		s.api.do(t, http.MethodPost, classicAPIs, classicAPI(id, nil))
	}
	plan := s.write(t, "POST", "/plans", object{"Name": "Gold", "ProviderID": 1, "RateLimit": 1000, "Per": 1, "Quota": -1, "QuotaRenewalRate": -1})
	product := s.write(t, "POST", "/products", object{"Name": "Shopping", "ProviderID": 1, "APIDetails": []object{{"APIID": "shop"}}, "IsDocumentationOnly": false})
	limits, access := fmt.Sprint(plan["ReferenceID"]), fmt.Sprint(product["ReferenceID"])
	planPath, productPath := fmt.Sprintf("/plans/%v", plan["ID"]), fmt.Sprintf("/products/%v", product["ID"])
	if p := s.policy(t, limits); p["rate"] != 1000.0 || p["org_id"] != orgID {
		t.Fatalf("the policy of the plan is %v", p)
	}
	if p := s.policy(t, access); fmt.Sprint(p["access_rights"]) == "map[]" || p["state"] != "active" {
		t.Fatalf("the policy of the product is %v", p)
	}
	s.feeds(t, "Gold", "Shopping")
	s.inStep(t, "published")
	buyer := s.key("key-of-buyer", fmt.Sprint(s.policy(t, limits)["id"]), fmt.Sprint(s.policy(t, access)["id"]))
	s.becomes(t, "a key of the product is let in", buyer, http.StatusOK, "")

	s.write(t, "PUT", planPath, object{"KeyExpiresIn": 3600})
	if p := s.policy(t, limits); p["key_expires_in"] != 3600.0 || p["rate"] != 1000.0 {
		t.Errorf("after a change of the expiry alone the policy is %v", p)
	}
	s.inStep(t, "expiry")

	s.write(t, "PUT", productPath, object{"APIDetails": []object{}})
	if p := s.policy(t, access); p["state"] != "draft" || p["is_inactive"] != true {
		t.Errorf("without APIs the policy is %v", p)
	}
	s.becomes(t, "the product has no APIs", buyer, http.StatusForbidden, keyInactive)
	s.inStep(t, "a draft")
	s.write(t, "PUT", productPath, object{"APIDetails": []object{{"APIID": "shop"}, {"APIID": "stock"}}})
	if p := s.policy(t, access); p["state"] != "active" || p["is_inactive"] != false {
		t.Errorf("with APIs again the policy is %v", p)
	}
	s.becomes(t, "the key works again", buyer, http.StatusOK, "")
	s.inStep(t, "active again")

	s.atTheDashboard(t, planPath, limits)

	s.write(t, "DELETE", productPath, nil)
	s.feeds(t, "Gold")
	s.becomes(t, "the product is gone", buyer, http.StatusForbidden, "")
	s.write(t, "DELETE", planPath, nil)
	s.feeds(t)
	if s.policy(t, access) != nil || s.policy(t, limits) != nil {
		t.Error("policies are left")
	}
	s.inStep(t, "deleted")
	s.write(t, "DELETE", "/providers/1", nil)
	s.healthy(t)
}

// atTheDashboard changes, hides and restores a plan through changes of its policy.
func (s *shop) atTheDashboard(t *testing.T, planPath, id string) {
	t.Helper()
	was := s.policy(t, id)
	was["rate"] = 7
	s.api.do(t, http.MethodPut, policyPath(id), was)
	if words := s.drifts(t); !slices.Equal(words, []string{"limits"}) {
		t.Errorf("drift %q", words)
	}
	s.synchronise(t)
	if p := s.at(t, planPath); p["RateLimit"] != 7.0 || p["KeyExpiresIn"] != 3600.0 {
		t.Errorf("the plan is %v", p)
	}
	s.inStep(t, "changed at the dashboard")
	s.api.do(t, http.MethodDelete, policyPath(id), nil)
	s.synchronise(t)
	if p := s.at(t, planPath); p != nil {
		t.Errorf("a plan without a policy is shown: %v", p)
	}
	s.feeds(t, "Shopping")
	again := s.policyAgain(t, was)
	s.synchronise(t)
	if p := s.at(t, planPath); p["RateLimit"] != 7.0 || p["Name"] != "Gold" {
		t.Errorf("the plan whose policy has come back is %v", p)
	}
	s.feeds(t, "Gold", "Shopping")
	s.inStep(t, "restored, its policy is "+again)
}

// policyAgain creates a deleted policy again.
func (s *shop) policyAgain(t *testing.T, was object) string {
	t.Helper()
	delete(was, "date_created")
	return s.api.do(t, http.MethodPost, policies, was).Message
}

// TestDashboardDies kills the dashboard at random moments while plans are created,
// changed and synchronised. Afterwards one synchronisation makes both sides agree: no
// acknowledged change is lost, and nothing is left over.
func TestDashboardDies(t *testing.T) {
	rounds := 5
	if long() {
		rounds = 50
	}
	r := random(t)
	e := &estate{service: serve(t, onSQLite(t.TempDir()).bootstrapping())}
	s := newShop(t, e, startPortal(t))
	acknowledged := map[string]bool{}
	for round := range rounds {
		delay := time.Duration(r.IntN(400)) * time.Millisecond
		killed := make(chan struct{})
		go func() { defer close(killed); time.Sleep(delay); s.process.Kill() }()
		name := ""
		for n := 0; ; n++ {
			var made object
			name = fmt.Sprintf("Plan %d-%d", round, n)
			err := s.portal.call(t.Context(), "POST", "/portal-api/plans", object{"Name": name, "ProviderID": 1, "RateLimit": 10, "Per": 1, "Quota": -1, "QuotaRenewalRate": -1}, &made)
			if err == nil {
				acknowledged[name] = true
				err = s.portal.call(t.Context(), "PUT", fmt.Sprintf("/portal-api/plans/%v", made["ID"]), object{"KeyExpiresIn": 60}, nil)
			}
			if err == nil && n%3 == 2 {
				err = s.portal.call(t.Context(), "PUT", "/portal-api/providers/1/synchronize", nil, nil)
			}
			if err != nil {
				if code := statusOf(err); code != http.StatusUnprocessableEntity {
					t.Fatalf("round %d: %v", round, err)
				}
				break
			}
		}
		<-killed
		s.restart(t)
		s.synchronise(t)
		s.inStep(t, fmt.Sprintf("round %d, killed after %v", round, delay))
		if err := s.compare(t, acknowledged); err != nil {
			t.Fatalf("round %d, killed after %v: %v", round, delay, err)
		}
	}
	t.Logf("%d kills, %d plans acknowledged", rounds, len(acknowledged))
}

// compare fails unless the plans of the portal and the policies of the dashboard have the
// same names, including the acknowledged ones.
func (s *shop) compare(t *testing.T, acknowledged map[string]bool) error {
	t.Helper()
	var plans []struct{ Name string }
	s.portal.get(t, "/portal-api/plans?page=-1", &plans)
	var listed struct{ Data []struct{ Name string } }
	s.api.get(t, policies+"?p=-2", &listed)
	var here, there []string
	for _, p := range plans {
		here = append(here, p.Name)
		delete(acknowledged, p.Name)
	}
	for _, p := range listed.Data {
		there = append(there, p.Name)
	}
	slices.Sort(here)
	slices.Sort(there)
	lost := len(acknowledged)
	for _, name := range here {
		acknowledged[name] = true
	}
	if lost > 0 || !slices.Equal(here, there) {
		return errors.New("the portal has " + strings.Join(here, ", ") + "; the dashboard has " + strings.Join(there, ", ") + "; lost: " + strconv.Itoa(lost))
	}
	return nil
}

package scenarios

import (
	"net/http"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

const (
	noAccess    = "Access to this API has been disallowed"
	keyInactive = "Key is inactive, please renew"
)

// TestPolicies follows access keys whose rights come from policies: the rights at a
// gateway change with the policies, not with the keys.
func TestPolicies(t *testing.T) {
	e := newEstate(t, nil)
	for _, id := range []string{"shop", "stock"} {
		e.api.do(t, http.MethodPost, classicAPIs, classicAPI(id, nil))
	}
	t.Run("access", e.testAccess)
	t.Run("partitions", e.testPartitions)
	t.Run("limits per API", e.testPerAPI)
	t.Run("draft and deny", e.testStates)
	e.healthy(t)
}

func (e *estate) key(token string, policies ...string) request {
	e.gateway.PutKey(token, gatewaysim.Key{OrgID: orgID, Policies: policies})
	return request{path: "/shop/x", token: token}
}

func (e *estate) testAccess(t *testing.T) {
	e.api.do(t, http.MethodPost, policies, policy("shopper", nil, "shop"))
	shopper := e.key("key-of-shopper", "shopper")
	e.becomes(t, "a key with a policy is let in", shopper, http.StatusOK, `"policies":["shopper"]`)
	e.answers(t, "no key", request{path: "/shop/x"}, http.StatusUnauthorized, "Authorization field missing")
	e.answers(t, "unknown key", request{path: "/shop/x", token: "unknown"}, http.StatusForbidden, noAccess)
	e.answers(t, "another API", request{path: "/stock/x", token: "key-of-shopper"}, http.StatusForbidden, noAccess)

	e.api.do(t, http.MethodPut, policyPath("shopper"), policy("shopper", nil, "shop", "stock"))
	e.becomes(t, "the other API is added", request{path: "/stock/x", token: "key-of-shopper"}, http.StatusOK, "")
	restricted := policy("shopper", object{"access_rights": object{"shop": object{"api_id": "shop", "allowed_urls": []any{object{"url": "^/list", "methods": []string{"GET"}}}}}})
	e.api.do(t, http.MethodPut, policyPath("shopper"), restricted)
	e.becomes(t, "a path that is not listed", shopper, http.StatusForbidden, "")
	e.answers(t, "a path that is listed", request{path: "/shop/list/1", token: "key-of-shopper"}, http.StatusOK, "")
	e.api.do(t, http.MethodDelete, policyPath("shopper"), nil)
	e.becomes(t, "the policy is gone", request{path: "/shop/list/1", token: "key-of-shopper"}, http.StatusForbidden, noAccess)
}

// A product gives access and a plan gives limits; a key needs both.
func (e *estate) testPartitions(t *testing.T) {
	e.api.do(t, http.MethodPost, policies, policy("product", object{"rate": 1, "per": 1000, "partitions": object{"acl": true}}, "shop"))
	e.api.do(t, http.MethodPost, policies, policy("plan", object{"rate": 2, "per": 1000, "quota_max": 1, "partitions": object{"rate_limit": true}}, "stock"))
	e.api.refused(t, http.MethodPost, policies, policy("mixed", object{"partitions": object{"acl": true, "per_api": true}}, "shop"), http.StatusBadRequest, "per_api")
	both := e.key("key-with-plan", "product", "plan")
	e.becomes(t, "both are loaded", both, http.StatusOK, "")
	s, err := e.gateway.Session(orgID, "product", "plan")
	if want := (gatewaysim.Limit{Rate: 2, Per: 1000}); err != nil || s.Limit != want || !s.Grants("shop") || s.Grants("stock") {
		t.Errorf("session %+v, %v", s, err)
	}
	e.answers(t, "the second of two requests", both, http.StatusOK, "")
	e.answers(t, "the third", both, http.StatusTooManyRequests, "")
	e.answers(t, "a plan opens no API", request{path: "/stock/", token: "key-with-plan"}, http.StatusForbidden, noAccess)
}

func (e *estate) testPerAPI(t *testing.T) {
	e.api.do(t, http.MethodPost, policies, policy("each", object{"partitions": object{"per_api": true}, "access_rights": object{
		"shop":  object{"api_id": "shop", "versions": []string{"Default"}, "limit": object{"rate": 1, "per": 1000, "quota_max": -1}},
		"stock": object{"api_id": "stock", "versions": []string{"Default"}, "limit": object{"rate": 0, "per": 0, "quota_max": 2}},
	}}))
	shop := e.key("key-for-each", "each")
	stock := request{path: "/stock/x", token: "key-for-each"}
	e.becomes(t, "the first request", shop, http.StatusOK, "")
	e.answers(t, "the rate of one API", shop, http.StatusTooManyRequests, "")
	e.answers(t, "another API has its own", stock, http.StatusOK, "")
	e.answers(t, "within its quota", stock, http.StatusOK, "")
	e.answers(t, "beyond its quota", stock, http.StatusForbidden, "Quota exceeded")
}

// A draft disables its keys, a denied policy is unknown to gateways; both work again as
// soon as the policy is active.
func (e *estate) testStates(t *testing.T) {
	p := func(state string) object { return policy("trial", object{"state": state}, "shop") }
	e.api.do(t, http.MethodPost, policies, p("draft"))
	trial := e.key("key-of-trial", "trial")
	e.becomes(t, "draft", trial, http.StatusForbidden, keyInactive)
	e.api.do(t, http.MethodPut, policyPath("trial"), p("active"))
	e.becomes(t, "active", trial, http.StatusOK, "")
	e.api.do(t, http.MethodPut, policyPath("trial"), p("deny"))
	e.becomes(t, "deny", trial, http.StatusForbidden, noAccess)
	for _, loaded := range e.gateway.State().Policies {
		if loaded.ID == "trial" {
			t.Error("a denied policy was published")
		}
	}
	var stored struct{ State string }
	if e.api.get(t, policyPath("trial"), &stored); stored.State != "deny" {
		t.Errorf("users see the state %q", stored.State)
	}
	e.api.do(t, http.MethodPut, policyPath("trial"), p("draft"))
	e.becomes(t, "draft again", trial, http.StatusForbidden, keyInactive)
	e.api.do(t, http.MethodPut, policyPath("trial"), p("active"))
	e.becomes(t, "active again", trial, http.StatusOK, "")
	e.api.refused(t, http.MethodPut, policyPath("trial"), p("asleep"), http.StatusBadRequest, "")
}

package scenarios

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

const gatewaySecret = "gateway-secret"

// controlled is an estate whose gateway has a control API, which the service uses.
func controlled(t *testing.T, env environment) *estate {
	t.Helper()
	var gateway atomic.Pointer[gatewaysim.Gateway]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g := gateway.Load()
		if g == nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		g.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	redis := harness.Redis(t).Addr()
	s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{
		"REDISADDRS": redis, "TYKAPI_HOST": "http://" + at.Hostname(), "TYKAPI_PORT": at.Port(), "TYKAPI_SECRET": gatewaySecret,
	}).with(env))
	e := &estate{service: s, gateway: listening(t, gatewaysim.Config{DashboardURL: s.node.base, Redis: gatewaysim.Redis{Addr: redis}, Secret: gatewaySecret, HashKeyFunction: "murmur64"}), address: server.URL}
	gateway.Store(e.gateway)
	return e
}

// keyData is a key as the service answers it.
type keyData struct {
	ID   string `json:"key_id"`
	Hash string `json:"key_hash"`
	Data object
}

func (c *client) key(t *testing.T, method, path string, in any) (k keyData) {
	t.Helper()
	if err := c.call(t.Context(), method, path, in, &k); err != nil {
		t.Fatal(err)
	}
	if k.ID == "" || k.Hash == "" {
		t.Errorf("%s %s: a key without a name: %+v", method, path, k)
	}
	return k
}

// TestKeys follows keys from the management API to the gateway: a created, changed or
// deleted key takes effect there at once.
func TestKeys(t *testing.T) {
	e := controlled(t, environment{"HASHKEYS": "true", "ENABLEHASHEDKEYSLISTING": "true", "ENABLEUPDATEKEYBYHASH": "true", "ENABLEDELETEKEYBYHASH": "true"})
	for _, id := range []string{"shop", "stock"} {
		e.api.do(t, http.MethodPost, classicAPIs, classicAPI(id, nil))
	}
	e.becomes(t, "the API is loaded", request{path: "/shop/x"}, http.StatusUnauthorized, "")
	t.Run("limits of a policy", e.testKeyOfPolicy)
	t.Run("a life", e.testKeyLife)
	t.Run("away", e.testKeysAway)
}

// A policy and a key with it, created directly after each other, as scripts do.
func (e *estate) testKeyOfPolicy(t *testing.T) {
	e.api.do(t, http.MethodPost, policies, policy("limited", object{"rate": 100, "per": 1, "quota_max": 2, "quota_renewal_rate": 3600}, "shop"))
	k := e.api.key(t, http.MethodPost, "/api/keys", object{"apply_policies": []string{"limited"}})
	call := request{path: "/shop/x", token: k.ID}
	e.becomes(t, "the first call", call, http.StatusOK, `"policies":["limited"]`)
	e.answers(t, "an API that the policy does not name", request{path: "/stock/x", token: k.ID}, http.StatusForbidden, noAccess)
	e.answers(t, "the second", call, http.StatusOK, "")
	e.answers(t, "beyond the quota", call, http.StatusForbidden, "Quota exceeded")
	if left, there := e.api.key(t, http.MethodGet, "/api/keys/"+url.PathEscape(k.ID), nil).Data["quota_remaining"]; there && left != float64(0) {
		t.Errorf("%v calls are left", left)
	}
	e.api.key(t, http.MethodPut, "/api/keys/"+k.Hash+"?hashed=1&suppress_reset=1", object{"apply_policies": []string{"limited"}})
	e.answers(t, "counters that are kept", call, http.StatusForbidden, "Quota exceeded")
	e.api.key(t, http.MethodPut, "/api/keys/"+k.Hash+"?hashed=1", object{"apply_policies": []string{"limited"}})
	e.answers(t, "counters that begin anew", call, http.StatusOK, "")
	e.api.do(t, http.MethodPut, policyPath("limited"), policy("limited", object{"state": "draft", "rate": 100, "per": 1, "quota_max": 2}, "shop"))
	e.becomes(t, "the policy is a draft", call, http.StatusForbidden, keyInactive)
	e.api.refused(t, http.MethodPost, "/api/keys", object{"apply_policies": []string{"limited"}}, http.StatusBadRequest, "draft")
}

func (e *estate) testKeyLife(t *testing.T) {
	k := e.api.key(t, http.MethodPost, "/api/keys/my-key", object{"alias": "one", "access_rights": object{"shop": object{}}})
	for _, token := range []string{k.ID, "my-key"} {
		e.answers(t, "a key that was just made", request{path: "/shop/x", token: token}, http.StatusOK, "")
	}
	e.api.key(t, http.MethodPut, "/api/keys/my-key", object{"alias": "two", "access_rights": object{"stock": object{}}})
	e.answers(t, "a right that is gone", request{path: "/shop/x", token: k.ID}, http.StatusForbidden, noAccess)
	e.answers(t, "a right that is new", request{path: "/stock/x", token: k.ID}, http.StatusOK, "")
	if list := e.api.read(t, "/api/apis/stock/keys"); !strings.Contains(list, k.Hash) {
		t.Errorf("%s is not in %s", k.Hash, list)
	}
	if list := e.api.read(t, "/api/apis/shop/keys"); strings.Contains(list, k.Hash) {
		t.Errorf("%s is in %s", k.Hash, list)
	}
	e.api.key(t, http.MethodPut, "/api/keys/"+k.Hash+"?hashed=1", object{"is_inactive": true, "access_rights": object{"stock": object{}}})
	e.answers(t, "an inactive key", request{path: "/stock/x", token: k.ID}, http.StatusForbidden, keyInactive)
	next := e.api.key(t, http.MethodPost, "/api/keys", object{"alias": "next", "access_rights": object{"stock": object{}}})
	e.api.do(t, http.MethodDelete, "/api/keys/"+k.Hash+"?hashed=1", nil)
	e.answers(t, "a key that was rotated away", request{path: "/stock/x", token: k.ID}, http.StatusForbidden, noAccess)
	e.answers(t, "the key that took its place", request{path: "/stock/x", token: next.ID}, http.StatusOK, "")
	e.api.refused(t, http.MethodGet, "/api/keys/my-key", nil, http.StatusNotFound, "Could not retrieve key detail.")
}

// A gateway that is down, answers garbage or plain text: each operation returns its own
// error, at once, and nothing is left behind.
func (e *estate) testKeysAway(t *testing.T) {
	before := e.api.read(t, "/api/apis/-/keys?p=-1")
	for _, fault := range []gatewaysim.Fault{gatewaysim.Garbage, gatewaysim.PlainText, gatewaysim.Trouble} {
		e.gateway.Misbehave(fault, nil)
		for path, text := range map[string]string{"GET /api/apis/-/keys": "Failed to unmarshal keys data from Tyk API.", "POST /api/keys": "Failed to unmarshal key data.",
			"GET /api/keys/x-key": "Failed to unmarshal key data from Tyk API.", "DELETE /api/keys/x-key": "Could not delete key."} {
			method, path, _ := strings.Cut(path, " ")
			var body any
			if method == http.MethodPost {
				body = object{"access_rights": object{"shop": object{}}}
			}
			e.api.refused(t, method, path, body, http.StatusInternalServerError, text)
		}
		e.gateway.Misbehave(gatewaysim.Healthy, nil)
	}
	until(t, gatewayLimit, "the gateway is back", func() error {
		var after json.RawMessage
		if err := e.api.call(t.Context(), http.MethodGet, "/api/apis/-/keys?p=-1", nil, &after); err != nil || string(after) != before {
			return fmt.Errorf("keys %s, want %s: %w", after, before, err)
		}
		return nil
	})
}

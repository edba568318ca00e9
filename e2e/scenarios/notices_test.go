package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestNotices counts the announcements for each write of definitions: exactly one, and
// none for changes that do not concern gateways (docs/wire/announcements.md#commands).
func TestNotices(t *testing.T) {
	addr := harness.NewRedis(t).Addr()
	s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(environment{"REDISADDRS": addr}))
	n := &notices{service: s, messages: listen(t, addr)}
	n.after(t, "nothing")
	t.Run("APIs", n.testAPIs)
	t.Run("versions", n.testVersions)
	t.Run("policies", n.testPolicies)
	t.Run("webhooks", n.testWebhooks)
	t.Run("a flood", n.testFlood)
}

// notices is a service and its announcements.
type notices struct {
	*service
	messages <-chan *redis.Message
	markers  int
}

// after fails the test for other announcements than these, each "Command payload",
// since the last call. It ends the waiting by creating a provider as a marker:
// announcements are in the order of their commits.
func (n *notices) after(t *testing.T, what string, want ...string) {
	t.Helper()
	n.markers++
	marker := fmt.Sprintf("marker-%d", n.markers)
	if err := n.api.createIDP(t.Context(), idp{ClientIDPID: marker, Name: marker, JWKSURI: "https://idp.example.com/jwks.json"}); err != nil {
		t.Fatal(err)
	}
	expected := map[string]int{}
	for _, w := range want {
		expected[w]++
	}
	if got := n.until(t, "ClientIdPChanged "+marker); !maps.Equal(got, expected) {
		t.Errorf("%s: announced %v, want %v", what, got, expected)
	}
}

// until counts the announcements before an end, and checks their signatures.
func (n *notices) until(t *testing.T, end string) map[string]int {
	t.Helper()
	count, limit := map[string]int{}, time.After(gatewayLimit)
	for {
		select {
		case <-limit:
			t.Fatalf("%s was not announced in time; before: %v", end, count)
		case m := <-n.messages:
			var a announcement
			if err := json.Unmarshal([]byte(m.Payload), &a); err != nil || a.Signature != gatewaysim.Signature(a.Command, a.Payload, nodeSecret) {
				t.Fatalf("%v or badly signed: %s", err, m.Payload)
			}
			text := strings.TrimSpace(a.Command + " " + a.Payload)
			if text == end {
				return count
			}
			count[text]++
		}
	}
}

func (n *notices) testAPIs(t *testing.T) {
	for _, kind := range []struct {
		path, id string
		document func(id string) object
	}{
		{classicAPIs, "made-classic", func(id string) object { return classicAPI(id, nil) }},
		{oasAPIs, "made-oas", func(id string) object { return oasAPI(id, nil) }},
		{mcpProxies, "made-mcp", func(id string) object { return mcpProxy(id, "http://127.0.0.1:9/", object{}) }},
	} {
		one := kind.path + "/" + kind.id
		n.api.do(t, http.MethodPost, kind.path, kind.document(kind.id))
		n.after(t, "created", "ApiAdded "+kind.id)
		n.api.do(t, http.MethodPut, one, kind.document(kind.id))
		n.after(t, "replaced", "ApiUpdated "+kind.id)
		n.api.refused(t, http.MethodPut, one, object{"info": 7}, http.StatusBadRequest, "")
		n.api.refused(t, http.MethodPost, kind.path, object{"info": 7}, http.StatusBadRequest, "")
		n.api.do(t, http.MethodPut, classicAPIs+"/"+kind.id+"/access", object{"userIds": []string{"5f1a0c5d8e3b2a1f000000c1"}, "userGroupIds": []string{}})
		if kind.path == oasAPIs {
			n.api.do(t, http.MethodPut, one+"/categories", object{"categories": []string{"shop"}})
		}
		n.after(t, "refused, owners and categories")
		n.api.do(t, http.MethodDelete, one, nil)
		n.after(t, "deleted", "ApiRemoved "+kind.id)
	}
	n.api.do(t, http.MethodPost, oasAPIs+"/dry-run", object{"oas": description("Rehearsed")})
	n.after(t, "a dry run")
	made := n.api.do(t, http.MethodPost, oasAPIs+"/import?listenPath=/imported/", description("Imported"))
	n.after(t, "imported", "ApiAdded "+made.ID)
	n.api.do(t, http.MethodPatch, oasAPIs+"/"+made.ID, description("Patched"))
	n.after(t, "patched", "ApiUpdated "+made.ID)
	n.api.do(t, http.MethodDelete, "/api/cache/"+made.ID, nil)
	n.after(t, "cache cleared", "DeleteAPICache "+made.ID)
}

// One commit that writes several APIs reloads gateways once.
func (n *notices) testVersions(t *testing.T) {
	n.api.do(t, http.MethodPost, oasAPIs, oasAPI("base", nil))
	n.after(t, "base", "ApiAdded base")
	n.api.do(t, http.MethodPost, oasAPIs+"?base_api_id=base&base_api_version_name=v1&new_version_name=v2", oasAPI("next", nil))
	n.after(t, "child", "ApiAdded next")
	n.api.do(t, http.MethodPatch, oasAPIs+"/base/rebase/next", nil)
	n.after(t, "rebased", "GroupReload")
	n.api.do(t, http.MethodDelete, oasAPIs+"/next?purge=true", nil)
	n.after(t, "purged", "ApiRemoved next", "ApiRemoved base")
}

func (n *notices) testPolicies(t *testing.T) {
	n.api.do(t, http.MethodPost, policies, policy("gold", nil))
	n.after(t, "created", "PolicyChanged gold")
	n.api.do(t, http.MethodPut, policyPath("gold"), policy("gold", object{"state": "draft"}))
	n.api.do(t, http.MethodPut, policyPath("gold"), policy("gold", object{"state": "active"}))
	n.after(t, "replaced twice", "PolicyChanged gold", "PolicyChanged gold")
	n.api.refused(t, http.MethodPut, policyPath("gold"), object{"name": 7}, http.StatusBadRequest, "")
	n.api.refused(t, http.MethodPost, policies, policy("gold", nil), http.StatusBadRequest, "")
	n.after(t, "refused")
	n.api.do(t, http.MethodDelete, policyPath("gold"), nil)
	n.after(t, "deleted", "PolicyChanged gold")
}

// A change of a webhook announces the APIs that refer to it, and nothing if there are
// none.
func (n *notices) testWebhooks(t *testing.T) {
	hook := func(target string) object { return object{"name": "Alarm", "method": "POST", "target_path": target} }
	id := n.api.do(t, http.MethodPost, webhooks, hook("https://one.example.com/")).ID
	n.after(t, "an unused webhook")
	for _, api := range []string{"first", "second", "third"} {
		document := classicAPI(api, nil)
		if api != "third" {
			document["hook_references"] = []any{object{"event_name": "AuthFailure", "hook": object{"id": id}}}
		}
		n.api.do(t, http.MethodPost, classicAPIs, document)
	}
	n.after(t, "its users", "ApiAdded first", "ApiAdded second", "ApiAdded third")
	n.api.do(t, http.MethodPut, webhooks+"/"+id, hook("https://two.example.com/"))
	n.after(t, "a webhook in use", "ApiUpdated first", "ApiUpdated second")
}

// Many reloads at once become one GroupReload: deleting a base with all its versions is
// one commit.
func (n *notices) testFlood(t *testing.T) {
	const children = 110
	n.api.do(t, http.MethodPost, oasAPIs, oasAPI("many", nil))
	for i := range children {
		id := fmt.Sprintf("many-%03d", i)
		n.api.do(t, http.MethodPost, oasAPIs+"?base_api_id=many&base_api_version_name=base&new_version_name="+id, oasAPI(id, nil))
	}
	n.markers++
	marker := fmt.Sprintf("marker-%d", n.markers)
	if err := n.api.createIDP(t.Context(), idp{ClientIDPID: marker, Name: marker, JWKSURI: "https://idp.example.com/jwks.json"}); err != nil {
		t.Fatal(err)
	}
	n.until(t, "ClientIdPChanged "+marker) // how many of these writes are announced together depends on timing
	n.api.do(t, http.MethodDelete, oasAPIs+"/many?purge=true", nil)
	n.after(t, "purged", "GroupReload")
}

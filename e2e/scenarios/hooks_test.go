package scenarios

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
)

// TestWebhooks: a change of a stored webhook reaches every API that refers to it at
// once, although gateways know webhooks only as part of API definitions.
func TestWebhooks(t *testing.T) {
	e := newEstate(t, nil)
	hook := func(target, method string) object {
		return object{"name": "Alarm", "method": method, "target_path": target, "header_map": object{"X-Hook": "alarm"}, "event_timeout": 10}
	}
	id := e.api.do(t, http.MethodPost, webhooks, hook("https://one.example.com/a", "POST")).ID
	classic := classicAPI("old", nil)
	classic["hook_references"] = []any{object{"event_name": "AuthFailure", "event_timeout": 5, "hook": object{"id": id}}}
	e.api.do(t, http.MethodPost, classicAPIs, classic)
	server := extension("new", nil)["server"].(object)
	server["eventHandlers"] = []any{object{"enabled": true, "trigger": "QuotaExceeded", "type": "webhook", "id": id, "cooldownPeriod": "10s"}}
	e.api.do(t, http.MethodPost, oasAPIs, oasAPI("new", object{"server": server}))
	called := func(target, method string) {
		t.Helper()
		waitFor(t, e.gateway, "webhooks call "+target, func(gatewaysim.State) bool {
			old, young := e.gateway.Webhooks("old", "AuthFailure"), e.gateway.Webhooks("new", "QuotaExceeded")
			return len(old) == 1 && len(young) == 1 && old[0].Target == target && young[0].Target == target &&
				old[0].Method == method && young[0].Method == method && old[0].Header["X-Hook"] == "alarm"
		})
	}
	called("https://one.example.com/a", "POST")
	reloads := e.gateway.State().Reloads
	e.api.do(t, http.MethodPut, webhooks+"/"+id, hook("https://two.example.com/b", "PUT"))
	called("https://two.example.com/b", "PUT")
	if text := e.api.read(t, oasAPIs+"/new"); !strings.Contains(text, `"url":"https://two.example.com/b","method":"PUT"`) || !strings.Contains(text, `"cooldownPeriod":"10s"`) {
		t.Errorf("the document says %s", text)
	}
	waitFor(t, e.gateway, "a reload for a changed webhook is counted", func(s gatewaysim.State) bool { return s.Reloads > reloads })
	if got := fmt.Sprint(e.gateway.Webhooks("old", "QuotaExceeded"), e.gateway.Webhooks("new", "AuthFailure")); got != "[] []" {
		t.Errorf("called for other events: %s", got)
	}
	e.api.refused(t, http.MethodPut, webhooks+"/"+id, hook("/relative", "POST"), http.StatusBadRequest, "Webhook object validation failed.")
	e.api.refused(t, http.MethodPut, webhooks+"/"+id, hook("https://two.example.com/b", "HEAD"), http.StatusBadRequest, "Webhook object validation failed.")
	called("https://two.example.com/b", "PUT")
	e.healthy(t)
}

package gatewaysim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

// ask sends one request through a gateway's handler.
func ask(g *Gateway, method, path, body string, headers ...string) (int, string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	g.Handler().ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func versionData(v string) map[string]any {
	return map[string]any{"version_data": map[string]any{"not_versioned": true, "versions": map[string]any{"": json.RawMessage(v)}}}
}

func TestPathLists(t *testing.T) {
	g := deciding(t, []string{
		apiEntry(with(keyless("allow", "/allow/"), versionData(`{"use_extended_paths":true,"extended_paths":{
			"white_list":[{"path":"/a/{id}","method":"GET"},{"path":"/Any","method":"","ignore_case":true},{"path":"/off","method":"GET","disabled":true}]}}`))),
		apiEntry(with(keyless("off", "/off/"), versionData(`{"use_extended_paths":true,"extended_paths":{
			"white_list":[{"path":"/a","method":"GET","disabled":true}],"black_list":[{"path":"/b","method_actions":{"GET":{"action":"no_action","code":403}}}]}}`))),
		apiEntry(with(keyless("plain", "/plain/"), versionData(`{"paths":{"white_list":["/a"],"ignored":["/c"]},"extended_paths":{"black_list":[{"path":"/a"}]}}`))),
		apiEntry(with(with(keyless("open", "/open/"), map[string]any{"use_keyless": false}),
			versionData(`{"use_extended_paths":true,"extended_paths":{"ignored":[{"path":"/free","method":"GET"}]}}`))),
	}, nil)
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/allow/a/1", 200}, {"POST", "/allow/a/1", 403}, {"GET", "/allow/a/1/2", 403}, {"GET", "/allow/a", 403}, {"PUT", "/allow/ANY", 200},
		{"GET", "/allow/off", 403}, {"GET", "/allow/", 403},
		{"GET", "/off/a", 200}, {"GET", "/off/z", 200}, {"GET", "/off/b", 403}, {"POST", "/off/b", 200},
		{"GET", "/plain/a", 200}, {"GET", "/plain/b", 403}, {"GET", "/plain/c", 200},
		{"GET", "/open/free", 200}, {"GET", "/open/other", 401}, {"POST", "/open/free", 401},
	} {
		if status, body := ask(g, tt.method, tt.path, ""); status != tt.status {
			t.Errorf("%s %s: %d %s, want %d", tt.method, tt.path, status, body, tt.status)
		}
	}
}

// docs/wire/feeds.md#oas-apis: each version is a separate API, and the base finds it.
func TestVersions(t *testing.T) {
	base := func(id string, definition map[string]any) string {
		definition["enabled"], definition["name"] = true, "v1"
		definition["versions"] = map[string]string{"v2": "child", "v3": "gone"}
		return oasEntry(id, plainDoc, map[string]any{"definition": definition})
	}
	g := deciding(t, []string{
		base("head", map[string]any{"location": "header", "key": "X-Version"}),
		base("param", map[string]any{"location": "url-param", "key": "v", "default": "v2"}),
		base("url", map[string]any{"location": "url", "strip_versioning_data": true}),
		base("pattern", map[string]any{"location": "url", "url_versioning_pattern": `^v\d$`, "default": "self"}),
		base("back", map[string]any{"location": "header", "key": "X-Version", "fallback_to_default": true, "default": "v2"}),
		oasEntry("child", plainDoc, map[string]any{"internal": true, "version_data": versionData(`{"use_extended_paths":true,
			"extended_paths":{"white_list":[{"path":"/","method":"GET"},{"path":"/x","method":"GET"},{"path":"/v2/x","method":"GET"}]}}`)["version_data"]}),
	}, nil)
	for _, tt := range []struct{ path, version, serves string }{
		{"/head/x", "", "head"}, {"/head/x", "v1", "head"}, {"/head/x", "v2", "child"}, {"/head/x", "v3", ""}, {"/head/x", "v4", ""}, {"/head/x", "self", "head"},
		{"/param/x", "", "child"}, {"/param/x?v=v1", "", "param"}, {"/param/x?v=v2", "", "child"}, {"/param/x?v=zz", "", ""},
		{"/url/", "", "url"}, {"/url/v1/x", "", "url"}, {"/url/v2/x", "", "child"}, {"/url/v2", "", "child"}, {"/url/x", "", ""},
		{"/pattern/x", "", "pattern"}, {"/pattern/v2/x", "", "child"}, {"/pattern/v9/x", "", ""},
		{"/back/x", "v1", "back"}, {"/back/x", "v9", "child"}, {"/back/x", "", "child"},
	} {
		status, body := ask(g, "GET", tt.path, "", "X-Version", tt.version)
		var answer struct {
			APIID string `json:"api_id"`
		}
		_ = json.Unmarshal([]byte(body), &answer) // a refusal is not JSON
		if tt.serves == "" && (status != 404 || body != "This API version does not seem to exist") || answer.APIID != tt.serves {
			t.Errorf("%s %s: %d %s, want %q", tt.path, tt.version, status, body, tt.serves)
		}
	}
	if status, _ := ask(g, "GET", "/child/x", ""); status != 404 {
		t.Errorf("an internal API answers with %d", status)
	}
}

func TestLimitsOfRequests(t *testing.T) {
	f := newFake(t)
	f.always(pathPolicies, feed(
		`{"id":"rated","org_id":"o1","rate":2,"per":1000}`, `{"id":"quota","org_id":"o1","quota_max":1}`,
		`{"id":"paths","org_id":"o1","access_rights":{"k":{"allowed_urls":[{"url":"^/a","methods":["GET"]}]}}}`))
	open := map[string]any{"use_keyless": false}
	f.always(pathAPIs, feed(apiEntry(with(keyless("k", "/k/"), open)), apiEntry(with(keyless("l", "/l/"), open))))
	g := loaded(t, f.config())
	for _, name := range []string{"rated", "quota", "paths"} {
		g.PutKey(name, Key{OrgID: "o1", Policies: []string{name}})
	}
	for i, tt := range []struct {
		path, key string
		status    int
	}{
		{"/k/", "rated", 200}, {"/l/", "rated", 200}, {"/k/", "rated", 429}, {"/k/", "quota", 200}, {"/k/", "quota", 403},
		{"/k/a", "paths", 200}, {"/k/b", "paths", 403},
	} {
		if status, body := ask(g, "GET", tt.path, "", "Authorization", tt.key); status != tt.status {
			t.Errorf("request %d: %d %s, want %d", i, status, body, tt.status)
		}
	}
	if d := g.Decide("k", "rated"); d.Status != 200 {
		t.Errorf("a question about a credential is counted: %+v", d)
	}
	if s, err := g.Session("o1", "rated", "quota"); err != nil || s.Limit != (Limit{Rate: 2, Per: 1000, QuotaMax: 1}) {
		t.Errorf("session %+v, %v", s, err)
	}
}

func TestWebhooks(t *testing.T) {
	handlers := `[
		{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"1","name":"hook","method":"post","target_path":"https://a/","header_map":{"X":"y"},"event_timeout":10}},
		{"handler_name":"eh_web_hook_handler","handler_meta":{"method":"BREW","target_path":"https://b/"}},
		{"handler_name":"eh_web_hook_handler","handler_meta":{"target_path":"https://c/","disabled":true}},
		{"handler_name":"eh_web_hook_handler","handler_meta":{"id":"2"}},
		{"handler_name":"eh_web_hook_handler","handler_meta":{"target_path":7}},
		{"handler_name":"eh_log_handler","handler_meta":{"prefix":"x"}}]`
	g := deciding(t, []string{apiEntry(with(keyless("h", "/h/"), map[string]any{
		"event_handlers": map[string]any{"events": map[string]any{"AuthFailure": json.RawMessage(handlers)}}}))}, nil)
	want := []Webhook{
		{ID: "1", Name: "hook", Method: "POST", Target: "https://a/", Header: map[string]string{"X": "y"}, Timeout: 10 * time.Second},
		{Method: "GET", Target: "https://b/"},
	}
	if got := g.Webhooks("h", "AuthFailure"); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := append(g.Webhooks("h", "KeyExpired"), g.Webhooks("none", "AuthFailure")...); got != nil {
		t.Errorf("%+v", got)
	}
}

func mcpEntry(id, upstream, middleware string, members map[string]any) string {
	doc := with(plainDoc, map[string]any{"x-tyk-api-gateway": map[string]any{"middleware": json.RawMessage(middleware)}})
	all := map[string]any{"application_protocol": "mcp", "json_rpc_version": "2.0", "proxy": map[string]any{"listen_path": "/" + id + "/", "target_url": upstream}}
	for name, v := range members {
		all[name] = v
	}
	return oasEntry(id, doc, all)
}

func rpc(method, name string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{"name":%q,"uri":%[2]q}}`, method, name)
}

// docs/wire/feeds.md#mcp-proxies: what an MCP proxy lists and refuses.
func TestMCP(t *testing.T) {
	upstream := NewMCPServer("read", "write", "drop")
	t.Cleanup(upstream.Close)
	f := newFake(t)
	closed := map[string]any{"use_keyless": false}
	f.always(pathPolicies, feed(
		`{"id":"some","org_id":"o1","access_rights":{"some":{"mcp_access_rights":{"tools":{"allowed":["re.*","drop"],"blocked":["drop"]}},
			"json_rpc_methods_access_rights":{"blocked":["prompts/.*"]}}}}`,
		`{"id":"slow","org_id":"o1","access_rights":{"some":{"json_rpc_methods":[{"name":"ping","limit":{"rate":1,"per":1000}}],
			"mcp_primitives":[{"type":"tool","name":"read","limit":{"rate":1,"per":1000}}]}}}`))
	f.always(pathAPIs, feed(
		mcpEntry("allow", upstream.URL(), `{"mcpTools":{"read":{"allow":{"enabled":true}},"write":{"allow":{"enabled":false}}},"mcpResources":{"file:*":{"allow":{"enabled":true}}}}`, nil),
		mcpEntry("block", upstream.URL(), `{"mcpTools":{"drop":{"block":{"enabled":true}}},"mcpPrompts":{}}`, nil),
		mcpEntry("some", upstream.URL(), `{"mcpTools":{}}`, closed),
		mcpEntry("plain", upstream.URL(), `{"mcpTools":{"read":{"allow":{"enabled":true}}}}`, map[string]any{"json_rpc_version": ""}),
		mcpEntry("gone", "http://127.0.0.1:1/", `{"mcpTools":{}}`, nil),
	))
	g := loaded(t, f.config())
	g.PutKey("k", Key{OrgID: "o1", Policies: []string{"some"}})
	g.PutKey("s", Key{OrgID: "o1", Policies: []string{"slow"}})
	for i, tt := range []struct {
		path, body, key string
		status          int
		answer          string // part of the answer
	}{
		{"/allow/", rpc("tools/list", ""), "", 200, `{"tools":[{"inputSchema":{"type":"object"},"name":"read"}]}`},
		{"/allow/", rpc("tools/call", "read"), "", 200, `"text":"read"`},
		{"/allow/", rpc("tools/call", "write"), "", 403, `{"jsonrpc":"2.0","error":{"code":-32002,"message":"Forbidden","data":{"http_code":403}},"id":7}`},
		{"/allow/", rpc("resources/read", "file:a"), "", 200, `"result"`},
		{"/allow/", rpc("resources/read", "http:a"), "", 403, `-32002`},
		{"/allow/", rpc("prompts/get", "any"), "", 200, `"result"`},
		{"/allow/", `{`, "", 400, `-32700`},
		{"/block/", rpc("tools/list", ""), "", 200, `"name":"write"`},
		{"/block/", rpc("tools/call", "drop"), "", 403, `-32002`},
		{"/some/", rpc("tools/list", ""), "", 401, `-32001`},
		{"/some/", rpc("tools/list", ""), "zz", 403, `-32002`},
		{"/some/", rpc("tools/list", ""), "k", 200, `{"tools":[{"inputSchema":{"type":"object"},"name":"read"}]}`},
		{"/some/", rpc("tools/call", "read"), "k", 200, `"text":"read"`},
		{"/some/", rpc("tools/call", "write"), "k", 403, `-32002`},
		{"/some/", rpc("tools/call", "drop"), "k", 403, `-32002`},
		{"/some/", rpc("prompts/list", ""), "k", 403, `-32002`},
		{"/some/", rpc("ping", ""), "s", 200, `"result"`},
		{"/some/", rpc("ping", ""), "s", 429, `-32003`},
		{"/some/", rpc("tools/call", "read"), "s", 200, `"text":"read"`},
		{"/some/", rpc("tools/call", "read"), "s", 429, `-32003`},
		{"/some/", rpc("tools/call", "write"), "s", 200, `"text":"write"`},
		{"/plain/", rpc("tools/call", "write"), "", 200, `"api_id":"plain"`},
		{"/gone/", rpc("ping", ""), "", http.StatusBadGateway, `-32603`},
	} {
		status, answer := ask(g, "POST", tt.path, tt.body, "Authorization", tt.key)
		if status != tt.status || !strings.Contains(answer, tt.answer) {
			t.Errorf("call %d to %s: %d %s, want %d %s", i, tt.path, status, answer, tt.status, tt.answer)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"*", "", true}, {"*", "x", true}, {"a*", "ab", true}, {"a*", "b", false}, {"*b", "ab", true}, {"a*c*e", "abcde", true},
		{"a*c*e", "acde", true}, {"a*c*e", "abde", false}, {"a*a", "a", false}, {"a**b", "ab", true},
	} {
		if glob(tt.pattern, tt.text) != tt.want {
			t.Errorf("%s %s: %v", tt.pattern, tt.text, !tt.want)
		}
	}
}

package classic_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/apistest"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/webhook"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// lists are the arrays of a definition in generated clients; * is any member, [] any
// item.
const lists = `CORS.allowed_headers CORS.allowed_methods CORS.allowed_origins CORS.exposed_headers allowed_ips blacklisted_ips
	cache_options.cache_by_headers cache_options.cache_response_codes certificates client_certificates custom_middleware.post
	custom_middleware.post_key_auth custom_middleware.pre custom_middleware.response event_handlers.events.* external_oauth.providers
	graphql.engine.data_sources graphql.engine.data_sources.[].root_fields graphql.engine.data_sources.[].root_fields.[].fields
	graphql.engine.field_configs graphql.engine.field_configs.[].path graphql.engine.global_headers graphql.supergraph.subgraphs
	graphql.type_field_configurations hmac_allowed_algorithms jwt_default_policies oauth_meta.allowed_access_types
	oauth_meta.allowed_authorize_types openid_options.providers proxy.target_list proxy.transport.ssl_ciphers request_signing.header_list
	response_processors tag_headers tags uptime_tests.check_list uptime_tests.check_list.[].commands
	V.extended_paths.advance_cache_config V.extended_paths.advance_cache_config.[].cache_response_codes V.extended_paths.black_list
	V.extended_paths.cache V.extended_paths.circuit_breakers V.extended_paths.do_not_track_endpoints V.extended_paths.go_plugin
	V.extended_paths.hard_timeouts V.extended_paths.ignored V.extended_paths.internal V.extended_paths.method_transforms
	V.extended_paths.mock_response V.extended_paths.persist_graphql V.extended_paths.rate_limit V.extended_paths.size_limits
	V.extended_paths.track_endpoints V.extended_paths.transform V.extended_paths.transform_headers
	V.extended_paths.transform_headers.[].delete_headers V.extended_paths.transform_jq V.extended_paths.transform_jq_response
	V.extended_paths.transform_response V.extended_paths.transform_response_headers V.extended_paths.transform_response_headers.[].delete_headers
	V.extended_paths.url_rewrites V.extended_paths.url_rewrites.[].triggers V.extended_paths.validate_json V.extended_paths.validate_request
	V.extended_paths.virtual V.extended_paths.white_list V.global_headers_remove V.global_response_headers_remove
	V.paths.black_list V.paths.ignored V.paths.white_list`

// arrays fails if a list is null, or missing in an existing object, and returns the
// number of lists.
func arrays(t *testing.T, where string, n *doc.Node, path []string) (found int) {
	t.Helper()
	if len(path) == 0 {
		if !n.Is(doc.TypeArray) {
			t.Errorf("%s is %s", where, n.JSON())
		}
		return 1
	}
	switch step := path[0]; {
	case step == "*":
		for name, v := range n.Members() {
			found += arrays(t, where+"."+name, v, path[1:])
		}
	case step == "[]":
		for _, v := range n.Items() {
			found += arrays(t, where, v, path[1:])
		}
	case n.Is(doc.TypeObject) && (len(path) == 1 || n.Get(step).Is(doc.TypeObject, doc.TypeArray)):
		return arrays(t, where+"."+step, n.Get(step), path[1:])
	}
	return found
}

// TestListsAreNeverNull: typed clients always get an array for a list, whatever was
// sent.
func TestListsAreNeverNull(t *testing.T) {
	w := apistest.New(t, apis.Settings{Streams: true})
	one := func(members string) string { return `[{"path":"/a","method":"GET"` + members + `}]` }
	full := strings.Replace(apistest.Classic("full", "F", "/f/"), `"active":true`, `"active":true,"tags":null,"CORS":{},"cache_options":{"cache_by_headers":null},"custom_middleware":{},
		"event_handlers":{"events":{"AuthFailure":null}},"external_oauth":{},"graphql":{"engine":{"data_sources":[{"name":"d","root_fields":[{"type":"Q"}]}],"field_configs":[{}]},"supergraph":{}},
		"oauth_meta":{},"openid_options":{},"request_signing":{},"uptime_tests":{"check_list":[{"url":"http://u"}]},
		"version_data":{"not_versioned":true,"versions":{"":{"name":"","paths":{},"extended_paths":{"cache":null,"advance_cache_config":`+one("")+
		`,"transform_headers":`+one("")+`,"transform_response_headers":`+one(`,"delete_headers":null`)+`,"url_rewrites":`+one("")+`}}}}`, 1)
	full = strings.Replace(full, `"proxy":{`, `"proxy":{"transport":{},`, 1)
	full = `{"user_owners":null,"user_group_owners":null,"categories":null,"hook_references":null,` + full[1:]
	w.Done("admin", "POST", "/apis", full)
	w.Done("admin", "POST", "/apis", apistest.Classic("bare", "B", "/b/"))
	w.Done("admin", "POST", "/apis/oas", apistest.Document("oas", "O", "/o/"))
	w.Done("admin", "POST", "/apis/streams", apistest.Document("streams", "S", "/s/"))
	for _, answer := range []string{"/apis?p=-1", "/apis/search?q=", "/apis/full", "/apis/bare", "/apis/oas", "/apis/streams"} {
		all := w.Node("admin", answer)
		wrappers := all.Get("apis").Items()
		if wrappers == nil {
			wrappers = []*doc.Node{all}
		}
		found := 0
		for _, wrapper := range wrappers {
			for _, name := range []string{"hook_references", "user_owners", "user_group_owners", "categories"} {
				arrays(t, answer, wrapper, []string{name})
			}
			for path := range strings.FieldsSeq(lists) {
				found += arrays(t, answer, wrapper.Get("api_definition"), strings.Split(strings.Replace(path, "V.", "version_data.versions.*.", 1), "."))
			}
		}
		if answer == "/apis/full" && found != 72 || found < 10 {
			t.Errorf("%s: %d arrays", answer, found)
		}
	}
	for _, wrapper := range w.Node("admin", "/apis?compressed=1").Get("apis").Items() {
		arrays(t, "compressed", wrapper, []string{"api_definition", "tags"})
	}
	if _, text := w.Stored("bare"); strings.Contains(text, "tag_headers") {
		t.Error("a list that was not sent is stored", text)
	}
	patch := func(id, body string) {
		t.Helper()
		if a := w.Ask("admin", "PATCH", "/apis/"+id, body, "Content-Type", "application/json-patch+json"); a.Code != 200 {
			t.Error(a.Code, a.Body)
		}
	}
	patch("bare", `[{"op":"test","path":"/api_definition/tags","value":[]},{"op":"add","path":"/api_definition/tags/-","value":"eu"}]`)
	if _, text := w.Stored("bare"); !strings.Contains(text, `"tags":["eu"]`) || strings.Contains(text, "tag_headers") {
		t.Error("a patch stores what only is shown", text)
	}
}

// TestUptimeTimeouts: users read and write the timeout of an uptime test as a text,
// gateways get nanoseconds.
func TestUptimeTimeouts(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	with := func(id, timeout string) string {
		return strings.Replace(apistest.Classic(id, id, "/"+id+"/"), `"active":true`, `"active":true,"uptime_tests":{"check_list":[{"url":"http://u","timeout":`+timeout+`}]}`, 1)
	}
	for _, c := range []struct{ id, sent, stored, shown string }{
		{"a", `1500000000`, `1500000000`, "1.5s"}, {"b", `"2m"`, `120000000000`, "2m0s"}, {"c", `0`, `0`, "0s"}, {"d", `1000000000`, `1000000000`, "1s"}, {"e", `"500ms"`, `500000000`, "500ms"},
	} {
		w.Done("admin", "POST", "/apis", with(c.id, c.sent))
		if _, text := w.Stored(c.id); !strings.Contains(text, `"timeout":`+c.stored+`}`) {
			t.Errorf("%s is stored as %s", c.sent, text)
		}
		for _, answer := range []*doc.Node{w.Node("admin", "/apis/"+c.id), w.Node("admin", "/apis/search?q="+c.id).Get("apis").Items()[0]} {
			if test := answer.Get("api_definition", "uptime_tests", "check_list").Items()[0]; string(test.Get("timeout").JSON()) != `"`+c.shown+`"` {
				t.Errorf("%s is shown as %s", c.sent, test.JSON())
			}
		}
	}
	w.Done("admin", "PATCH", "/apis/d", `{"api_definition":{"active":false}}`)
	if _, text := w.Stored("d"); !strings.Contains(text, `"timeout":1000000000}`) {
		t.Error("a patch of something else changed the timeout", text)
	}
	w.Ask("admin", "PATCH", "/apis/d", `[{"op":"replace","path":"/api_definition/uptime_tests/check_list/0/timeout","value":"7s"}]`, "Content-Type", "application/json-patch+json")
	if _, text := w.Stored("d"); !strings.Contains(text, `"timeout":7000000000}`) {
		t.Error(text)
	}
	read := w.Ask("admin", "GET", "/apis/a", "").Body.String()
	w.Done("admin", "PUT", "/apis/a", read)
	if _, text := w.Stored("a"); !strings.Contains(text, `"timeout":1500000000`) {
		t.Error(text)
	}
	w.Want("admin", "POST", "/apis", with("x", `"soon"`), 400, "uptime_tests.check_list[0].timeout")
}

// TestWholeWebhooks: a reference to a webhook by its ID is read with the whole webhook,
// after each kind of write, and references to deleted webhooks are left out.
func TestWholeWebhooks(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	hook := `{"id":"h1","name":"N","method":"POST"}`
	w.APIs.Hook = func(_ context.Context, _ store.Reader, id string) (json.RawMessage, error) {
		if id != "h1" {
			return nil, fault.New(fault.NotFound, "webhook.not_found", "webhook not found")
		}
		return json.RawMessage(hook), nil
	}
	const refs = `[{"event_name":"AuthFailure","event_timeout":5,"hook":{"id":"h1"}},{"event_name":"KeyExpired","event_timeout":0,"hook":{"id":"gone"}}]`
	with := func(id string) string {
		return strings.TrimSuffix(apistest.Classic(id, id, "/"+id+"/"), "}") + `,"hook_references":` + refs + `}`
	}
	whole := func(when string) {
		t.Helper()
		want := `[{"event_name":"AuthFailure","event_timeout":5,"hook":` + hook + `}]`
		for _, answer := range []string{"/apis/a", "/apis", "/apis?compressed=1"} {
			if text := w.Ask("admin", "GET", answer, "").Body.String(); !strings.Contains(text, `"hook_references":`+want) {
				t.Errorf("%s: %s: %s", when, answer, text)
			}
		}
	}
	w.Done("admin", "POST", "/apis", with("a"))
	whole("created")
	w.Done("admin", "PUT", "/apis/a", with("a"))
	whole("replaced")
	w.Done("admin", "PATCH", "/apis/a", `{"hook_references":`+refs+`}`)
	whole("patched")
	before := w.Head()
	changed := webhook.Hook{ID: "h1", Draft: webhook.Draft{Name: "M", Method: "PUT", TargetPath: "https://hooks.example/m"}}
	text, err := json.Marshal(changed)
	if err != nil {
		t.Fatal(err)
	}
	hook = string(text)
	update := func(fn func(store.Writer) error) {
		t.Helper()
		if _, err := w.DB.Update(t.Context(), w.Scope(), fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(wr store.Writer) error {
		return w.APIs.RefreshHook(t.Context(), wr, changed)
	})
	whole("the webhook changed")
	if w.Head() == before {
		t.Error("the entity tag is that of before")
	}
	put := func() (op store.Op) {
		n, err := doc.ParseNode([]byte(with("a")))
		if err != nil {
			t.Fatal(err)
		}
		refs, err := doc.ParseObject([]byte(`{"hook_references":` + refs + `}`))
		if err != nil {
			t.Fatal(err)
		}
		checked, problems := w.Importing.Check(importing.Incoming{APIID: "a", Class: apidef.Classic, Definition: n.Get("api_definition"), Wrapper: refs}, w.Scope().Org())
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		update(func(wr store.Writer) (err error) {
			op, err = w.Importing.Put(t.Context(), wr, checked)
			return err
		})
		return op
	}
	if op := put(); op != "" {
		t.Error("the same from elsewhere is a change:", op)
	}
	// Records from before webhooks were embedded are completed at the next start.
	w.APIs.Hook = func(context.Context, store.Reader, string) (json.RawMessage, error) { return nil, nil }
	w.Done("admin", "PUT", "/apis/a", with("a"))
	a, _ := w.Stored("a")
	if !a.Value.Abridged() {
		t.Fatal(string(a.Value.HookReferences()))
	}
	w.APIs.Hook = func(context.Context, store.Reader, string) (json.RawMessage, error) {
		return json.RawMessage(hook), nil
	}
	if c, err := (&upgrade.Service{Store: w.DB, APIs: w.APIs, Log: slog.New(slog.DiscardHandler)}).Run(t.Context()); err != nil || c.APIs != 1 {
		t.Fatal(c, err)
	}
	if a, _ = w.Stored("a"); a.Value.Abridged() {
		t.Error(string(a.Value.HookReferences()))
	}
}

// TestWholeAfterLookUp: an API is looked up before a missing definition is refused, and
// only a compressed list is short.
func TestWholeAfterLookUp(t *testing.T) {
	w := apistest.New(t, apis.Settings{})
	w.Done("admin", "POST", "/apis", apistest.Classic("there", "T", "/t/"))
	for _, c := range []struct {
		method, path string
		code         int
		says         string
	}{
		{"PUT", "/apis/absent", 404, "API definition does not exist"},
		{"PUT", "/apis/there", 400, "api_definition is required"},
		{"POST", "/apis", 400, "api_definition is required"},
	} {
		if a := w.Ask("admin", c.method, c.path, `{}`); a.Code != c.code || !strings.Contains(a.Body.String(), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
		}
	}
	full := w.Node("admin", "/apis").JSON()
	for list, short := range map[string]bool{"/apis?compressed=0": false, "/apis?compressed=1": true} {
		if got := w.Node("admin", list).JSON(); (len(got) < len(full)) != short {
			t.Errorf("%s: %s", list, got)
		}
	}
}

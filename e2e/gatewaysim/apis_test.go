package gatewaysim

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func parseEntries(t *testing.T, entries ...string) []parsedEntry {
	t.Helper()
	parsed, err := parseAPIs(json.RawMessage("["+strings.Join(entries, ",")+"]"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func paths(set *apiSet) map[string]string {
	m := map[string]string{}
	for _, a := range set.summary() {
		m[a.ID] = a.ListenPath
	}
	return m
}

// The type rules of docs/wire/classic-definition.md#types: values that void the feed.
func TestAPITypes(t *testing.T) {
	for _, tt := range []struct {
		members string
		fine    bool
	}{
		{`"id":null`, true},
		{`"id":""`, true},
		{`"id":"5f0000000000000000000001"`, true},
		{`"id":"5F000000000000000000000A"`, true},
		{`"id":"5f00000000000000000000"`, false},
		{`"id":"5f000000000000000000000g"`, false},
		{`"id":7`, false},

		{`"version_data":{"versions":{"v":{"global_enforce_timeout":"5s"}}}`, true},
		{`"version_data":{"versions":{"v":{"global_enforce_timeout":""}}}`, true},
		{`"version_data":{"versions":{"v":{"global_enforce_timeout":"soon"}}}`, true},
		{`"version_data":{"versions":{"v":{"global_enforce_timeout":null}}}`, false},
		{`"version_data":{"versions":{"v":{"global_enforce_timeout":5}}}`, false},
		{`"version_data":{"versions":{"v":{"extended_paths":{"hard_timeouts":[{"duration":"1m"}]}}}}`, true},
		{`"version_data":{"versions":{"v":{"extended_paths":{"hard_timeouts":[{"duration":1}]}}}}`, false},
		{`"jwt_jwks_uris":[{"url":"http://x","cache_timeout":"10s"}]`, true},
		{`"jwt_jwks_uris":[{"url":"http://x","cache_timeout":null}]`, false},
		{`"jwt_jwks_uris":[{"url":"http://x","cache_timeout":10}]`, false},
		{`"uptime_tests":{"check_list":[{"timeout":1000000000}]}`, true},
		{`"uptime_tests":{"check_list":[{"timeout":"1s"}]}`, false},

		{`"active":true`, true},
		{`"active":"true"`, false},
		{`"active":1`, false},
		{`"cache_options":{"cache_timeout":60}`, true},
		{`"cache_options":{"cache_timeout":"60"}`, false},
		{`"cache_options":{"cache_timeout":60.5}`, false},
		{`"global_rate_limit":{"rate":0.5}`, true},
		{`"global_rate_limit":{"rate":"0.5"}`, false},

		{`"tags":null`, true},
		{`"tags":"a"`, false},
		{`"tags":["a",1]`, false},
		{`"proxy":null`, true},
		{`"proxy":[]`, false},
		{`"config_data":{"any":[1,"x",null]}`, true},
		{`"config_data":"x"`, false},
		{`"auth_configs":{"jwt":{"use_param":"yes"}}`, false},
		{`"AUTH_CONFIGS":{"jwt":{"Use_Param":"yes"}}`, false},
		{`"event_handlers":{"events":{"AuthFailure":[{"handler_meta":{"event_timeout":10}}]}}`, true},
		{`"event_handlers":{"events":{"AuthFailure":{"handler_name":"x"}}}`, false},
		{`"security_requirements":[["jwt"],null]`, true},
		{`"security_requirements":["jwt"]`, false},
		{`"graphql":{"last_schema_update":"2026-01-02T03:04:05Z"}`, true},
		{`"graphql":{"last_schema_update":"yesterday"}`, false},
		{`"unknown_member":{"of":["any",7]}`, true},
	} {
		entry := fmt.Sprintf(`{"api_definition":{"proxy":{"listen_path":"/x/"},%s}}`, tt.members)
		if strings.Contains(tt.members, `"proxy"`) {
			entry = fmt.Sprintf(`{"api_definition":{%s}}`, tt.members)
		}
		good := apiEntry(keyless("good", "/good/"))
		_, err := parseAPIs(json.RawMessage("["+good+","+entry+"]"), nil)
		if (err == nil) != tt.fine {
			t.Errorf("%s: error %v, want accepted %v", tt.members, err, tt.fine)
		}
		if errors.Is(err, errCrash) {
			t.Errorf("%s: crash", tt.members)
		}
	}
}

func TestAPIEnvelope(t *testing.T) {
	good := apiEntry(keyless("good", "/good/"))
	for message, want := range map[string]string{
		``:                                     "",
		`null`:                                 "",
		`[]`:                                   "",
		`{}`:                                   "refused",
		`"x"`:                                  "refused",
		`[5]`:                                  "refused",
		`[{"api_definition":[]}]`:              "refused",
		`[{"api_definition":{},"oas":"text"}]`: "refused",
		`[{"api_definition":null}]`:            "crash",
		`[null]`:                               "crash",
		`[{}]`:                                 "crash",
		`[` + good + `,{"oas":null}]`:          "crash",
		// An unreadable feed never gets as far as the crash.
		`[{},{"api_definition":{"active":1}}]`:                                        "refused",
		`[{"api_definition":{},"hook_references":[1],"user_owners":"x","sort_by":7}]`: "",
	} {
		_, err := parseAPIs(json.RawMessage(message), nil)
		got := ""
		switch {
		case errors.Is(err, errCrash):
			got = "crash"
		case err != nil:
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %q (%v), want %q", message, got, err, want)
		}
	}
}

func TestAPISelection(t *testing.T) {
	inactive := with(keyless("off", "/off/"), map[string]any{"active": false})
	unlisted := with(keyless("nowhere", "/x/"), map[string]any{"proxy": map[string]any{"target_url": "http://x"}})
	set := newAPISet(parseEntries(t,
		apiEntry(keyless("dup", "/first/")), apiEntry(inactive), apiEntry(unlisted),
		apiEntry(keyless("b", "/same/")), apiEntry(keyless("a", "/same/")), apiEntry(keyless("dup", "/second/")),
	), false, nil)
	want := map[string]string{"dup": "/second/", "off": "/off/", "b": "/same/", "a": "/same/-a"}
	if got := paths(set); !maps.Equal(got, want) {
		t.Errorf("loaded %v, want %v", got, want)
	}
	if set.skipped["nowhere"] == "" || len(set.skipped) != 1 {
		t.Errorf("skipped %v", set.skipped)
	}
	order := slices.IsSortedFunc(set.summary(), func(a, b API) int { return strings.Compare(a.ListenPath, b.ListenPath) })
	if !order {
		t.Errorf("order %v", set.summary())
	}
}

// docs/wire/feeds.md#segments.
func TestSegments(t *testing.T) {
	tagged := func(id string, disabled bool, tags ...string) string {
		return apiEntry(with(keyless(id, "/"+id+"/"), map[string]any{"tags": tags, "tags_disabled": disabled}))
	}
	entries := parseEntries(t, tagged("red", false, "red", "x"), tagged("blue", false, "blue"),
		tagged("off", true, "red"), tagged("none", false))
	for _, tt := range []struct {
		segmented bool
		tags      []string
		want      []string
	}{
		{false, []string{"red"}, []string{"blue", "none", "off", "red"}},
		{true, []string{"red"}, []string{"red"}},
		{true, []string{"blue", "x"}, []string{"blue", "red"}},
		{true, nil, nil},
	} {
		got := slices.Sorted(maps.Keys(paths(newAPISet(entries, tt.segmented, tt.tags))))
		if !slices.Equal(got, tt.want) {
			t.Errorf("segmented %v, tags %v: %v, want %v", tt.segmented, tt.tags, got, tt.want)
		}
	}
}

const plainDoc = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{}}`

func oasEntry(id, doc string, members map[string]any) string {
	members = maps.Clone(members)
	if members == nil {
		members = map[string]any{}
	}
	members["is_oas"] = true
	return fmt.Sprintf(`{"api_definition":%s,"oas":%s}`, with(keyless(id, "/"+id+"/"), members), doc)
}

// docs/wire/feeds.md#oas-apis: an OAS API needs a valid document.
func TestOASDocuments(t *testing.T) {
	for doc, loads := range map[string]bool{
		plainDoc: true,
		`{"openapi":"3.1.0","info":{"title":"t","version":"1"}}`: true,
		`null`:                           false,
		`{}`:                             false,
		`{"openapi":"2.0"}`:              false,
		`{"openapi":"3.0.3"}`:            false,
		`{"openapi":"3.0.3","info":"x"}`: false,
		with(plainDoc, map[string]any{"paths": nil}):                            false,
		with(plainDoc, map[string]any{"paths": []any{}}):                        false,
		with(plainDoc, map[string]any{"info": map[string]any{"title": "only"}}): false,
	} {
		set := newAPISet(parseEntries(t, oasEntry("o", doc, nil), apiEntry(keyless("other", "/other/"))), false, nil)
		if (set.byID["o"] != nil) != loads || set.byID["other"] == nil {
			t.Errorf("%s: loaded %v, want %v", doc, paths(set), loads)
		}
	}
	// Without is_oas the document does not matter.
	set := newAPISet(parseEntries(t, `{"api_definition":`+keyless("c", "/c/")+`,"oas":{"openapi":"nonsense"}}`), false, nil)
	if a := set.byID["c"]; a == nil || a.IsOAS || a.doc != nil {
		t.Errorf("classic API with a document: %+v", a)
	}
}

// docs/wire/feeds.md#mcp-proxies: all the marks are needed.
func TestMCPDetection(t *testing.T) {
	doc := with(plainDoc, map[string]any{"x-tyk-api-gateway": map[string]any{
		"middleware": map[string]any{"mcpTools": map[string]any{"get": map[string]any{}}},
	}})
	both := map[string]any{"application_protocol": "mcp", "json_rpc_version": "2.0"}
	for name, tt := range map[string]struct {
		entry string
		mcp   bool
	}{
		"all":              {oasEntry("m", doc, both), true},
		"no version":       {oasEntry("m", doc, map[string]any{"application_protocol": "mcp"}), false},
		"no protocol":      {oasEntry("m", doc, map[string]any{"json_rpc_version": "2.0"}), false},
		"no MCP block":     {oasEntry("m", plainDoc, both), false},
		"not an OAS entry": {`{"api_definition":` + with(keyless("m", "/m/"), both) + `,"oas":` + doc + `}`, false},
	} {
		set := newAPISet(parseEntries(t, tt.entry), false, nil)
		if list := set.summary(); len(list) != 1 || list[0].MCP != tt.mcp {
			t.Errorf("%s: %+v, want MCP %v", name, list, tt.mcp)
		}
	}
}

func TestRoute(t *testing.T) {
	set := newAPISet(parseEntries(t, apiEntry(keyless("root", "/")), apiEntry(keyless("a", "/a/")), apiEntry(keyless("ab", "/a/b/"))), false, nil)
	for path, want := range map[string]string{"/": "root", "/a": "a", "/a/": "a", "/a/x": "a", "/a/b": "ab", "/a/b/c": "ab", "/az": "root"} {
		if got := set.route(path); got == nil || got.APIID != want {
			t.Errorf("%s: %+v, want %s", path, got, want)
		}
	}
	if a := (&apiSet{}).route("/x"); a != nil {
		t.Errorf("an empty set routes to %+v", a)
	}
}

// One wrong type anywhere keeps the old configuration.
func TestRefusedFeedKeepsTheOldOne(t *testing.T) {
	f := newFake(t)
	f.always(pathPolicies, feed(`{"id":"p1"}`))
	g := loaded(t, f.config())
	for path, bad := range map[string]reply{
		pathAPIs:     feed(apiEntry(keyless("new", "/new/")), apiEntry(`{"active":"yes"}`)),
		pathPolicies: feed(`{"id":"new"}`, `{"_id":"not hex"}`),
	} {
		f.once(path, bad)
		reload(t, g)
		if s := g.State(); s.ReloadsFailed == 0 || len(s.APIs) != 1 || s.APIs[0].ID != "a1" || len(s.Policies) != 1 || s.Policies[0].ID != "p1" {
			t.Errorf("%s: state %+v", path, s)
		}
	}
}

// The smallest definition (docs/wire/classic-definition.md#what-gateways-need) and MCP proxy
// (docs/wire/feeds.md#mcp-proxies).
func TestContractExamplesLoad(t *testing.T) {
	const smallest = `{"api_definition":{"api_id":"a1","name":"min","org_id":"o1","use_keyless":true,
		"proxy":{"listen_path":"/min/","target_url":"http://127.0.0.1:9999/"},
		"version_data":{"not_versioned":true,"versions":{"Default":{"name":"Default","use_extended_paths":true}}}}}`
	set := newAPISet(parseEntries(t, smallest), false, nil)
	want := API{ID: "a1", OrgID: "o1", Name: "min", ListenPath: "/min/"}
	if got := set.summary(); len(got) != 1 || got[0] != want {
		t.Errorf("loaded %+v, want %+v", got, want)
	}
}

func FuzzAPIFeed(f *testing.F) {
	f.Add(`[]`)
	f.Add(`[` + apiEntry(keyless("a", "/a/")) + `]`)
	f.Add(`[` + oasEntry("o", plainDoc, nil) + `]`)
	f.Add(`[{"api_definition":{"auth_configs":{"":null},"version_data":{"versions":{"":{"extended_paths":{"hard_timeouts":[null]}}}}}}]`)
	f.Fuzz(func(t *testing.T, message string) {
		entries, err := parseAPIs(json.RawMessage(message), nil)
		if err != nil {
			return
		}
		set := newAPISet(entries, false, nil)
		if len(set.list) > len(entries) || len(set.list) != len(set.byID) {
			t.Errorf("%d entries gave %d APIs", len(entries), len(set.list))
		}
	})
}

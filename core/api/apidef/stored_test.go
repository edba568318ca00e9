package apidef_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// TestLoad: a record with a readable head can be loaded. Missing members are empty, and are
// written the next time.
func TestLoad(t *testing.T) {
	const head = `"_id":"i","class":"oas","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:06Z"`
	for name, c := range map[string]struct{ record, definition, document string }{
		"whole":                      {`{` + head + `,"api_definition":{"name":"x"},"oas":{"openapi":"3.0.3"}}`, `{"name":"x"}`, `{"openapi":"3.0.3"}`},
		"no definition":              {`{` + head + `}`, `{}`, ``},
		"a definition that is null":  {`{` + head + `,"api_definition":null,"oas":null}`, `{}`, ``},
		"a definition of wrong type": {`{` + head + `,"api_definition":[1],"oas":{}}`, `{}`, `{}`},
	} {
		a, err := apidef.Load([]byte(c.record))
		if err != nil || string(a.Definition()) != c.definition || string(a.Document()) != c.document {
			t.Errorf("%s: %s, %s, %v", name, a.Definition(), a.Document(), err)
			continue
		}
		if a.ID() != "i" || a.Class() != apidef.OAS || !a.Created().Equal(at) || !a.Updated().Equal(at.Add(time.Second)) {
			t.Errorf("%s: %s %s %v %v", name, a.ID(), a.Class(), a.Created(), a.Updated())
		}
	}
	for _, record := range []string{``, `[]`, `{"_id":5}`, `{"created_at":"yesterday"}`, `{"api_definition":{}`} {
		if _, err := apidef.Load([]byte(record)); err == nil {
			t.Errorf("%s is an API", record)
		}
	}
}

// TestMarshal: encoding/json and the appenders give the same text.
func TestMarshal(t *testing.T) {
	a := made(t, apidef.Streams, `{"name":"x"}`, `{"user_owners":["u1"]}`)
	stored, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	b, err := apidef.Load(stored)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.AppendJSON(nil); err != nil || string(again) != string(stored) {
		t.Errorf("%s became %s, %v", stored, again, err)
	}
	for _, compact := range []bool{true, false} {
		marshalled, err := json.Marshal(a.View(compact))
		if err != nil {
			t.Fatal(err)
		}
		if appended, err := a.View(compact).AppendJSON(nil); err != nil || string(appended) != string(marshalled) {
			t.Errorf("%s and %s, %v", marshalled, appended, err)
		}
	}
}

// view returns a wrapper as clients read it.
func view(t *testing.T, a apidef.API, compact bool) map[string]json.RawMessage {
	t.Helper()
	text, err := a.View(compact).AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// TestView: every wrapper has the members that clients expect, with the stored or an empty
// value, and only streams have is_streams.
func TestView(t *testing.T) {
	empty := map[string]string{"hook_references": `[]`, "is_site": `false`, "sort_by": `0`, "user_owners": `[]`, "user_group_owners": `[]`, "categories": `[]`, "api_model": `{}`}
	for _, class := range []apidef.Class{apidef.Classic, apidef.OAS, apidef.Streams, apidef.MCP} {
		bare, full := made(t, class, `{"name":"x"}`, ""), made(t, class, `{"name":"x"}`, `{"sort_by":7,"user_owners":["u"],"is_site":true}`)
		for _, compact := range []bool{true, false} {
			for name, want := range empty {
				if got := string(view(t, bare, compact)[name]); got != want {
					t.Errorf("%s, compact %v: %s is %s", class, compact, name, got)
				}
			}
			have := view(t, full, compact)
			if string(have["sort_by"]) != `7` || string(have["user_owners"]) != `["u"]` || string(have["is_site"]) != `true` {
				t.Errorf("%s, compact %v: %s", class, compact, have)
			}
			if streams := string(have["is_streams"]); streams != strconv.FormatBool(class == apidef.Streams) {
				t.Errorf("%s: is_streams %v", class, streams)
			}
			if _, document := have["oas"]; document != (class != apidef.Classic && !compact) {
				t.Errorf("%s, compact %v: document %v", class, compact, document)
			}
		}
	}
}

// TestCompact: the members of a definition in a compact list.
func TestCompact(t *testing.T) {
	a := made(t, apidef.Classic, `{"name":"x","secret":"s","tags":null,"proxy":{"listen_path":"/x/","target_url":"http://u","transport":{}},
		"version_data":{"not_versioned":true,"versions":{"v1":{"paths":{}},"":{}}},"config_data":{"a":1}}`, "")
	want := `{"name":"x","id":"0000000000000000000000aa","api_id":"a1","org_id":"o1","tags":[],"proxy":{"listen_path":"/x/","target_url":"http://u"},` +
		`"slug":"","active":false,"is_oas":false,"domain":"","use_keyless":false,"use_standard_auth":false,"enable_jwt":false,"use_basic_auth":false,` +
		`"use_oauth2":false,"enable_signature_checking":false,"use_openid":false,"use_mutual_tls_auth":false,` +
		`"version_data":{"versions":{"v1":{"name":"v1"},"":{"name":""}}}}`
	var have, wanted map[string]any
	text := view(t, a, true)["api_definition"]
	if err := errors.Join(json.Unmarshal(text, &have), json.Unmarshal([]byte(want), &wanted)); err != nil {
		t.Fatal(err)
	}
	if h, w := mustJSON(t, have), mustJSON(t, wanted); h != w {
		t.Errorf("have %s\nwant %s", h, w)
	}
	if tags := view(t, made(t, apidef.Classic, `{"tags":["eu"]}`, ""), true)["api_definition"]; !strings.Contains(string(tags), `"tags":["eu"]`) {
		t.Errorf("%s", tags)
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSequence: sequences sort by time of creation, in any time zone, and MCP proxies are
// separate.
func TestSequence(t *testing.T) {
	zone := time.FixedZone("east", 3*3600)
	moments := []time.Time{at, at.Add(1), at.Add(time.Second).In(zone), at.Add(10 * time.Second), at.Add(time.Hour).In(zone), at.AddDate(1, 0, 0)}
	for _, class := range []apidef.Class{apidef.Classic, apidef.OAS, apidef.Streams, apidef.MCP} {
		var all []string
		for _, moment := range moments {
			a, err := apidef.New(apidef.Draft{ID: "i", APIID: "a", OrgID: "o", Class: class, Definition: doctest.Node(t, `{}`)}, moment)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(a.Sequence(), apidef.Family(class)) {
				t.Errorf("%q does not begin with its family", a.Sequence())
			}
			all = append(all, a.Sequence())
		}
		if !slices.IsSorted(all) || len(slices.Compact(all)) != len(moments) {
			t.Errorf("%s: %q", class, all)
		}
		if mcp := apidef.Family(class) == apidef.Family(apidef.MCP); mcp != (class == apidef.MCP) {
			t.Errorf("%s stands with MCP proxies: %v", class, mcp)
		}
	}
}

// TestEverything: a filter with any condition does not match everything.
func TestEverything(t *testing.T) {
	if f := (apidef.Filter{}); !f.Everything() {
		t.Error("the empty filter is none")
	}
	for _, f := range []apidef.Filter{
		{Text: "x"}, {Type: "tcp"}, {Categories: []string{"c"}}, {AuthTypes: []string{"jwt"}}, {Tags: []string{"t"}}, {Hide: map[string]bool{"a": true}},
	} {
		if f.Everything() {
			t.Errorf("%+v lets everything pass", f)
		}
	}
}

// TestTypes: which list shows which API. Each API is in exactly one of the lists of protocols.
func TestTypes(t *testing.T) {
	for name, c := range map[string]struct {
		a    apidef.API
		want []string
	}{
		"rest":          {made(t, apidef.Classic, `{}`, ""), []string{"rest"}},
		"tcp":           {made(t, apidef.Classic, `{"protocol":"tcp"}`, ""), []string{"tcp"}},
		"tls":           {made(t, apidef.Classic, `{"protocol":"tls"}`, ""), []string{"tcp"}},
		"internal":      {made(t, apidef.Classic, `{"internal":true}`, ""), []string{"rest", "internal"}},
		"streams":       {made(t, apidef.Streams, `{}`, ""), []string{"streams"}},
		"graphql":       {made(t, apidef.Classic, `{"graphql":{"enabled":true}}`, ""), []string{"graphql", "graph"}},
		"udg":           {made(t, apidef.Classic, `{"graphql":{"enabled":true,"execution_mode":"executionEngine"}}`, ""), []string{"udg", "graph"}},
		"graphql off":   {made(t, apidef.Classic, `{"graphql":{"execution_mode":"subgraph"}}`, ""), []string{"rest"}},
		"unknown graph": {made(t, apidef.Classic, `{"graphql":{"enabled":true,"execution_mode":"new"}}`, ""), nil},
	} {
		var got []string
		for _, list := range []string{"rest", "tcp", "internal", "streams", "graphql", "udg", "subgraph", "supergraph", "graph"} {
			if err := apidef.CheckType(list); err != nil {
				t.Errorf("%s: %v", list, err)
			}
			if l := c.a.Listed(); (apidef.Filter{Type: list}).Admits()(&l) {
				got = append(got, list)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s is in %v", name, got)
		}
	}
}

// TestCaps: no API may have a list that is too long, in any part, and the fault names the
// list.
func TestCaps(t *testing.T) {
	long := `[""` + strings.Repeat(`,""`, 1000) + `]`
	for field, d := range map[string]apidef.Draft{
		"tags":        {Definition: doctest.Node(t, `{"tags":`+long+`}`)},
		"user_owners": {Definition: doctest.Node(t, `{}`), Wrapper: object(t, `{"user_owners":`+long+`}`)},
	} {
		_, err := apidef.New(d, at)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Invalid || f.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := apidef.New(apidef.Draft{Definition: doctest.Node(t, `{"tags":["a"]}`), Wrapper: object(t, `{"user_owners":["a"]}`)}, at); err != nil {
		t.Error(err)
	}
}

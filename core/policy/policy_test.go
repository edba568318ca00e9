package policy_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

const id = "00000000000000000000000a"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// apis are the APIs of the tests: one with tokens, one with JWTs, and a proxy.
var apis = policy.APIs{
	"rest": {AuthTypes: []string{"jwt"}}, "other": {AuthTypes: []string{"authToken", "jwt"}}, "mcp": {MCP: true},
}

var rules = policy.Checks{APIs: apis}

func draft(t testing.TB, text string) policy.Draft {
	t.Helper()
	d, err := policy.NewDraft([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func make1(t testing.TB, text string) policy.Policy {
	t.Helper()
	p, err := policy.New(id, "org", now, draft(t, text), rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func text(t testing.TB, v doc.Appender) string {
	t.Helper()
	b, err := v.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestNew: the members that the server adds to a document, and those that stay unchanged.
func TestNew(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"the least": {
			`{"name":"n"}`,
			`{"name":"n","date_created":"2026-01-02T03:04:05Z","_id":"00000000000000000000000a","org_id":"org","last_updated":"1767323045",` +
				`"id":"00000000000000000000000a","state":"active","access_rights":{},"access_rights_array":[]}`,
		},
		"unknown members, order and spelling stay": {
			`{ "z" : 1.50 ,"rate":1e3,"name":"\u006e","later":{"b":null,"a":[1.0]},"state":"deny","org_id":7,"last_updated":[],"id":""}`,
			`{"z":1.50,"rate":1e3,"name":"\u006e","later":{"b":null,"a":[1.0]},"state":"deny","org_id":"org","last_updated":"1767323045",` +
				`"id":"00000000000000000000000a","date_created":"2026-01-02T03:04:05Z","_id":"00000000000000000000000a","access_rights":{},"access_rights_array":[]}`,
		},
		"fixed identifiers, in lower case": {
			`{"_id":"5F1A0C5D8E3B2A1F00000009","id":"a.b-c_d~1","name":"n","state":"active","access_rights":null}`,
			`{"_id":"5f1a0c5d8e3b2a1f00000009","id":"a.b-c_d~1","name":"n","state":"active","access_rights":{},"date_created":"2026-01-02T03:04:05Z",` +
				`"org_id":"org","last_updated":"1767323045","access_rights_array":[]}`,
		},
		"a draft disables its keys": {
			`{"name":"n","_id":null,"id":null,"state":"draft","is_inactive":false}`,
			`{"name":"n","_id":"00000000000000000000000a","id":"00000000000000000000000a","state":"draft","is_inactive":true,` +
				`"date_created":"2026-01-02T03:04:05Z","org_id":"org","last_updated":"1767323045","access_rights":{},"access_rights_array":[]}`,
		},
		"access rights are completed, and listed": {
			`{"name":"n","state":"","access_rights":{"gone":{"x":1},"rest":null,"b":{"api_id":"c"},"d":{"api_id":null,"versions":null,"allowed_urls":[null],"limit":null}},"access_rights_array":[{"api_id":"no"}],"auth_types":["old"]}`,
			`{"name":"n","state":"active","access_rights":{"gone":{"x":1,"api_id":"gone"},"rest":{"api_id":"rest"},"b":{"api_id":"c"},"d":{"api_id":"d","versions":null,"allowed_urls":[null],"limit":null}},` +
				`"access_rights_array":[{"x":1,"api_id":"gone"},{"api_id":"rest"},{"api_id":"c"},{"api_id":"d","versions":null,"allowed_urls":[null],"limit":null}],"auth_types":["old"],"date_created":"2026-01-02T03:04:05Z",` +
				`"_id":"00000000000000000000000a","org_id":"org","last_updated":"1767323045","id":"00000000000000000000000a","auth_type":"jwt"}`,
		},
		"access rights as a list beside an empty object": {
			`{"name":"n","access_rights":{},"access_rights_array":[{"api_id":"other"}],"auth_type":"x","auth_types":["x"]}`,
			`{"name":"n","access_rights":{"other":{"api_id":"other"}},"access_rights_array":[{"api_id":"other"}],"auth_type":"x","auth_types":["x"],` +
				`"date_created":"2026-01-02T03:04:05Z","_id":"00000000000000000000000a","org_id":"org","last_updated":"1767323045",` +
				`"id":"00000000000000000000000a","state":"active"}`,
		},
		"access rights as a list": {
			`{"name":"n","access_rights_array":[{"api_id":"rest","y":2},{"api_id":"other"}]}`,
			`{"name":"n","access_rights_array":[{"api_id":"rest","y":2},{"api_id":"other"}],"date_created":"2026-01-02T03:04:05Z","_id":"00000000000000000000000a",` +
				`"org_id":"org","last_updated":"1767323045","id":"00000000000000000000000a","state":"active",` +
				`"access_rights":{"rest":{"api_id":"rest","y":2},"other":{"api_id":"other"}},"auth_type":"","auth_types":["authToken","jwt"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(t, make1(t, c.body)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestRefused: the field and the message of refusals.
func TestRefused(t *testing.T) {
	rights := func(api, definition string) string {
		return `{"name":"n","access_rights":{"` + api + `":` + definition + `}}`
	}
	const notProxy = `MCP fields can only be configured on MCP Proxies, API "rest" is not an MCP Proxy`
	for _, c := range []struct{ body, field, message string }{
		{`{}`, "name", "policy name is required"},
		{`{"name":" "}`, "name", "policy name is required"},
		{`{"name":null}`, "name", "policy name is required"},
		{`{"name":7}`, "name", "policy name must be a string, not a number"},
		{`{"name":"n","_id":"xyz"}`, "_id", "policy _id must be 24 hexadecimal digits"},
		{`{"name":"n","_id":7}`, "_id", "policy _id must be 24 hexadecimal digits"},
		{`{"name":"n","id":7}`, "id", "policy id must be a string, not a number"},
		{`{"name":"n","id":"a b"}`, "id", "Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~"},
		{`{"name":"n","id":"a/b"}`, "id", "Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~"},
		{`{"name":"n","id":"é"}`, "id", "Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~"},
		{`{"name":"n","id":"` + strings.Repeat("a", 257) + `"}`, "id", "Invalid Policy ID: not more than 256 characters"},
		{`{"name":"n","state":"gone"}`, "state", "policy state must be active, draft or deny"},
		{`{"name":"n","state":1}`, "state", "policy state must be a string, not a number"},
		{`{"name":"n","partitions":{"per_api":true,"quota":true}}`, "partitions", "policy partitions: per_api cannot be combined with quota"},
		{`{"name":"n","partitions":{"per_api":true,"acl":true}}`, "partitions", "policy partitions: per_api cannot be combined with acl"},
		{`{"name":"n","partitions":{"acl":1}}`, "partitions.acl", "policy partitions.acl must be true or false, not a number"},
		{`{"name":"n","post_expiry_action":"burn"}`, "post_expiry_action", "policy post_expiry_action must be retain or delete"},
		{`{"name":"n","access_rights_array":[{}]}`, "access_rights_array", "policy access_rights_array: every item needs an api_id"},
		{`{"name":"n","access_rights_array":[{"api_id":"a","limit":[]}]}`, "access_rights_array[0].limit", "policy access_rights_array[0].limit must be an object, not a list"},
		{rights("gone", `{"versions":"Default"}`), "access_rights.gone.versions", "policy access_rights.gone.versions must be a list, not a string"},
		{rights("rest", `{"json_rpc_methods":[{}]}`), "access_rights.rest.json_rpc_methods", notProxy},
		{rights("rest", `{"json_rpc_methods_access_rights":{"allowed":["a"]}}`), "access_rights.rest.json_rpc_methods_access_rights", notProxy},
		{rights("rest", `{"mcp_primitives":[{"type":"tool"}]}`), "access_rights.rest.mcp_primitives", notProxy},
		{rights("rest", `{"mcp_access_rights":{"tools":{"blocked":["a"]}}}`), "access_rights.rest.mcp_access_rights", notProxy},
		{rights("mcp", `{"allowed_urls":[{"url":"/"}]}`), "access_rights.mcp.allowed_urls", `allowed_urls cannot be configured on MCP Proxies, API "mcp" is an MCP Proxy`},
		{rights("mcp", `{"disable_introspection":true}`), "access_rights.mcp.disable_introspection", `disable_introspection cannot be configured on MCP Proxies, API "mcp" is an MCP Proxy`},
		{rights("mcp", `{"endpoints":[{}]}`), "access_rights.mcp.endpoints", `endpoints cannot be configured on MCP Proxies, API "mcp" is an MCP Proxy`},
		{rights("mcp", `{"mcp_primitives":[{"type":"prompt"},{"type":"file"}]}`), "access_rights.mcp.mcp_primitives", `mcp_primitives of API "mcp": type must be tool, resource or prompt`},
		{rights("mcp", `{"mcp_primitives":[{}]}`), "access_rights.mcp.mcp_primitives", `mcp_primitives of API "mcp": type must be tool, resource or prompt`},
		{rights("mcp", `{"mcp_access_rights":{"tools":{"allowed":["a"],"blocked":["b.*","(["]}}}`), "access_rights.mcp.mcp_access_rights.tools.blocked", `mcp_access_rights.tools.blocked of API "mcp": "([" is no regular expression`},
		{rights("mcp", `{"json_rpc_methods_access_rights":{"allowed":["tools/("]}}`), "access_rights.mcp.json_rpc_methods_access_rights.allowed", `json_rpc_methods_access_rights.allowed of API "mcp": "tools/(" is no regular expression`},
		{rights("mcp", `{"Allowed_URLs":[{"url":"/"}]}`), "access_rights.mcp.Allowed_URLs", `policy access_rights.mcp.Allowed_URLs must be spelled allowed_urls`},
		{`{"Name":"n"}`, "Name", `policy Name must be spelled name`},
		{`{"name":"n","RATE":-1}`, "RATE", `policy RATE must be spelled rate`},
		{`{"name":"n","graphql_access_rights":{"k":"x"}}`, "graphql_access_rights.k", "policy graphql_access_rights.k must be an object, not a string"},
		{`{"name":"n","graphql_access_rights":[]}`, "graphql_access_rights", "policy graphql_access_rights must be an object, not a list"},
	} {
		_, err := policy.New(id, "org", now, draft(t, c.body), rules)
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != fault.Invalid || f.Field != c.field || f.Message != c.message {
			t.Errorf("%s: %v at %q, want %q at %q", c.body, err, f.Field, c.message, c.field)
		}
	}
}

// TestTolerated: documents that look wrong and are accepted.
func TestTolerated(t *testing.T) {
	for _, body := range []string{
		`{"name":"n","access_rights":{"gone":{"mcp_primitives":[{"type":"file"}],"allowed_urls":[{}]}}}`,                                        // of unknown classes
		`{"name":"n","access_rights":{"rest":{"json_rpc_methods":[],"mcp_primitives":null,"mcp_access_rights":{"tools":{"allowed":[]}}}}}`,      // only empty values
		`{"name":"n","access_rights":{"mcp":{"allowed_urls":null,"endpoints":[],"disable_introspection":false,"restricted_types":[]}}}`,         // the same
		`{"name":"n","access_rights":{"mcp":{"mcp_primitives":[{"type":"tool","name":"a","limit":{"rate":1,"per":1}}],"json_rpc_methods":[]}}}`, // as intended
		`{"name":"n","partitions":{"acl":true,"rate_limit":true,"quota":true,"complexity":true,"per_api":false}}`,
		`{"name":"n","partitions":{"per_api":true,"quota":false}}`,
		`{"name":"n","rate":null,"tags":null,"smoothing":null,"partitions":null,"meta_data":null,"post_expiry_action":""}`,
		`{"name":"n","access_rights":{"rest":{"allowed_urls":null,"limit":null,"versions":null}}}`,
	} {
		if _, err := policy.New(id, "org", now, draft(t, body), rules); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestUnsafeIDs(t *testing.T) {
	loose := rules
	loose.UnsafeIDs = true
	for name, ok := range map[string]bool{"a b/ü": true, "a": true, "a\\u0000": false, strings.Repeat("ü", 256): true, strings.Repeat("a", 257): false} {
		_, err := policy.New(id, "org", now, draft(t, `{"name":"n","id":"`+name+`"}`), loose)
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
	// A policy keeps an ID from when the setting was on, and can be changed.
	p, err := policy.New(id, "org", now, draft(t, `{"name":"n","id":"a b/ü"}`), loose)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{`{"name":"m"}`, `{"name":"m","id":"a b/ü"}`} {
		if q, err := p.Replace(draft(t, body), now, rules); err != nil || q.PolicyID() != "a b/ü" {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := p.Replace(draft(t, `{"name":"m","id":"c d"}`), now, rules); fault.KindOf(err) != fault.Invalid {
		t.Errorf("another unsafe ID passes: %v", err)
	}
	if policy.ValidID("", true) || policy.ValidID("\xff", true) {
		t.Error("empty text or bytes that are no text pass for an identifier")
	}
}

// TestReplace: the members that a replacement keeps.
func TestReplace(t *testing.T) {
	later := now.Add(time.Hour)
	p := make1(t, `{"_id":"5f1a0c5d8e3b2a1f00000009","id":"gold","name":"n","tags":["a"],"state":"draft"}`)
	for _, c := range []struct{ body, want string }{
		{`{"name":"m"}`, `{"name":"m","date_created":"2026-01-02T03:04:05Z","_id":"5f1a0c5d8e3b2a1f00000009","org_id":"org","last_updated":"1767326645",` +
			`"id":"gold","state":"active","access_rights":{},"access_rights_array":[]}`},
		{`{"_id":false,"id":"silver","org_id":"b","date_created":1,"name":"m","state":"active","is_inactive":true}`,
			`{"_id":"5f1a0c5d8e3b2a1f00000009","id":"silver","org_id":"org","date_created":"2026-01-02T03:04:05Z","name":"m","state":"active","is_inactive":false,` +
				`"last_updated":"1767326645","access_rights":{},"access_rights_array":[]}`},
	} {
		q, err := p.Replace(draft(t, c.body), later, rules)
		if err != nil {
			t.Error(err)
		} else if got := text(t, q); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if _, err := p.Replace(draft(t, `{"name":"m","rate":"1"}`), later, rules); fault.KindOf(err) != fault.Invalid {
		t.Error(err)
	}
	off := make1(t, `{"name":"n","is_inactive":true}`)
	if q, err := off.Replace(draft(t, text(t, off)), now, rules); err != nil || text(t, q) != text(t, off) {
		t.Error("an active policy that is switched off does not stay as it is", err)
	}
}

// TestEdited: a list that only repeats the rights does not restore them.
func TestEdited(t *testing.T) {
	p := make1(t, `{"name":"n","access_rights":{"rest":{}}}`)
	for _, c := range []struct{ edit, want string }{
		{`{"name":"n","access_rights_array":[{"api_id":"rest"}]}`, `[]`},
		{`{"name":"n","access_rights":null,"access_rights_array":[{"api_id":"rest"}]}`, `[]`},
		{`{"name":"n","access_rights":{},"access_rights_array":[{"api_id":"rest"}]}`, `[]`},
		{`{"name":"n","access_rights":{},"access_rights_array":[{"api_id":"b"}]}`, `[b]`},
		{`{"name":"n","access_rights_array":[{"api_id":"b"}]}`, `[b]`},
		{`{"name":"n","access_rights":{"c":{}},"access_rights_array":[{"api_id":"rest"}]}`, `[c]`},
	} {
		d, err := p.Edited([]byte(c.edit))
		if err != nil || fmt.Sprint(d.APIs()) != c.want {
			t.Errorf("%s: %v %v", c.edit, d.APIs(), err)
			continue
		}
		if q, err := p.Replace(d, now, rules); err != nil || fmt.Sprint(q.APIs()) != c.want {
			t.Errorf("%s: %v %v", c.edit, q.APIs(), err)
		}
	}
	for _, bad := range []string{``, `[]`, `null`, `7`} {
		if _, err := p.Edited([]byte(bad)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestWithout(t *testing.T) {
	p := make1(t, `{"name":"n","access_rights":{"a":{"x":1.0},"b":{}},"z":1}`)
	if _, ok := p.Without("c", now); ok {
		t.Error("an API that is not there was removed")
	}
	q, ok := p.Without("a", now.Add(time.Second))
	want := strings.NewReplacer(`"a":{"x":1.0,"api_id":"a"},`, "", `{"x":1.0,"api_id":"a"},`, "", "1767323045", "1767323046").Replace(text(t, p))
	if !ok || text(t, q) != want {
		t.Errorf("got  %s\nwant %s", text(t, q), want)
	}
	if _, ok := q.Without("b", now); ok {
		t.Error("the last API was removed: an empty list means every API")
	}
}

func TestLenses(t *testing.T) {
	p := make1(t, `{"id":"gold","name":"n","active":true,"state":"deny","access_rights":{"b":{},"rest":{}}}`)
	if p.ID() != id || p.PolicyID() != "gold" || p.OrgID() != "org" || p.Name() != "n" || p.State() != policy.StateDeny || !p.Active() || p.Published() ||
		!p.Created().Equal(now) || !p.Changed().Equal(now) || !slices.Equal(p.APIs(), []string{"b", "rest"}) || !slices.Equal(p.AuthTypes(), []string{"jwt"}) {
		t.Errorf("%s", text(t, p))
	}
	if later, err := p.Replace(draft(t, `{"name":"m"}`), now.Add(time.Hour), policy.Checks{}); err != nil || !later.Created().Equal(now) || !later.Changed().Equal(now.Add(time.Hour)) {
		t.Errorf("%s %v", text(t, later), err)
	}
	old, err := policy.Load([]byte(`{"_id":"1","name":7,"access_rights":[],"active":"x","auth_type":"jwt"}`))
	if err != nil || old.PolicyID() != "1" || old.Name() != "" || old.State() != policy.StateActive || !old.Published() || old.APIs() != nil ||
		!slices.Equal(old.AuthTypes(), []string{"jwt"}) {
		t.Errorf("%s %v", text(t, old), err)
	}
}

func TestEntry(t *testing.T) {
	entry, problems := make1(t, `{"name":"n","z":1.0,"access_rights":{"rest":{}}}`).Entry()
	want := `{"name":"n","z":1.0,"access_rights":{"rest":{"api_id":"rest"}},"date_created":"2026-01-02T03:04:05Z","_id":"00000000000000000000000a","org_id":"org",` +
		`"last_updated":"1767323045","id":"00000000000000000000000a","state":"active","auth_type":"jwt","auth_types":["jwt"]}`
	if string(entry) != want || problems != nil {
		t.Errorf("%s %v", entry, problems)
	}
	for _, text := range []string{`{"_id":"x"}`, `{"_id":7}`, `{"rate":"1"}`, `{"access_rights":{"a":{"limit":{"quota_max":1.5}}}}`} {
		p, err := policy.Load([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, problems := p.Entry(); len(problems) != 1 {
			t.Errorf("%s: %v", text, problems)
		}
	}
}

func TestSelect(t *testing.T) {
	var all []policy.Policy
	for i, body := range []string{
		`{"name":"Alpha","state":"draft","access_rights":{"a":{}}}`,
		`{"name":"beta","active":true,"access_rights":{"a":{},"b":{}},"auth_types":["jwt"]}`,
		`{"name":"Gamma","state":"deny","active":true}`,
	} {
		p, err := policy.New(fmt.Sprintf("%024x", 3-i), "org", now.Add(time.Duration(i)*time.Second), draft(t, body), rules)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	names := func(list []policy.Policy) (out string) {
		for _, p := range list {
			out += p.Name()[:1]
		}
		return out
	}
	for want, f := range map[string]policy.Filter{
		"AbG": {}, "AG": {Text: "a", State: ""}, "b": {Text: "ET"}, "A": {State: "draft"}, "bG": {ActiveOnly: true}, "Ab": {APIs: []string{"a", "c"}},
		"": {State: "none"},
	} {
		if want == "AG" {
			f.Text = "m" // Gamma
			want = "G"
		}
		got := slices.DeleteFunc(slices.Clone(all), func(p policy.Policy) bool { l := p.Listed(); return !f.Admits()(&l) })
		if names(got) != want {
			t.Errorf("%+v: %s, want %s", f, names(got), want)
		}
	}
	if f := (policy.Filter{AuthTypes: []string{"jwt"}}); !takes(f, all[1]) || takes(f, all[0]) {
		t.Error("authentication methods are not looked at")
	}
	for sort, want := range map[string]string{"": "GbA", "name": "AbG", "-name": "GbA", "date_created": "AbG", "-date_created": "GbA", "state": "bGA"} {
		order, err := policy.Order(sort)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := slices.SortedFunc(slices.Values(all), func(a, b policy.Policy) int { l, m := a.Listed(), b.Listed(); return order(&l, &m) }); names(got) != want {
			t.Errorf("%s: %s, want %s", sort, names(got), want)
		}
	}
	for _, bad := range []string{"id", "-", "--name", "name-"} {
		if _, err := policy.Order(bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// takes reports the result of a filter for a policy without existing APIs.
func takes(f policy.Filter, p policy.Policy) bool {
	l := p.Listed()
	return f.Takes(func(policy.Handle) (takes, exists bool) { return false, false })(&l)
}

// TestManySought: a filter may name thousands of APIs, and policies have thousands.
func TestManySought(t *testing.T) {
	growth.Linear(t, 600, func(size int) func() {
		var f policy.Filter
		rights := make([]string, size)
		for i := range rights {
			f.APIs = append(f.APIs, fmt.Sprintf("a%d", i))
			rights[i] = fmt.Sprintf(`"b%d":{}`, i)
		}
		p, err := policy.Load([]byte(`{"_id":"5f1a0c5d8e3b2a1f00000001","access_rights":{` + strings.Join(rights, ",") + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		l, admits := p.Listed(), f.Admits()
		return func() {
			for range 20 {
				if admits(&l) {
					t.Error("it has none of them")
				}
			}
		}
	})
}

// TestStates: which policies gateways get, and with which keys can be made.
func TestStates(t *testing.T) {
	for members, want := range map[string][2]bool{ // published, makes keys
		``: {true, true}, `,"state":"active"`: {true, true}, `,"state":"draft"`: {true, false}, `,"state":"deny"`: {false, false}, `,"is_inactive":true`: {true, false},
	} {
		p, err := policy.Load([]byte(`{"_id":"1"` + members + `}`))
		if err != nil || p.Published() != want[0] || p.MakesKeys() != want[1] {
			t.Errorf("%s: %t %t, %v", members, p.Published(), p.MakesKeys(), err)
		}
	}
}

// TestTexts: the text of a policy is in memory once, and is not overwritten through a result.
func TestTexts(t *testing.T) {
	stored := []byte(`{"_id":"1","name":"n"}`)
	p, err := policy.Load(bytes.Clone(stored))
	if err != nil {
		t.Fatal(err)
	}
	same, err := p.Over(stored).AppendJSON(nil)
	if err != nil || &same[0] != &stored[0] || cap(same) != len(same) || p.Size() != len(stored) {
		t.Errorf("%s of %d bytes, %v", same, p.Size(), err)
	}
	other := []byte(`{"_id":"1","name":"m"}`)
	if text, _ := p.Over(other).AppendJSON([]byte("x")); string(text) != "x"+string(stored) {
		t.Errorf("another text was taken: %s", text)
	}
	for _, wrong := range []string{``, `[]`, `{"_id":"1"`} {
		if _, err := policy.Load([]byte(wrong)); err == nil {
			t.Errorf("%q is a policy", wrong)
		}
	}
}

// TestForeignRights: gateways get no rights to APIs of others, and never no rights at all, which
// would mean every API.
func TestForeignRights(t *testing.T) {
	p, err := policy.Load([]byte(`{"_id":"00000000000000000000000a","id":"p","access_rights":{"ours":{},"theirs":{"api_id":"theirs"}},"access_rights_array":[{}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		foreign []string
		want    string
	}{
		{nil, `{"_id":"00000000000000000000000a","id":"p","access_rights":{"ours":{},"theirs":{"api_id":"theirs"}}}`},
		{[]string{"theirs"}, `{"_id":"00000000000000000000000a","id":"p","access_rights":{"ours":{},"theirs of another organisation":{"api_id":"theirs of another organisation"}}}`},
		{[]string{"theirs", "ours"}, `{"_id":"00000000000000000000000a","id":"p","access_rights":{"theirs of another organisation":{"api_id":"theirs of another organisation"},"ours of another organisation":{"api_id":"ours of another organisation"}}}`},
	} {
		if got, problems := p.Entry(c.foreign...); string(got) != c.want || len(problems) > 0 {
			t.Errorf("without %q: %s, %v", c.foreign, got, problems)
		}
	}
}

// TestListed: the values that lists use, and the keys by which they are sorted.
func TestListed(t *testing.T) {
	p, err := policy.Load([]byte(`{"_id":"5","name":"Gold","access_rights":{"a":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	l := p.Listed()
	if l.ID() != "5" || *l.Sought() != "gold" || len(l.APIs()) != 1 || l.APIs()[0].Value() != "a" {
		t.Errorf("%s %s %v", l.ID(), *l.Sought(), l.APIs())
	}
	if got := policy.Orders(); !slices.Equal(got, []string{"date_created", "name", "state"}) {
		t.Error(got)
	}
	all := policy.Filter{}.Takes(nil)
	by := policy.Filter{AuthTypes: []string{"jwt"}}.Takes(func(id policy.Handle) (bool, bool) { return id.Value() == "a", true })
	if !all(&l) || !by(&l) {
		t.Error("an API with the method does not count")
	}
}

// TestGrantsMCP: which access definitions have values for MCP proxies only.
func TestGrantsMCP(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, `{"mcp_primitives":[]}`: false, `{"mcp_primitives":[{}]}`: true, `{"json_rpc_methods":[{"name":"x"}]}`: true, `{"mcp_access_rights":{"tools":{"allowed":[]}}}`: false,
		`{"mcp_access_rights":{"tools":{"allowed":["a"]}}}`: true, `{"mcp_access_rights":{"tools":null}}`: false, `{"allowed_urls":[{}]}`: false, `{"mcp_access_rights":5}`: true, `{"mcp_access_rights":0}`: false,
		`{"mcp_access_rights":"x"}`: true, `{"mcp_access_rights":""}`: false, `{"mcp_access_rights":true}`: true,
	} {
		n := doctest.Node(t, text)
		if policy.GrantsMCP(n) != want {
			t.Error(text)
		}
	}
}

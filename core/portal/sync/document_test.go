package sync_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

func TestRead(t *testing.T) {
	const product, plan = `"partitions":{"acl":true}`, `"partitions":{"quota":true,"rate_limit":true}`
	for name, c := range map[string]struct {
		text     string
		selected []string
		kind     sync.Kind
		want     sync.Terms
		stale    []string
		left     string
	}{
		"a product":                     {text: `{"name":"P",` + product + `,"access_rights":{"b":{},"a":{}},"tags":["x"]}`, kind: 1, want: sync.Terms{Name: "P", Tags: []string{"x"}, APIs: []string{"a", "b"}, AuthTypes: []string{"authToken"}}},
		"a plan":                        {text: `{"name":"L",` + plan + `,"rate":10,"per":0.5,"quota_max":-1,"quota_renewal_rate":60,"key_expires_in":5,"meta_data":{"a":1},"access_rights":{"a":{}}}`, kind: 2, want: sync.Terms{Name: "L", Rate: 10, Per: 0.5, Quota: -1, QuotaRenewal: 60, KeyExpiresIn: 5, MetaData: json.RawMessage(`{"a":1}`)}},
		"only a quota":                  {text: `{"name":"L","partitions":{"quota":true},"rate":1.9}`, kind: 2, want: sync.Terms{Name: "L", Rate: 1}},
		"all partitions":                {text: `{"name":"X","partitions":{"acl":true,"quota":true,"rate_limit":true}}`, want: sync.Terms{Name: "X"}},
		"no partitions":                 {text: `{"name":"X"}`, want: sync.Terms{Name: "X"}},
		"partitions by API":             {text: `{"name":"X","partitions":{"per_api":true}}`, want: sync.Terms{Name: "X"}},
		"access and complexity":         {text: `{"name":"X","partitions":{"acl":true,"complexity":true}}`, want: sync.Terms{Name: "X"}},
		"an API that does not exist":    {text: `{"name":"P",` + product + `,"access_rights":{"gone":{},"a":{}}}`, kind: 1, want: sync.Terms{Name: "P", APIs: []string{"a"}, AuthTypes: []string{"authToken"}}, stale: []string{"gone"}},
		"an MCP proxy":                  {text: `{"name":"P",` + product + `,"access_rights":{"p":{},"a":{}}}`, want: sync.Terms{Name: "P"}},
		"rights that only proxies have": {text: `{"name":"P",` + product + `,"access_rights":{"gone":{"mcp_primitives":[{"type":"tool","name":"x"}]}}}`, want: sync.Terms{Name: "P"}},
		"a plan that grants a proxy":    {text: `{"name":"L",` + plan + `,"access_rights":{"p":{}}}`, want: sync.Terms{Name: "L"}},
		"none of the tags":              {text: `{"name":"P",` + product + `,"tags":["z"]}`, selected: []string{"x", "y"}, want: sync.Terms{Name: "P"}},
		"one of the tags":               {text: `{"name":"P",` + product + `,"tags":["y"]}`, selected: []string{"x", "y"}, kind: 1, want: sync.Terms{Name: "P", Tags: []string{"y"}}},
		"a draft":                       {text: `{"name":"P",` + product + `,"state":"draft","access_rights":{"c":{}}}`, kind: 1, want: sync.Terms{Name: "P", AuthTypes: []string{"jwt"}, Draft: true}},
		"a draft that was left":         {text: `{"name":"P",` + product + `,"state":"draft","tags":["x","portal-left-7"]}`, kind: 1, want: sync.Terms{Name: "P", Tags: []string{"x"}, Draft: true}, left: "7"},
		"left, and active again":        {text: `{"name":"P",` + product + `,"tags":["portal-left-7"]}`, kind: 1, want: sync.Terms{Name: "P"}},
		"what it says of its methods":   {text: `{"name":"P",` + product + `,"auth_type":"ba","auth_types":["jwt"],"access_rights":{"a":{}}}`, kind: 1, want: sync.Terms{Name: "P", APIs: []string{"a"}, AuthTypes: []string{"ba", "jwt"}}},
		"other types":                   {text: `{"name":1,"partitions":[],"tags":"x","access_rights":null,"meta_data":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, stale := sync.Read(doctest.Node(t, c.text), apis, c.selected)
			if p.Kind != c.kind || !reflect.DeepEqual(p.Terms, c.want) || !slices.Equal(stale, c.stale) || p.Mark != c.left {
				t.Errorf("%s %+v, stale %v, left %q", p.Kind, p.Terms, stale, p.Mark)
			}
		})
	}
}

// TestStale: a policy without known APIs may be one of MCP proxies that the user of the portal
// cannot see.
func TestStale(t *testing.T) {
	for text, want := range map[string]bool{`{"x":{},"y":{}}`: true, `{"x":{},"a":{}}`: false, `{}`: false, `{"a":{}}`: false} {
		n := doctest.Node(t, `{"_id":"1","name":"P","partitions":{"acl":true},"access_rights":`+text+`}`)
		p, _ := sync.Read(n, apis, nil)
		got, _ := sync.Want(sync.State{APIs: apis, Policies: []sync.Policy{p}})
		if p.Stale != want || len(got.Records) == 1 == want {
			t.Errorf("%s: stale %v, imported %v", text, p.Stale, got.Records)
		}
	}
}

// TestUnreadProxies: a portal ignores a policy with an unknown API while the list of MCP
// proxies cannot be read, because the API may be one.
func TestUnreadProxies(t *testing.T) {
	unread := maps.Clone(apis)
	unread[sync.UnreadProxies.ID] = sync.UnreadProxies
	for text, want := range map[string]sync.Kind{`{"x":{},"a":{}}`: sync.KindNone, `{"a":{}}`: sync.KindProduct} {
		n := doctest.Node(t, `{"_id":"1","name":"P","partitions":{"acl":true},"access_rights":`+text+`}`)
		if p, _ := sync.Read(n, unread, nil); p.Kind != want {
			t.Errorf("%s: %v", text, p.Kind)
		}
		if p, _ := sync.Read(n, apis, nil); p.Kind != sync.KindProduct {
			t.Errorf("%s: %v", text, p.Kind)
		}
	}
}

// TestFields changes every field of the table separately, and checks that the policy follows
// and nothing else changes.
func TestFields(t *testing.T) {
	base := map[sync.Kind]string{
		sync.KindProduct: `{"_id":"1","id":"gold","name":"P","partitions":{"acl":true},"access_rights":{"a":{"allowed_urls":[{"url":"/x","methods":["GET"]}]},"b":{"limit":{"rate":1}},"gone":{"versions":["v1"]}},"tags":["x"],"auth_types":["authToken"],"smoothing":{"enabled":true},"mine":1.50}`,
		sync.KindPlan:    `{"_id":"1","id":"gold","name":"L","partitions":{"quota":true,"rate_limit":true},"rate":1.5,"per":1,"quota_max":10,"quota_renewal_rate":60,"key_expires_in":5,"meta_data":{"a":1},"access_rights":{"a":{}},"state":"active","mine":1.50}`,
	}
	changes := map[string]func(*sync.Terms){
		"Name": func(x *sync.Terms) { x.Name = "other" }, "RateLimit": func(x *sync.Terms) { x.Rate = 7 }, "Per": func(x *sync.Terms) { x.Per = 7 },
		"Quota": func(x *sync.Terms) { x.Quota = -1 }, "QuotaRenewalRate": func(x *sync.Terms) { x.QuotaRenewal = -1 }, "KeyExpiresIn": func(x *sync.Terms) { x.KeyExpiresIn = 0 },
		"MetaData": func(x *sync.Terms) { x.MetaData = json.RawMessage(`{"b":[2]}`) }, "APIDetails": func(x *sync.Terms) { x.APIs = []string{"b", "c"} },
		"AuthTypes": func(x *sync.Terms) { x.AuthTypes = []string{"jwt"} }, "draft": func(x *sync.Terms) { x.Draft, x.APIs = true, nil },
	}
	for _, f := range sync.Fields {
		for _, k := range f.Of {
			n := doctest.Node(t, base[k])
			p, _ := sync.Read(n, apis, nil)
			if sync.Write(n, p, apis) {
				t.Errorf("%s: a policy that says it already was changed", f.Portal)
			}
			change, ok := changes[f.Portal]
			if !ok {
				if f.Direction == sync.Both {
					t.Errorf("%s is not tried", f.Portal)
				}
				continue
			}
			change(&p.Terms)
			before := doctest.Node(t, base[k])
			if !sync.Write(n, p, apis) {
				t.Errorf("%s: no change", f.Portal)
			}
			if got, _ := sync.Read(n, apis, nil); !reflect.DeepEqual(got, p) {
				t.Errorf("%s of a %s: %+v; want %+v", f.Portal, k, got, p)
			}
			for name, v := range before.Members() {
				if !slices.Contains(f.Members, name) && !v.Equal(n.Get(name)) {
					t.Errorf("%s changed %s", f.Portal, name)
				}
			}
		}
	}
}

// TestGrant: an API with access keeps its settings, a removed one loses access, and a
// currently missing one stays.
func TestGrant(t *testing.T) {
	n := doctest.Node(t, `{"name":"P","partitions":{"acl":true},"access_rights":{"a":{"allowed_urls":[{"url":"/x"}]},"b":{},"gone":{"versions":["v1"]}}}`)
	p, _ := sync.Read(n, apis, nil)
	p.Terms.APIs = []string{"a", "c"}
	sync.Write(n, p, apis)
	const want = `{"a":{"allowed_urls":[{"url":"/x"}]},"gone":{"versions":["v1"]},"c":{"api_id":"c","api_name":"C","versions":["Default"],"allowed_urls":[]}}`
	if got := string(n.Get("access_rights").JSON()); got != want {
		t.Error(got)
	}
	if n.Get("access_rights_array").Len() != 3 {
		t.Error(string(n.JSON()))
	}
	// A draft keeps its rights, and the same rights can return.
	p.Terms.APIs, p.Terms.Draft = nil, true
	sync.Write(n, p, apis)
	if got := string(n.Get("access_rights").JSON()); got != want || n.Get("state").Text() != "draft" || !n.Get("is_inactive").True() {
		t.Error(string(n.JSON()))
	}
	p.Terms.APIs, p.Terms.Draft = []string{"b"}, false
	sync.Write(n, p, apis)
	if got := n.Get("access_rights").Names(); !slices.Equal(got, []string{"gone", "b"}) || n.Get("state").Text() != "active" || n.Get("is_inactive").True() {
		t.Error(string(n.JSON()))
	}
}

// TestNew: reading a new policy gives the same, and gateways can decode it.
func TestNew(t *testing.T) {
	for _, p := range []sync.Policy{
		{Kind: sync.KindProduct, Terms: sync.Terms{Name: "P", Tags: []string{"x"}, APIs: []string{"a", "c"}, AuthTypes: []string{"authToken", "jwt"}}},
		{Kind: sync.KindPlan, Terms: sync.Terms{Name: "L", Tags: []string{"x"}, Rate: -1, Per: -1, Quota: -1, KeyExpiresIn: 3600, MetaData: json.RawMessage(`{"a":1}`)}},
		{Kind: sync.KindPlan, Terms: sync.Terms{Name: "L"}},
	} {
		n := sync.New(p, apis, "org")
		if got, _ := sync.Read(n, apis, p.Terms.Tags); !reflect.DeepEqual(got, p) {
			t.Errorf("%+v; want %+v", got, p)
		}
		if problems := policy.Table.Check(n); len(problems) > 0 {
			t.Error(problems)
		}
		if n.Get("id") != nil || n.Get("_id") != nil {
			t.Error("the dashboard chooses the identifiers:", string(n.JSON()))
		}
		for _, want := range []string{`"active":true`, `"is_inactive":false`, `"state":"active"`, `"org_id":"org"`, `"throttle_interval":-1`, `"throttle_retry_limit":-1`} {
			if !strings.Contains(string(n.JSON()), want) {
				t.Errorf("%s lacks %s", n.JSON(), want)
			}
		}
	}
}

// FuzzDocument: for any policy, reading gives what was written, other members stay, and
// writing again changes nothing.
func FuzzDocument(f *testing.F) {
	f.Add(`{"name":"P","partitions":{"acl":true},"access_rights":{"a":{},"gone":null},"tags":["x","portal-left-1"]}`, uint64(1))
	f.Add(`{"partitions":{"quota":true},"rate":1e3,"meta_data":{"a":null},"tags":null}`, uint64(2))
	f.Add(`{"partitions":{"acl":true},"access_rights":[1],"state":"draft"}`, uint64(3))
	f.Add(`{"partitions":{"acl":true},"access_rights":{"":null}}`, uint64(81))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil || !n.Is(doc.TypeObject) {
			return
		}
		have, _ := sync.Read(n, apis, nil)
		if have.Kind == sync.KindNone {
			return
		}
		want := have
		c := seeded(seed)
		want.Terms = c.terms(have.Kind, 1)
		want.Terms.Tags = have.Terms.Tags
		if want.Mark = ""; have.Kind == sync.KindProduct && want.Terms.Draft {
			want.Mark = pick(c, "", cid(1))
		}
		sync.Write(n, want, apis)
		got, _ := sync.Read(n, apis, nil)
		got.Stale, want.Stale = false, false // property of the document before the write
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Fatalf("%s\n%s\n%s", n.JSON(), a, b)
		}
		after := string(n.JSON())
		if sync.Write(n, want, apis); string(n.JSON()) != after {
			t.Fatalf("written again: %s\n%s", n.JSON(), after)
		}
	})
}

// TestFieldsAreDescribed: each row of the table is in the documentation page.
func TestFieldsAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../../docs/wire/portal-sync.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "## Fields")
	table, _, _ := strings.Cut(rest, "\nAll else")
	for _, f := range sync.Fields {
		for _, member := range f.Members {
			described := false
			for row := range strings.Lines(table) {
				named := strings.Contains(row, "`"+f.Portal+"`") || strings.ToLower(f.Portal) == f.Portal
				described = described || named && strings.Contains(row, "`"+member+"`")
			}
			if !described {
				t.Errorf("%s and %s are in no row", f.Portal, member)
			}
		}
	}
}

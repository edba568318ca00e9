package apidef_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func object(t testing.TB, text string) doc.Object {
	t.Helper()
	o, err := doc.ParseObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// made returns an API with a definition and, for other classes, a document.
func made(t testing.TB, class apidef.Class, definition, wrapper string) apidef.API {
	t.Helper()
	d := apidef.Draft{ID: "0000000000000000000000aa", APIID: "a1", OrgID: "o1", Class: class, Definition: doctest.Node(t, definition)}
	if class != apidef.Classic {
		d.Document = doctest.Node(t, `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"name":"n"}}}`)
	}
	if wrapper != "" {
		d.Wrapper = object(t, wrapper)
	}
	a, err := apidef.New(d, at)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNewWritesIdentifiers(t *testing.T) {
	a := made(t, apidef.OAS, `{"zz":1.50,"api_id":"other","name":"x"}`, `{"api_model":{"x":1},"unknown":[1],"created_at":"1999-01-01T00:00:00Z","_id":"evil","class":"mcp"}`)
	if got := string(a.Definition()); got != `{"zz":1.50,"api_id":"a1","name":"x","id":"0000000000000000000000aa","org_id":"o1"}` {
		t.Error(got)
	}
	if got := string(a.Document()); got != `{"openapi":"3.0.3","x-tyk-api-gateway":{"info":{"name":"n","dbId":"0000000000000000000000aa","id":"a1","orgId":"o1"}}}` {
		t.Error(got)
	}
	text, err := a.AppendJSON(nil)
	if err != nil || !strings.Contains(string(text), `"unknown":[1]`) || strings.Contains(string(text), "1999") || strings.Contains(string(text), "evil") {
		t.Errorf("%s %v", text, err)
	}
}

// Any definition stays the same through storage and through the wrapper.
func FuzzRoundTrip(f *testing.F) {
	f.Add(`{"name":"n","proxy":{"listen_path":"/x/"},"version_data":{"versions":{"":{}}},"z":1e2,"a":"\u00e9"}`)
	f.Add(`{"definition":{"enabled":true,"versions":{"v2":"c1"}},"tags":[1,"x"],"auth_configs":null}`)
	f.Fuzz(func(t *testing.T, definition string) {
		n, err := doc.ParseNode([]byte(definition))
		if err != nil || !n.Is(doc.TypeObject) {
			return
		}
		a, err := apidef.New(apidef.Draft{ID: "i", APIID: "a", OrgID: "o", Class: apidef.Classic, Definition: n}, at)
		if err != nil {
			t.Fatal(err)
		}
		stored, err := a.AppendJSON(nil)
		if err != nil || !json.Valid(stored) {
			t.Fatalf("%s: %v", stored, err)
		}
		b, err := apidef.Load(stored)
		if err != nil || !bytes.Equal(b.Definition(), a.Definition()) || b.Name() != a.Name() || b.ID() != "i" || b.APIID() != "a" || b.OrgID() != "o" {
			t.Fatalf("%s became %s: %v", a.Definition(), b.Definition(), err)
		}
		if again, err := b.AppendJSON(nil); err != nil || !bytes.Equal(again, stored) {
			t.Fatalf("%s became %s", stored, again)
		}
		for _, compact := range []bool{false, true} {
			if view, err := b.View(compact).AppendJSON(nil); err != nil || !json.Valid(view) {
				t.Fatalf("%s: %v", view, err)
			}
		}
	})
}

func TestRewriteKeeps(t *testing.T) {
	a := made(t, apidef.Classic, `{"name":"x"}`, `{"user_owners":["u1"],"sort_by":3}`)
	later := at.Add(time.Hour)
	w, _ := doc.ParseObject([]byte(`{"sort_by":4}`))
	b, err := a.Rewrite(apidef.Draft{Definition: doctest.Node(t, `{"name":"y","id":"z"}`), Wrapper: w, OrgID: "evil", ID: "evil"}, later)
	if err != nil || b.ID() != a.ID() || b.APIID() != "a1" || b.OrgID() != "o1" || !b.Created().Equal(at) || !b.Updated().Equal(later) || b.Name() != "y" {
		t.Errorf("%+v %v", b, err)
	}
	if users, _ := b.Owners(); !slices.Equal(users, []string{"u1"}) {
		t.Error("owners were lost")
	}
	if a.Name() != "x" {
		t.Error("the old one changed")
	}
}

func TestAuthTypes(t *testing.T) {
	for definition, want := range map[string][]string{
		`{"use_keyless":true,"enable_jwt":true}`: {"keyless"},
		`{}`:                                     {"authToken"},
		`{"enable_jwt":true,"use_basic_auth":true}`:                {"jwt", "basic"},
		`{"enable_coprocess_auth":true,"use_go_plugin_auth":true}`: {"custom"},
		`{"external_oauth":{"enabled":true}}`:                      {"externalOAuth"},
		`{"enable_jwt":"true"}`:                                    {"authToken"},
	} {
		if got := made(t, apidef.Classic, definition, "").AuthTypes(); !slices.Equal(got, want) {
			t.Errorf("%s: %v", definition, got)
		}
	}
}

func TestCategories(t *testing.T) {
	if got := made(t, apidef.Classic, `{"name":"Orders #shop #eu #shop x#y"}`, `{"categories":["no"]}`).Categories(); !slices.Equal(got, []string{"shop", "eu"}) {
		t.Error(got)
	}
	a := made(t, apidef.OAS, `{"name":"Orders #shop"}`, "").WithCategories([]string{" a ", "", "a", "b"}, at)
	if got := a.Categories(); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

func TestCollides(t *testing.T) {
	api := func(definition string) apidef.API { return made(t, apidef.Classic, definition, "") }
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"proxy":{"listen_path":"/a/"}}`, `{"proxy":{"listen_path":"/a/"}}`, true},
		{`{"proxy":{"listen_path":"/a/"}}`, `{"proxy":{"listen_path":"/a"}}`, false},
		{`{"proxy":{"listen_path":"/a//b/./"}}`, `{"proxy":{"listen_path":"/a/b"}}`, false},
		{`{"proxy":{"listen_path":"env://A"}}`, `{"proxy":{"listen_path":"env://A"}}`, true},
		{`{"proxy":{"listen_path":"/a/"}}`, `{"proxy":{"listen_path":"/b/"}}`, false},
		{`{"proxy":{"listen_path":"/a/"},"domain":"X.test"}`, `{"proxy":{"listen_path":"/a/"},"domain":"x.test"}`, true},
		{`{"proxy":{"listen_path":"/a/"},"domain":"x.test","domain_disabled":true}`, `{"proxy":{"listen_path":"/a/"}}`, true},
		{`{"proxy":{"listen_path":"/a/"},"domain":"x.test"}`, `{"proxy":{"listen_path":"/a/"}}`, false},
		{`{"proxy":{"listen_path":"/a/"},"tags":["eu"]}`, `{"proxy":{"listen_path":"/a/"},"tags":["us"]}`, false},
		{`{"proxy":{"listen_path":"/a/"},"tags":["eu","us"]}`, `{"proxy":{"listen_path":"/a/"},"tags":["us"]}`, true},
		{`{"proxy":{"listen_path":"/a/"},"tags":["eu"]}`, `{"proxy":{"listen_path":"/a/"}}`, true},
		{`{"proxy":{"listen_path":"/a/"},"tags":["eu"],"tags_disabled":true}`, `{"proxy":{"listen_path":"/a/"},"tags":["us"]}`, true},
		{`{"protocol":"tcp"}`, `{"protocol":"tcp"}`, false},
	} {
		if got := api(c.a).Collides(api(c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

func TestVisibleTo(t *testing.T) {
	open, owned := made(t, apidef.Classic, `{}`, ""), made(t, apidef.Classic, `{}`, `{"user_owners":["u1"],"user_group_owners":["g1"]}`)
	for _, c := range []struct {
		a    apidef.API
		v    apidef.Viewer
		want bool
	}{
		{open, apidef.Viewer{UserID: "u2"}, true}, {owned, apidef.Viewer{UserID: "u1"}, true}, {owned, apidef.Viewer{UserID: "u2", Groups: []string{"g0", "g1"}}, true},
		{owned, apidef.Viewer{UserID: "u2"}, false}, {owned, apidef.Viewer{UserID: "u2", All: true}, true},
	} {
		l := c.a.Listed()
		if got := c.a.VisibleTo(c.v); got != c.want || l.VisibleTo(c.v) != got {
			t.Errorf("%+v: %v", c.v, got)
		}
	}
	again := owned.WithOwners([]string{}, []string{}, at)
	if !again.VisibleTo(apidef.Viewer{UserID: "u2"}) {
		t.Error("without owners everybody sees it")
	}
}

func TestFilter(t *testing.T) {
	rest := made(t, apidef.Classic, `{"name":"Orders #shop","use_keyless":true,"proxy":{"listen_path":"/O/"},"tags":["eu"]}`, "")
	tcp := made(t, apidef.Classic, `{"name":"raw","protocol":"tcp"}`, "")
	gql := made(t, apidef.Classic, `{"name":"g","internal":true,"graphql":{"enabled":true,"execution_mode":"subgraph"}}`, "")
	kid := made(t, apidef.OAS, `{"name":"kid"}`, "")
	for _, c := range []struct {
		f    apidef.Filter
		want string
	}{
		{apidef.Filter{}, "rest tcp gql kid"}, {apidef.Filter{Text: "/o"}, "rest"}, {apidef.Filter{Text: "ORD"}, "rest"},
		{apidef.Filter{Type: "rest"}, "rest kid"}, {apidef.Filter{Type: "tcp"}, "tcp"}, {apidef.Filter{Type: "graph"}, "gql"},
		{apidef.Filter{Type: "subgraph"}, "gql"}, {apidef.Filter{Type: "udg"}, ""}, {apidef.Filter{Type: "internal"}, "gql"},
		{apidef.Filter{Categories: []string{"x", "shop"}}, "rest"}, {apidef.Filter{AuthTypes: []string{"keyless"}}, "rest"},
		{apidef.Filter{Tags: []string{"eu"}, Type: "tcp"}, ""},
		{apidef.Filter{Hide: map[string]bool{"other": true}}, "rest tcp gql kid"}, {apidef.Filter{Hide: map[string]bool{"a1": true}}, ""},
	} {
		var got []string
		for _, a := range []struct {
			name string
			a    apidef.API
		}{{"rest", rest}, {"tcp", tcp}, {"gql", gql}, {"kid", kid}} {
			if l := a.a.Listed(); c.f.Admits()(&l) {
				got = append(got, a.name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.f, got, c.want)
		}
	}
	if apidef.CheckType("nonsense") == nil || apidef.CheckType("graph") != nil {
		t.Error("types")
	}
}

func TestOrder(t *testing.T) {
	old := made(t, apidef.Classic, `{"name":"b"}`, "")
	young, err := old.Rewrite(apidef.Draft{Definition: doctest.Node(t, `{"name":"A"}`)}, at.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	for sort, want := range map[string]int{"name": 1, "-name": -1, "updated_at": -1, "-updated_at": 1} {
		by, err := apidef.Order(sort)
		a, b := old.Listed(), young.Listed()
		if err != nil || by(&a, &b) != want {
			t.Errorf("%s: %v", sort, err)
		}
	}
	if _, err := apidef.Order("size"); err == nil {
		t.Error("an unknown order passes")
	}
}

func TestHiddenFrom(t *testing.T) {
	proxy, classic := made(t, apidef.MCP, `{}`, ""), made(t, apidef.Classic, `{}`, "")
	for _, v := range []apidef.Viewer{{}, {NoMCP: true}, {NoAPIs: true}, {NoMCP: true, NoAPIs: true, All: true}} {
		if proxy.HiddenFrom(v) != v.NoMCP || classic.HiddenFrom(v) != v.NoAPIs {
			t.Errorf("%+v", v)
		}
	}
}

func TestSource(t *testing.T) {
	const paired = `{"proxy":{"target_url":"tyk://rest__mcp-server"}}`
	if got := made(t, apidef.MCP, paired, "").Source(); got != "rest" {
		t.Error(got)
	}
	if got := made(t, apidef.OAS, paired, "").Source() + made(t, apidef.MCP, `{}`, "").Source(); got != "" {
		t.Error(got)
	}
}

// Members of a wrapper stay, even if null, unless a rewrite removes them.
func TestRewriteDrops(t *testing.T) {
	a, err := made(t, apidef.Classic, `{}`, `{"a":null,"b":1,"c":2}`).Rewrite(apidef.Draft{Definition: doctest.Node(t, `{}`), Gone: []string{"b", "x"}}, at)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := a.AppendJSON(nil); err != nil || !strings.Contains(string(text), `},"a":null,"c":2,"created_at"`) {
		t.Errorf("%s %v", text, err)
	}
}

// TestManyTags: each write of an API compares it with all APIs at its address.
func TestManyTags(t *testing.T) {
	growth.Linear(t, 62, func(size int) func() {
		tagged := func(of string) apidef.API {
			var tags []string
			for i := range size {
				tags = append(tags, fmt.Sprintf(`"%s%d"`, of, i))
			}
			return certified(t, apidef.Classic, `{"name":"Orders","proxy":{"listen_path":"/x/"},"tags":[`+strings.Join(tags, ",")+`]}`, "")
		}
		a, b := tagged("a"), tagged("b")
		if !a.Collides(tagged("a")) {
			t.Error("they have all tags in common")
		}
		return func() {
			for range 200 {
				if a.Collides(b) {
					t.Error("they have no tag in common")
				}
			}
		}
	})
}

// TestOwnedBy: who owns an API, by name or by group; others may see it and do not own it.
func TestOwnedBy(t *testing.T) {
	l := made(t, apidef.Classic, `{"name":"x"}`, `{"user_owners":["u1"],"user_group_owners":["g1"]}`).Listed()
	free := made(t, apidef.Classic, `{"name":"x"}`, "").Listed()
	for name, c := range map[string]struct {
		v    apidef.Viewer
		want bool
	}{
		"a user": {apidef.Viewer{UserID: "u1"}, true}, "a group": {apidef.Viewer{UserID: "u2", Groups: []string{"g2", "g1"}}, true},
		"another": {apidef.Viewer{UserID: "u2", Groups: []string{"g2"}}, false}, "one who sees all": {apidef.Viewer{UserID: "u2", All: true}, false},
	} {
		if l.OwnedBy(c.v) != c.want || free.OwnedBy(c.v) {
			t.Errorf("%s: %t, and without owners %t", name, l.OwnedBy(c.v), free.OwnedBy(c.v))
		}
	}
}

// TestNames: a name that shows as another one is refused with its place, unless the API has it
// already.
func TestNames(t *testing.T) {
	const turned = "pay\u202elive"
	draft := func(class apidef.Class) apidef.Draft {
		d := apidef.Draft{ID: "0000000000000000000000aa", APIID: "a1", OrgID: "o1", Class: class, Definition: doctest.Node(t, `{"name":"`+turned+`"}`)}
		if class == apidef.OAS {
			d.Document = doctest.Node(t, `{"openapi":"3.0.3"}`)
		}
		return d
	}
	for class, field := range map[apidef.Class]string{apidef.Classic: "name", apidef.OAS: "x-tyk-api-gateway.info.name"} {
		_, err := apidef.New(draft(class), at)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != field {
			t.Errorf("%s: %v", class, err)
		}
	}
	was, err := apidef.Load([]byte(`{"_id":"0000000000000000000000aa","class":"classic","api_definition":{"api_id":"a1","name":"` + turned + `"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := was.Rewrite(draft(apidef.Classic), at); err != nil {
		t.Errorf("the name stays: %v", err)
	}
}

// TestLists: the keys by which lists are sorted and searched, and the form of their items.
func TestLists(t *testing.T) {
	if got := apidef.Orders(); !slices.Equal(got, []string{"created_at", "name", "updated_at"}) {
		t.Error(got)
	}
	a := made(t, apidef.Classic, `{"name":"Orders","proxy":{"listen_path":"/Shop/"}}`, "")
	if l := a.Listed(); *l.Sought() != "orders\n/shop/" {
		t.Errorf("%q", *l.Sought())
	}
	v := a.View(false)
	text, err := v.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]json.RawMessage
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	properties, _ := v.Schema()["properties"].(doc.Fields)
	for name := range shown {
		if properties.Get(name) == nil {
			t.Errorf("%s of %s is not described", name, v.SchemaName())
		}
	}
}

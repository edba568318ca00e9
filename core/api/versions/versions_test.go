package versions_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/api/versions"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

func document(versioning string) string { return `{"x-tyk-api-gateway":{"info":` + versioning + `}}` }

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct {
		info, definition string // before
		add              versions.New
		wantInfo, want   string // after; "" if code is set
		code             string
	}{
		"first": {
			`{"name":"a"}`, `{"name":"a"}`, versions.New{Name: "v2", ID: "k", BaseName: "v1"},
			`{"name":"a","versioning":{"enabled":true,"name":"v1","default":"self","location":"header","key":"x-tyk-version","versions":[{"name":"v2","id":"k"}]}}`,
			`{"name":"a","definition":{"enabled":true,"name":"v1","default":"self","location":"header","key":"x-tyk-version","versions":{"v2":"k"}}}`, "",
		},
		"first of an empty table": {
			`{"versioning":{"x":1.0,"enabled":false,"location":"url","name":"one"}}`,
			`{"definition":{"base_id":"","enabled":false,"name":"one","default":"","location":"","key":"","versions":null}}`,
			versions.New{Name: "v2", ID: "k", Default: true},
			`{"versioning":{"x":1.0,"enabled":true,"location":"url","name":"one","default":"v2","versions":[{"name":"v2","id":"k"}]}}`,
			`{"definition":{"base_id":"","enabled":true,"name":"one","default":"v2","location":"header","key":"x-tyk-version","versions":{"v2":"k"}}}`, "",
		},
		"another, the base renamed": {
			`{"versioning":{"enabled":true,"name":"v1","default":"v2","location":"url-param","key":"ver","versions":[{"name":"v2","id":"k","x":1}],"fallbackToDefault":true}}`,
			`{"definition":{"enabled":true,"name":"v1","default":"v2","location":"url-param","key":"ver","versions":{"v2":"k"},"fallback_to_default":true}}`,
			versions.New{Name: "v3", ID: "l", BaseName: "v0"},
			`{"versioning":{"enabled":true,"name":"v0","default":"v2","location":"url-param","key":"ver","versions":[{"name":"v2","id":"k","x":1},{"name":"v3","id":"l"}],"fallbackToDefault":true}}`,
			`{"definition":{"enabled":true,"name":"v0","default":"v2","location":"url-param","key":"ver","versions":{"v2":"k","v3":"l"},"fallback_to_default":true}}`, "",
		},
		"in order of name": {
			`{"versioning":{"enabled":true,"name":"v1","default":"self","location":"url","versions":[{"name":"v3","id":"l"},{"name":"v2","id":"k","x":1}]}}`,
			`{"definition":{"enabled":true,"name":"v1","default":"self","location":"url","versions":{"v3":"l","v2":"k"}}}`,
			versions.New{Name: "v10", ID: "m"},
			`{"versioning":{"enabled":true,"name":"v1","default":"self","location":"url","versions":[{"name":"v10","id":"m"},{"name":"v2","id":"k","x":1},{"name":"v3","id":"l"}]}}`,
			`{"definition":{"enabled":true,"name":"v1","default":"self","location":"url","versions":{"v3":"l","v2":"k","v10":"m"}}}`, "",
		},
		"no name":      {`{}`, `{}`, versions.New{Name: "  ", BaseName: "v1"}, "", "", versions.CodeName},
		"self":         {`{}`, `{}`, versions.New{Name: "self", BaseName: "v1"}, "", "", versions.CodeName},
		"no base name": {`{}`, `{}`, versions.New{Name: "v2"}, "", "", versions.CodeBaseName},
		"name of base": {`{}`, `{}`, versions.New{Name: "v1", BaseName: "v1"}, "", "", versions.CodeDuplicate},
		"name taken": {
			`{"versioning":{"enabled":true,"name":"v1","versions":[{"name":"v2","id":"k"}]}}`,
			`{"definition":{"enabled":true,"name":"v1","versions":{"v2":"k"}}}`, versions.New{Name: "v2"}, "", "", versions.CodeDuplicate,
		},
		"base takes a taken name": {
			`{"versioning":{"enabled":true,"name":"v1","versions":[{"name":"v2","id":"k"}]}}`,
			`{"definition":{"enabled":true,"name":"v1","versions":{"v2":"k"}}}`, versions.New{Name: "v3", BaseName: "v2"}, "", "", versions.CodeDuplicate,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, classic := doctest.Node(t, document(c.info)), doctest.Node(t, c.definition)
			wantInfo, want := document(c.wantInfo), c.want
			if c.code != "" {
				wantInfo, want = document(c.info), c.definition
			}
			for _, err := range []error{versions.InDocument(d).Add(c.add), versions.InDefinition(classic).Add(c.add)} {
				if (err != nil) != (c.code != "") || err != nil && (fault.CodeOf(err) != c.code || fault.KindOf(err) != fault.Invalid) {
					t.Fatalf("got %v, want %q", err, c.code)
				}
			}
			equal(t, d, wantInfo)
			equal(t, classic, want)
		})
	}
}

func equal(t *testing.T, got *doc.Node, want string) {
	t.Helper()
	if string(got.JSON()) != want {
		t.Errorf("got  %s\nwant %s", got.JSON(), want)
	}
}

func TestRemove(t *testing.T) {
	const before = `{"versioning":{"enabled":true,"name":"v1","default":"v2","versions":[{"name":"v2","id":"k"},{"name":"v3","id":"l","x":1.0}]}}`
	for id, want := range map[string]string{
		"k": `{"versioning":{"enabled":true,"name":"v1","default":"self","versions":[{"name":"v3","id":"l","x":1.0}]}}`,
		"l": `{"versioning":{"enabled":true,"name":"v1","default":"v2","versions":[{"name":"v2","id":"k"}]}}`,
		"m": before,
	} {
		d := doctest.Node(t, document(before))
		if found := versions.InDocument(d).Remove(id); found != (want != before) {
			t.Errorf("%s: found %v", id, found)
		}
		equal(t, d, document(want))
	}
	classic := doctest.Node(t, `{"definition":{"default":"v2","versions":{"v2":"k","v3":"l"}}}`)
	if !versions.InDefinition(classic).Remove("k") {
		t.Error("not found")
	}
	equal(t, classic, `{"definition":{"default":"self","versions":{"v3":"l"}}}`)
}

func TestRebase(t *testing.T) {
	for name, c := range map[string]struct{ base, child, wantBase, wantChild, code string }{
		"default is the base": {
			`{"name":"a","versioning":{"enabled":true,"name":"v1","default":"self","key":"k","versions":[{"name":"v2","id":"kid"},{"name":"v3","id":"other"}],"x":1.0}}`,
			`{"name":"b"}`, `{"name":"a"}`,
			`{"name":"b","versioning":{"enabled":true,"name":"v2","default":"v1","key":"k","versions":[{"name":"v3","id":"other"},{"name":"v1","id":"base"}],"x":1.0}}`, "",
		},
		"default is the child": {
			`{"versioning":{"enabled":true,"name":"v1","default":"v2","versions":[{"name":"v2","id":"kid"}]}}`, `{"name":"b"}`, `{}`,
			`{"name":"b","versioning":{"enabled":true,"name":"v2","default":"self","versions":[{"name":"v1","id":"base"}]}}`, "",
		},
		"default is another": {
			`{"versioning":{"enabled":true,"name":"v1","default":"v3","versions":[{"name":"v2","id":"kid"},{"name":"v3","id":"o"}]}}`, `{}`, `{}`,
			`{"versioning":{"enabled":true,"name":"v2","default":"v3","versions":[{"name":"v3","id":"o"},{"name":"v1","id":"base"}]}}`, "",
		},
		"no base":     {`{"name":"a"}`, `{}`, "", "", versions.CodeNotBase},
		"two bases":   {`{"versioning":{"enabled":true}}`, `{"versioning":{"enabled":true}}`, "", "", versions.CodeNotChild},
		"not its own": {`{"versioning":{"enabled":true,"name":"v1"}}`, `{}`, "", "", versions.CodeNotItsOwn},
		"no name":     {`{"versioning":{"enabled":true,"versions":[{"name":"v2","id":"kid"}]}}`, `{}`, "", "", versions.CodeBaseName},
	} {
		t.Run(name, func(t *testing.T) {
			base, child := doctest.Node(t, document(c.base)), doctest.Node(t, document(c.child))
			err := versions.Rebase(versions.InDocument(base), versions.InDocument(child), "base", "kid")
			if c.code != "" {
				if fault.CodeOf(err) != c.code {
					t.Errorf("got %v, want %s", err, c.code)
				}
				c.wantBase, c.wantChild = c.base, c.child
			} else if err != nil {
				t.Fatal(err)
			}
			equal(t, base, document(c.wantBase))
			equal(t, child, document(c.wantChild))
		})
	}
}

// TestRebaseThereAndBack: a second rebase reverts the first, in both forms.
func TestRebaseThereAndBack(t *testing.T) {
	const base, child = `{"definition":{"enabled":true,"name":"v1","default":"self","versions":{"v2":"kid"}}}`, `{"name":"b","definition":{"enabled":false,"versions":null}}`
	a, b := doctest.Node(t, base), doctest.Node(t, child)
	if err := versions.Rebase(versions.InDefinition(a), versions.InDefinition(b), "base", "kid"); err != nil {
		t.Fatal(err)
	}
	if err := versions.Rebase(versions.InDefinition(b), versions.InDefinition(a), "kid", "base"); err != nil {
		t.Fatal(err)
	}
	equal(t, a, base)
	equal(t, b, child)
}

func TestList(t *testing.T) {
	table := versions.InDocument(doctest.Node(t, document(`{"versioning":{"enabled":true,"name":"v1","default":"beta","versions":[
		{"name":"v3","id":"c"},{"name":"beta","id":"b"},{"name":"gone","id":"x"}]}}`)))
	find := func(id string) *doc.Node {
		return map[string]*doc.Node{
			"b": doctest.Node(t, `{"name":"Lamp two","internal":true,"expiration":"2030-01-02 03:04"}`), "c": doctest.Node(t, `{"name":"Lamp three"}`),
		}[id]
	}
	const beta = `{"id":"b","name":"Lamp two","versionName":"beta","internal":true,"expirationDate":"2030-01-02 03:04","isDefaultVersion":true}`
	const v3 = `{"id":"c","name":"Lamp three","versionName":"v3","internal":false,"expirationDate":"","isDefaultVersion":false}`
	for _, c := range []struct {
		query versions.Query
		want  string
	}{
		{versions.Query{}, beta + "," + v3},
		{versions.Query{Access: "internal"}, beta},
		{versions.Query{Access: "external"}, v3},
		{versions.Query{Access: "odd"}, beta + "," + v3},
		{versions.Query{Search: " BET"}, beta},
		{versions.Query{Search: "three"}, v3},
		{versions.Query{Search: "four"}, ""},
	} {
		got, _ := json.Marshal(table.List(find, c.query))
		if want := `{"apis":[` + c.want + `],"pages":1}`; string(got) != want {
			t.Errorf("%+v\ngot  %s\nwant %s", c.query, got, want)
		}
	}
}

// FuzzTable edits any JSON: nothing panics, a refusal changes nothing, and an added version
// can be found and removed.
func FuzzTable(f *testing.F) {
	f.Add(document(`{"versioning":{"enabled":true,"name":"v1","versions":[{"name":"v2","id":"k"}, 1]}}`), "v3", "v1", "id")
	f.Add(`{"definition":{"enabled":1,"versions":{"v2":[]}}}`, "v2", "", "k")
	f.Add(`[]`, "v2", "v1", "k")
	f.Fuzz(func(t *testing.T, text, name, base, id string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil || id == "" || !utf8.ValidString(id+name+base) {
			return
		}
		for _, lens := range []func(*doc.Node) versions.Table{versions.InDocument, versions.InDefinition} {
			edited := n.Clone()
			table := lens(edited)
			if err := table.Add(versions.New{Name: name, ID: id, BaseName: base, Default: true}); err != nil {
				if string(edited.JSON()) != string(n.JSON()) {
					t.Fatalf("a refusal changed %s to %s", n.JSON(), edited.JSON())
				}
				continue
			}
			if c, ok := table.Find(id); !ok || !table.Enabled() || table.Default() != name {
				t.Fatalf("%+v is not in %s", c, edited.JSON())
			}
			_ = versions.Rebase(table, lens(n.Clone()), "base", id)
			table.List(func(string) *doc.Node { return n }, versions.Query{Search: name})
			for range 2 {
				table.Remove(id)
			}
			if _, ok := table.Find(id); ok {
				t.Fatalf("still in %s", edited.JSON())
			}
		}
	})
}

// A version keeps its position when its API gets another ID.
func TestRename(t *testing.T) {
	d := doctest.Node(t, document(`{"versioning":{"enabled":true,"versions":[{"name":"v2","id":"a","x":1.0},{"name":"v3","id":"b"}]}}`))
	c := doctest.Node(t, `{"definition":{"versions":{"v2":"a","v3":"b"},"x":1e1}}`)
	for _, table := range []versions.Table{versions.InDocument(d), versions.InDefinition(c)} {
		if !table.Rename("a", "z") || table.Rename("a", "y") {
			t.Error("not renamed once")
		}
	}
	if got, want := string(d.JSON()), document(`{"versioning":{"enabled":true,"versions":[{"name":"v2","id":"z","x":1.0},{"name":"v3","id":"b"}]}}`); got != want {
		t.Error(got)
	}
	if got := string(c.JSON()); got != `{"definition":{"versions":{"v2":"z","v3":"b"},"x":1e1}}` {
		t.Error(got)
	}
}

// TestCheck: tables with which it would be unclear which API requests reach.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		table      string // of a classic definition
		code, want string
	}{
		"none":                    {`{}`, "", ""},
		"several":                 {`{"enabled":true,"name":"v1","versions":{"v2":"a","v3":"b"}}`, "", ""},
		"one API twice":           {`{"enabled":true,"name":"v1","versions":{"v2":"a","v3":"a"}}`, "", ""},
		"the API itself":          {`{"enabled":true,"name":"v1","versions":{"v2":"me"}}`, versions.CodeItself, `definition.versions: version "v2" is the API itself`},
		"the name of the base":    {`{"enabled":true,"name":"v1","versions":{"v1":"a"}}`, versions.CodeDuplicate, `definition.versions: version name "v1" is already in use`},
		"self":                    {`{"enabled":true,"name":"v1","versions":{"self":"a"}}`, versions.CodeName, `definition.versions: "self" stands for the base API and is no version name`},
		"a name that shows as v1": {`{"enabled":true,"versions":{"\u202e1v":"a"}}`, versions.CodeName, "definition.versions: the name of a version must not have the character U+202E: it changes the direction of text, so that another name is shown"},
		"switched off":            {`{"enabled":false,"name":"v1","versions":{"v1":"a","self":"b"}}`, "", ""},
	} {
		err := versions.InDefinition(doctest.Node(t, `{"definition":`+c.table+`}`)).Check("me")
		if c.code == "" && err != nil || c.code != "" && (fault.CodeOf(err) != c.code || err.Error() != c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	twice := versions.InDocument(doctest.Node(t, document(`{"versioning":{"enabled":true,"name":"v1","versions":[{"name":"v2","id":"a"},{"name":"v2","id":"b"}]}}`)))
	if err := twice.Check(""); fault.CodeOf(err) != versions.CodeDuplicate || !strings.HasPrefix(err.Error(), "x-tyk-api-gateway.info.versioning.versions: ") {
		t.Errorf("a name twice: %v", err)
	}
	if err := twice.LeadsBack("b"); fault.CodeOf(err) != versions.CodeItself || err.Error() != "x-tyk-api-gateway.info.versioning.versions: API b leads back to this API, of which it would be a version" {
		t.Errorf("a table that leads back: %v", err)
	}
	if err := versions.InDocument(doctest.Node(t, `{}`)).Add(versions.New{Name: "v\u202e2", ID: "k", BaseName: "v1"}); fault.CodeOf(err) != versions.CodeName {
		t.Errorf("a new name that shows as another: %v", err)
	}
	if err := versions.InDocument(doctest.Node(t, `{}`)).Add(versions.New{Name: "v2", ID: "k", BaseName: "v\u202e1"}); fault.CodeOf(err) != versions.CodeBaseName {
		t.Errorf("a base name that shows as another: %v", err)
	}
}

// TestEqual: tables of both forms are equal if they have the same versions.
func TestEqual(t *testing.T) {
	list := versions.InDocument(doctest.Node(t, document(`{"versioning":{"enabled":true,"versions":[{"name":"v2","id":"a"},{"name":"v3","id":"b"}]}}`)))
	for text, want := range map[string]bool{`{"v2":"a","v3":"b"}`: true, `{"v2":"a"}`: false, `{"v2":"a","v3":"c"}`: false, `{"v2":"a","v4":"b"}`: false} {
		if versions.InDefinition(doctest.Node(t, `{"definition":{"enabled":true,"versions":`+text+`}}`)).Equal(list) != want {
			t.Error(text)
		}
	}
}

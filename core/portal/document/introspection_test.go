package document_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
)

const introspected = `{"data":{"__schema":{"queryType":{"name":"Query"},"mutationType":null,"types":[
{"kind":"SCALAR","name":"String"},
{"kind":"OBJECT","name":"Query","interfaces":[],"fields":[
 {"name":"users","args":[{"name":"filter","type":{"kind":"INPUT_OBJECT","name":"Filter"}}],"type":{"kind":"NON_NULL","ofType":{"kind":"LIST","ofType":{"kind":"OBJECT","name":"User"}}}},
 {"name":"any","args":[],"type":{"kind":"UNION","name":"Any"}}]},
{"kind":"INTERFACE","name":"Node","fields":[{"name":"id","args":[],"type":{"kind":"SCALAR","name":"String"}}]},
{"kind":"OBJECT","name":"User","interfaces":[{"kind":"INTERFACE","name":"Node"}],"fields":[{"name":"role","args":[],"type":{"kind":"ENUM","name":"Role"}}]},
{"kind":"UNION","name":"Any","possibleTypes":[{"kind":"OBJECT","name":"User"}]},
{"kind":"ENUM","name":"Role","enumValues":[{"name":"ADMIN"}]},
{"kind":"INPUT_OBJECT","name":"Filter","inputFields":[{"name":"name","type":{"kind":"SCALAR","name":"String"}}]}],
"directives":[{"name":"skip","args":[{"name":"if","type":{"kind":"SCALAR","name":"String"}}]}]}}}`

// TestCheckIntrospection: valid results, and the errors of invalid ones with one change each.
func TestCheckIntrospection(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"good":                    {"", "", ""},
		"no schema":               {"__schema", "schema", "no __schema"},
		"no types":                {`"types"`, `"tipes"`, "no types"},
		"no query":                {`"queryType"`, `"query"`, "no queryType"},
		"an unknown root":         {`"queryType":{"name":"Query"}`, `"queryType":{"name":"Q"}`, `queryType is "Q"`},
		"a root that is a scalar": {`"mutationType":null`, `"mutationType":{"name":"String"}`, `mutationType is "String"`},
		"an unknown kind":         {`"kind":"SCALAR","name":"String"},` + "\n", `"kind":"X","name":"String"},`, `kind "X"`},
		"no name":                 {`{"kind":"SCALAR","name":"String"},` + "\n", `{"kind":"SCALAR"},`, "no name"},
		"twice":                   {`"ENUM","name":"Role","e`, `"ENUM","name":"User","e`, "there twice"},
		"no fields":               {`"fields":[{"name":"role"`, `"felds":[{"name":"role"`, "User has no fields"},
		"an unknown type":         {`"ofType":{"kind":"OBJECT","name":"User"}`, `"ofType":{"kind":"OBJECT","name":"Usr"}`, `Query.users has the type "Usr"`},
		"an unknown interface":    {`{"kind":"INTERFACE","name":"Node"}]`, `{"kind":"INTERFACE","name":"Nod"}]`, `User has the type "Nod"`},
		"no interface":            {`{"kind":"INTERFACE","name":"Node"}]`, `{"kind":"OBJECT","name":"Query"}]`, "of the kind OBJECT"},
		"input that is output":    {`{"kind":"INPUT_OBJECT","name":"Filter"}}]`, `{"kind":"OBJECT","name":"User"}}]`, "Query.users.filter has the type User of the kind OBJECT"},
		"output that is input":    {`"type":{"kind":"UNION","name":"Any"}`, `"type":{"kind":"INPUT_OBJECT","name":"Filter"}`, "of the kind INPUT_OBJECT"},
		"an empty union":          {`"possibleTypes"`, `"types"`, "union Any has no types"},
		"an empty enum":           {`"enumValues":[{"name":"ADMIN"}]`, `"enumValues":[]`, "enum Role has no values"},
		"an unknown input":        {`{"name":"name","type":{"kind":"SCALAR","name":"String"}}`, `{"name":"name"}`, `Filter.name has the type ""`},
		"a directive":             {`{"name":"if","type":{"kind":"SCALAR","name":"String"}}`, `{"name":"if"}`, `@skip.if has the type ""`},
		"deeply wrapped":          {`{"kind":"UNION","name":"Any"}}]}`, strings.Repeat(`{"kind":"LIST","ofType":`, 100) + `{"kind":"UNION","name":"Any"}` + strings.Repeat("}", 100) + "}]}", `Query.any has the type ""`},
	} {
		text := introspected
		if c.from != "" {
			if text = strings.Replace(introspected, c.from, c.to, 1); text == introspected {
				text = strings.ReplaceAll(introspected, c.from, c.to)
			}
		}
		n, err := doc.ParseNode([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		if err := document.CheckIntrospection(n); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBareIntrospection: the member data may be left out.
func TestBareIntrospection(t *testing.T) {
	bare := strings.TrimSuffix(strings.TrimPrefix(introspected, `{"data":`), "}")
	if err := document.CheckIntrospection(doctest.Node(t, bare)); err != nil {
		t.Error(err)
	}
}

// FuzzCheck: the check of any document at most fails.
func FuzzCheck(f *testing.F) {
	f.Add(introspected)
	f.Add(`{"__schema":{"types":[{"kind":"UNION","name":"A","possibleTypes":{}}],"queryType":[]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		n, err := doc.ParseNode([]byte(text))
		if err != nil {
			return
		}
		if err := document.CheckIntrospection(n); err == nil && n.Get("data", "__schema") == nil && n.Get("__schema") == nil {
			t.Error(text)
		}
		_ = document.CheckOAS(n)
	})
}

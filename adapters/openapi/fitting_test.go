package openapi

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

var all = port.Options{Examples: true, Defaults: true}

// with returns harbour with one member set.
func with(t testing.TB, value string, path ...string) *doc.Node {
	t.Helper()
	return tree(edited(t, value, path...))
}

// TestFitting compares the findings with those of the library, for examples and defaults in all
// places.
func TestFitting(t *testing.T) {
	op := func(path ...string) []string { return append([]string{"paths", "/berths", "get"}, path...) }
	part := func(path ...string) []string { return append([]string{"components"}, path...) }
	for name, c := range map[string]struct {
		path  []string
		value string // with VALUE, where a number is expected
	}{
		"of a schema":               {part("schemas", "a"), `{"type":"number","example":VALUE}`},
		"default of a schema":       {part("schemas", "a"), `{"type":"number","default":VALUE}`},
		"of an item":                {part("schemas", "a"), `{"type":"array","items":{"type":"number","example":VALUE}}`},
		"of a further member":       {part("schemas", "a"), `{"type":"object","additionalProperties":{"type":"number","example":VALUE}}`},
		"of an alternative":         {part("schemas", "a"), `{"anyOf":[{"type":"number","example":VALUE}]}`},
		"of what must not be":       {part("schemas", "a"), `{"not":{"type":"number","example":VALUE}}`},
		"by reference":              {part("schemas", "a"), `{"type":"object","properties":{"b":{"$ref":"#/components/schemas/Berth/properties/depth"}},"example":{"b":VALUE}}`},
		"one of two":                {part("schemas", "a"), `{"oneOf":[{"type":"number"},{"type":"boolean"}],"example":VALUE}`},
		"all of two":                {part("schemas", "a"), `{"allOf":[{"type":"number"},{"minimum":0}],"example":VALUE}`},
		"of a list":                 {part("schemas", "a"), `{"type":"array","items":{"type":"number"},"example":[1,VALUE]}`},
		"by a pattern":              {part("schemas", "a"), `{"type":"object","properties":{"s":{"type":"string","pattern":"^\\u0061+$"},"n":{"type":"number"}},"example":{"s":"aa","n":VALUE}}`},
		"of a parameter":            {part("parameters", "a"), `{"name":"a","in":"query","schema":{"type":"number"},"example":VALUE}`},
		"of content of a parameter": {part("parameters", "a"), `{"name":"a","in":"query","content":{"application/json":{"schema":{"type":"number"},"example":VALUE}}}`},
		"named":                     {part("parameters", "a"), `{"name":"a","in":"query","schema":{"type":"number"},"examples":{"x":{"value":VALUE}}}`},
		"of a header":               {part("headers", "a"), `{"schema":{"type":"number","example":VALUE}}`},
		"of a body":                 {part("requestBodies", "a"), `{"content":{"application/json":{"schema":{"type":"number"},"example":VALUE}}}`},
		"of a response":             {part("responses", "a"), `{"description":"a","content":{"application/json":{"schema":{"type":"number"},"examples":{"x":{"value":VALUE}}}}}`},
		"of a header of a response": {part("responses", "a"), `{"description":"a","headers":{"X-A":{"schema":{"type":"number","example":VALUE}}}}`},
		"of an operation":           {op("parameters"), `[{"name":"a","in":"query","schema":{"type":"number"},"example":VALUE}]`},
		"of a path":                 {[]string{"paths", "/berths", "parameters"}, `[{"name":"a","in":"query","schema":{"type":"number"},"example":VALUE}]`},
		"of an answer":              {op("responses"), `{"200":{"description":"a","content":{"application/json":{"schema":{"type":"number"},"example":VALUE}}}}`},
		"of a callback":             {part("callbacks"), `{"c":{"/x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"number"},"example":VALUE}}},"responses":{"200":{"description":"a"}}}}}}`},
	} {
		for _, value := range []string{"1", `"one"`} {
			d := with(t, strings.ReplaceAll(c.value, "VALUE", value), c.path...)
			ours := shared.Validate(d, all)
			members, err := doc.ParseObject(d.JSON())
			if err != nil {
				t.Fatal(err)
			}
			lib, err := load(members)
			if err != nil {
				t.Fatal(name, err)
			}
			theirs := failures(lib.Validate(context.Background(), openapi3.EnableMultiError(), openapi3.DisableSchemaPatternValidation()))
			if (len(ours) == 0) != (value == "1") || (len(theirs) == 0) != (value == "1") {
				t.Errorf("%s, %s: ours %v, theirs %v", name, value, ours, theirs)
			}
			if len(ours) > 0 && ours[0].Field != theirs[0].Field {
				t.Errorf("%s: ours at %s, theirs at %s", name, ours[0].Field, theirs[0].Field)
			}
		}
	}
}

// TestFittingIsBounded: small documents for which the library would work for years, and documents
// whose messages would have gigabytes, are refused.
func TestFittingIsBounded(t *testing.T) {
	twice := func(kind string) string {
		var s []string
		for i := range 40 {
			s = append(s, fmt.Sprintf(`"s%d":{"%s":[{"$ref":"#/components/schemas/s%d"},{"$ref":"#/components/schemas/s%d"}]}`, i, kind, i+1, i+1))
		}
		return "{" + strings.Join(s, ",") + `,"s40":{"type":"string"},"a":{"allOf":[{"$ref":"#/components/schemas/s0"}],"example":5}}`
	}
	many := func(format string) string {
		items := make([]string, 20_000)
		for i := range items {
			items[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(items, ",")
	}
	for name, schemas := range map[string]string{
		"one of two": twice("oneOf"), "any of two": twice("anyOf"), "all of two": twice("allOf"),
		"values of an enumeration": `{"a":{"type":"array","items":{"type":"string","enum":[` + many(`"v%d"`) + `]},"default":[` + many(`"x%d"`) + `]}}`,
		"large patterns":           `{"a":{"type":"array","items":{"type":"string","pattern":"` + strings.Repeat("a{1000}", 100) + `"},"default":[` + many(`"x%d"`) + `]}}`,
	} {
		found := shared.Validate(with(t, `{"Berth":{"type":"object"},`+schemas[1:], "components", "schemas"), port.Options{Examples: true, Defaults: true, AllowUnknown: true})
		if len(found) != 1 || !strings.Contains(found[0].Message, "too long") {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// TestKeptPatterns: the library keeps patterns for good, so there is a limit.
func TestKeptPatterns(t *testing.T) {
	if keepable(strings.Repeat("a", maxPattern+1)) {
		t.Error("a long pattern is kept")
	}
	keptPatterns.Lock()
	before := keptPatterns.texts
	keptPatterns.texts = map[string]bool{}
	keptPatterns.Unlock()
	defer func() { keptPatterns.texts = before }()
	for i := range maxPatterns + 100 {
		if got := keepable(fmt.Sprint(i)); got != (i < maxPatterns) {
			t.Fatal(i, got)
		}
	}
	if !keepable("0") {
		t.Error("a pattern that was kept is forgotten")
	}
}

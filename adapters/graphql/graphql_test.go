package graphql_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	port "github.com/gatehouse-io/gatehouse/ports/graphql"
)

// many repeats a pattern with numbers.
func many(n int, pattern string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, pattern, i)
	}
	return b.String()
}

// TestCheck states which schemas are valid, and the errors of others.
func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		sdl  string
		err  error
		text string
	}{
		"small":                {`type Query { hello(name: String = "you"): String! @deprecated }`, nil, ""},
		"without a query":      {"type User { id: ID! }", nil, ""},
		"federated":            {"extend type Query { me: User }\n\"a user\"\ntype User { id: ID! }", nil, ""},
		"block texts":          {"\"\"\"\nSays \"{\" and \\\"\"\".\n\"\"\"\ntype Query { a: Int } # {{{", nil, ""},
		"interfaces":           {"interface Node { id: ID! }\ntype User implements Node { id: ID!, name: String }\ntype Query { node: Node }", nil, ""},
		"many extensions":      {"type Query { a: Int }\n" + many(200, "extend type Query { f%d: Int }\n"), nil, ""},
		"a large enum":         {"enum E {" + many(5000, " V%d") + "}", nil, ""},
		"nothing":              {"", port.ErrSchema, "it defines nothing"},
		"a comment":            {"# nothing", port.ErrSchema, "it defines nothing"},
		"not closed":           {"type Query {", port.ErrSchema, "line 1"},
		"a query":              {"query { a }", port.ErrSchema, "line 1"},
		"JSON":                 {`{"data":{}}`, port.ErrSchema, "line 1"},
		"an unknown type":      {"type Query {\n  a: Missing\n}", port.ErrSchema, "line 2: Undefined type Missing."},
		"a type twice":         {"type A { a: Int }\ntype A { a: Int }", port.ErrSchema, "line 2: Cannot redeclare type A."},
		"a built-in type":      {"scalar String", port.ErrSchema, "Cannot redeclare"},
		"an unknown member":    {"type A implements I { x: B }\ntype B { y: Int }\ninterface I { x: U }\nunion U = Missing", port.ErrSchema, "do not fit"},
		"an unknown directive": {"type A @missing { a: Int }", port.ErrSchema, "Undefined directive missing."},
		"a broken promise":     {"interface I { a: Int }\ntype A implements I { b: Int }", port.ErrSchema, "must have a field called a"},
		"deep":                 {"type A { a: " + strings.Repeat("[", 100_000) + "Int" + strings.Repeat("]", 100_000) + " }", port.ErrSchema, "nesting depth"},
		"not UTF-8":            {"type A { a: Int } # \xff", port.ErrSchema, "UTF-8"},
		"many tokens":          {"type A {" + many(100_000, " f%d: Int") + "}", port.ErrLarge, "tokens"},
		"many fields":          {"type A {" + many(20_000, " f%d: Int") + "}", port.ErrLarge, "steps"},
		"many values":          {"enum E {" + many(20_000, " V%d") + "}", port.ErrLarge, "steps"},
		"values of extensions": {"enum E { A }" + many(20_000, "extend enum E { V%d }\n"), port.ErrLarge, "steps"},
		"many members":         {many(10_000, "type T%d { a: Int }\n") + "union U =" + many(10_000, " | T%d"), port.ErrLarge, "steps"},
		"many implementations": {"interface I {" + many(1_000, " f%d: Int") + "}\n" + many(60, "type T%d implements I {"+strings.ReplaceAll(many(1_000, " f%d: Int"), "%", "%%")+"}\n"), port.ErrLarge, "steps"},
		"many arguments":       {"directive @d(" + many(1_000, " a%d: Int") + ") repeatable on OBJECT\ntype A" + many(100, " @d(a%d: 1)") + " { a: Int }", port.ErrLarge, "steps"},
		"fields of interfaces": {many(60, "interface I%d {"+strings.ReplaceAll(many(1_000, " f%d: Int"), "%", "%%")+"}\n") + "type A implements" + many(60, " & I%d") + " {" + many(1_000, " f%d: Int") + "}", port.ErrLarge, "steps"},
	} {
		t.Run(name, func(t *testing.T) {
			err := graphql.Checker{}.Check([]byte(c.sdl))
			if !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Error(err)
			}
		})
	}
}

// FuzzCheck checks arbitrary texts without panic, and that a valid one has no more tokens
// than Weigh says.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"type A { a: Int }", "extend schema @a(b: [{c: 1}]) { query: Q }", "union U = | A | B", "\"\"\"x\\\"\"\"\"\"\" scalar S", "\"a\\\"b\" enum E { A B }", "input I { i: I! = {} }", "# c\ndirective @d repeatable on FIELD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sdl string) {
		err := graphql.Checker{}.Check([]byte(sdl))
		if err != nil && !errors.Is(err, port.ErrSchema) && !errors.Is(err, port.ErrLarge) {
			t.Error(err)
		}
		if err != nil && strings.Contains(err.Error(), "token limit") {
			t.Errorf("%q: %v", sdl, err)
		}
	})
}

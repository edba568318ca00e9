package shape_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

// leaf contains itself, and may be a reference. As the member flag of syntax it may also be a
// boolean.
var leaf shape.Type

var syntax = shape.Beside("x-", shape.Object(
	shape.Members("flag", shape.Either(shape.Bool, shape.Ref(&leaf))),
	shape.Members("type", shape.Either(shape.String, shape.List(shape.String))),
	shape.Members("wait", shape.Either(shape.Duration, shape.Int)),
	shape.Members("table", shape.Map(shape.Ref(&leaf))),
	shape.Members("names", shape.List(shape.String)),
))

var _ = shape.Define(&leaf, shape.Linked(shape.Object(
	shape.Members("n", shape.Int), shape.Members("sub", shape.Ref(&leaf)), shape.Members("list", shape.List(shape.Ref(&leaf))),
)))

// TestEither states that a value with several possible types is checked against the one for
// its JSON kind, that the members beside a reference are ignored, and that extensions are not
// checked.
func TestEither(t *testing.T) {
	for text, want := range map[string]string{
		`{"flag":true,"type":"a","wait":"5s"}`:                 ``,
		`{"flag":{"n":1,"sub":{"n":2}},"type":["a"],"wait":5}`: ``,
		`{"flag":null,"type":null}`:                            ``,
		`{"flag":"true"}`:                                      `flag: want true or false, or an object, got a string`,
		`{"flag":{"n":"1"}}`:                                   `flag.n: want a whole number, got a string`,
		`{"flag":{"sub":{"sub":{"n":true}}}}`:                  `flag.sub.sub.n: want a whole number, got true or false`,
		`{"type":["a",1]}`:                                     `type[1]: want a string, got a number`,
		`{"type":{}}`:                                          `type: want a string, or a list, got an object`,
		`{"table":{"a":{"$ref":"#/b","n":"1"}}}`:               ``,
		`{"table":{"a":{"$ref":"","n":"1"},"":{"n":"1"}}}`:     `table.a.n: want a whole number, got a string; table."".n: want a whole number, got a string`,
		`{"x-flag":{"flag":5},"X-flag":1,"x-":{}}`:             ``,
		`{"Flag":true}`:                                        `Flag must be spelled flag`,
		`{"flag":{"Sub":{}}}`:                                  `flag.Sub must be spelled sub`,
	} {
		var all []string
		for _, p := range syntax.Check(doctest.Node(t, text)) {
			all = append(all, p.String())
		}
		if have := strings.Join(all, "; "); have != want {
			t.Errorf("%s\nhave %s\nwant %s", text, have, want)
		}
	}
}

// TestSpelling states that only names in another spelling are misspellings, and that the text
// of Demand follows the path.
func TestSpelling(t *testing.T) {
	for text, want := range map[string]string{
		`{"flag":true}`: ``, `{"flag":5}`: ``, `{"flag"`: ``, `[]`: ``, `{"other":1}`: ``,
		`{"FLAG":5}`: `FLAG must be spelled flag`, `{"flag":5,"Type":"x"}`: `Type must be spelled type`, "{\"name\u017f\":[]}": "name\u017f must be spelled names",
	} {
		err := syntax.Spelling([]byte(text))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		m, ok := errors.AsType[*shape.Misspelling](err)
		if !ok || m.Error() != want || m.Path+" "+m.Demand() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if p := syntax.Check(doctest.Node(t, `{"flag":5}`)); len(p) != 1 || p[0].Demand() != "must be true or false, or an object, not a number" {
		t.Errorf("%v", p)
	}
}

// TestFillLists states which lists are filled: those that are null, and those that are missing
// in an existing object.
func TestFillLists(t *testing.T) {
	list := shape.Object(
		shape.Members("a", shape.List(shape.String)), shape.Members("b?", shape.List(shape.String)), shape.Members("n", shape.Int),
		shape.Members("in", shape.Object(shape.Members("c", shape.List(shape.Int)))),
		shape.Members("map", shape.Map(shape.List(shape.Int))),
		shape.Members("rows", shape.List(shape.Object(shape.Members("d", shape.List(shape.Int))))),
	)
	for text, want := range map[string]string{
		`{}`:                              `{"a":[],"rows":[]}`,
		`{"a":null,"b":null,"n":null}`:    `{"a":[],"b":[],"n":null,"rows":[]}`,
		`{"a":["x"],"b":["y"],"rows":[]}`: `{"a":["x"],"b":["y"],"rows":[]}`,
		`{"a":[],"rows":[{},{"d":[1]}]}`:  `{"a":[],"rows":[{"d":[]},{"d":[1]}]}`,
		`{"a":[],"rows":[],"in":{},"map":{"x":null,"y":[1]}}`: `{"a":[],"rows":[],"in":{"c":[]},"map":{"x":[],"y":[1]}}`,
		`{"a":5,"rows":"x","in":[],"map":null}`:               `{"a":5,"rows":"x","in":[],"map":null}`,
		`[]`:                                                  `[]`,
	} {
		if have := string(list.AppendListed([]byte("before"), []byte(text))); have != "before"+want {
			t.Errorf("the text %s became %s, not %s", text, have, want)
		}
		n := doctest.Node(t, text)
		list.FillLists(n)
		if have := string(n.JSON()); have != want {
			t.Errorf("%s became %s, not %s", text, have, want)
		}
		list.FillLists(n)
		if have := string(n.JSON()); have != want {
			t.Errorf("%s: the second time %s", text, have)
		}
	}
	if have := list.Lists(); !slices.Equal(have, []string{"a", "b", "rows"}) {
		t.Errorf("the lists are %q", have)
	}
	n := doctest.Node(t, `{"sub":{"list":null}}`)
	leaf.FillLists(n)
	if have := string(n.JSON()); have != `{"sub":{"list":[]},"list":[]}` {
		t.Errorf("a type that contains itself: %s", have)
	}
	if have := string(leaf.AppendListed(nil, []byte(` {"s\u0075b": {"list" :null } } `))); have != ` {"s\u0075b": {"list" :[] },"list":[] } ` {
		t.Errorf("names and blanks as they are written: %s", have)
	}
}

// TestAppendListed states that a text gets the same lists as its tree, for any content, and
// that a broken text is not read past its end.
func TestAppendListed(t *testing.T) {
	for _, of := range []shape.Type{leaf, syntax} {
		for c := range shapetest.Wrong(of) {
			n, err := doc.ParseNode([]byte(c.Text))
			if err != nil {
				continue
			}
			of.FillLists(n)
			if have, want := string(of.AppendListed(nil, n.JSON())), string(n.JSON()); have != want {
				t.Errorf("with nothing to fill %s became %s", want, have)
			}
			m := doctest.Node(t, c.Text)
			if have, want := string(of.AppendListed(nil, m.JSON())), string(n.JSON()); have != want {
				t.Errorf("%s became %s, not %s", c.Text, have, want)
			}
			for cut := range c.Text {
				of.AppendListed(nil, []byte(c.Text[:cut]))
			}
		}
	}
}

// TestWalk states that each place is visited once, the outer first, and that a type which
// contains itself does not make the walk endless.
func TestWalk(t *testing.T) {
	var have []string
	syntax.Walk(func(at shape.Place, of shape.Type) {
		if of.Free() {
			t.Errorf("%s may be anything", at)
		}
		have = append(have, at.String())
	})
	want := []string{"", "flag", "flag.n", "flag.list", "type", "type[]", "wait", "table", "table.{}", "table.{}.n", "table.{}.list", "names", "names[]"}
	if !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
	if have := syntax.Known(); !slices.Equal(have, []string{"flag", "type", "wait", "table", "names"}) {
		t.Errorf("the members are %q", have)
	}
	if shape.String.Alternatives() != nil || len(shape.Either(shape.Bool, shape.Int).Alternatives()) != 2 || !shape.Any.Free() || !shape.Raw.Free() {
		t.Error("a type is said to be another")
	}
}

// TestDerivedCases states that the checks of a type agree with the documents that are derived
// from it: each wrong value and each misspelt name is found at its place, and right ones are
// not reported.
func TestDerivedCases(t *testing.T) {
	found := func(c shapetest.Case) bool {
		return slices.ContainsFunc(syntax.Check(doctest.Node(t, c.Text)), func(p shape.Problem) bool { return p.Path == c.Path })
	}
	n := 0
	for c := range shapetest.Wrong(syntax) {
		if n++; !found(c) {
			t.Errorf("%s passes", c.Text)
		}
	}
	for c := range shapetest.Misspelt(syntax) {
		if n++; !found(c) {
			t.Errorf("%s passes", c.Text)
		}
	}
	for c := range shapetest.Right(syntax) {
		if n++; found(c) {
			t.Errorf("%s is refused", c.Text)
		}
	}
	if n < 100 {
		t.Errorf("only %d cases", n)
	}
	for range shapetest.Wrong(syntax) { // a reader that stops gets no further cases
		break
	}
}

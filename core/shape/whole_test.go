package shape_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/shape"
)

// TestWhole: where a type needs whole numbers, those without a fraction are rewritten as whole
// numbers, and everything else stays as it was sent.
func TestWhole(t *testing.T) {
	of := shape.Object(
		shape.Members("n", shape.Int), shape.Members("u", shape.UintOf(8)), shape.Members("f", shape.Float), shape.Members("any", shape.Any),
		shape.Members("list", shape.List(shape.Int)), shape.Members("map", shape.Map(shape.Object(shape.Members("n", shape.Int)))),
	)
	for text, want := range map[string]string{
		`{"x":1.0,"n":1.718439136e+09,"u":5.0}`:    `{"x":1.0,"n":1718439136,"u":5}`,
		`{"n":-1.0,"f":5.0,"any":[5.0]}`:           `{"n":-1,"f":5.0,"any":[5.0]}`,
		`{"n":1.5,"u":1e400}`:                      `{"n":1.5,"u":1e400}`,
		`{"n":9007199254740993.0,"u":-0.0}`:        `{"n":9007199254740993.0,"u":0}`,
		`{"n":9007199254740993}`:                   `{"n":9007199254740993}`,
		`{"list":[1e1,2],"map":{"a":{"n":2e0}}}`:   `{"list":[10,2],"map":{"a":{"n":2}}}`,
		`{"list":{"a":1.0},"map":[1.0],"n":"1.0"}`: `{"list":{"a":1.0},"map":[1.0],"n":"1.0"}`,
		`{"list":null,"map":{"a":null},"n":null}`:  `{"list":null,"map":{"a":null},"n":null}`,
		`[1.0]`:                                  `[1.0]`,
		`{"n":1.0000000000000000001,"u":1e-400}`: `{"n":1.0000000000000000001,"u":1e-400}`, // a double hides the difference
	} {
		n := doctest.Node(t, text)
		of.Whole(n)
		if got := string(n.JSON()); got != want {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

// TestAllWhole: where a type allows fractions, numbers without a fraction are rewritten, too.
func TestAllWhole(t *testing.T) {
	of := shape.Object(shape.Members("f", shape.Float), shape.Members("any", shape.Any), shape.Members("map", shape.Map(shape.List(shape.Float))))
	for text, want := range map[string]string{
		`{"f":5.0,"any":[5.0],"x":5.0}`:   `{"f":5,"any":[5.0],"x":5.0}`,
		`{"f":1e2,"map":{"a":[6e1,0.5]}}`: `{"f":100,"map":{"a":[60,0.5]}}`,
		`{"f":2.5,"map":null}`:            `{"f":2.5,"map":null}`,
		`{"f":1e300}`:                     `{"f":1e300}`,
	} {
		n := doctest.Node(t, text)
		of.AllWhole(n)
		if got := string(n.JSON()); got != want {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

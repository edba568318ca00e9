package doc_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestWithout: members are removed at any depth, inner ones first; items stay, and the
// original is unchanged.
func TestWithout(t *testing.T) {
	const text = `{"a":null,"b":[null,{"c":null,"d":1}],"e":{"f":{"g":null}}}`
	n := doctest.Node(t, text)
	empty := func(v *doc.Node) bool { return v.IsNull() || v.Is(doc.TypeObject) && v.Len() == 0 }
	for want, drop := range map[string]func(*doc.Node) bool{
		`{"b":[null,{"d":1}],"e":{"f":{}}}`: (*doc.Node).IsNull,
		`{"b":[null,{"d":1}]}`:              empty,
	} {
		if got := string(n.Without(drop).JSON()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(n.JSON()); got != text {
		t.Error("the original is", got)
	}
}

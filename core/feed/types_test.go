package feed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

// TestNothingWrongIsServed tries a wrong value and a misspelt name at every place of a
// definition: such a record is left out.
func TestNothingWrongIsServed(t *testing.T) {
	n := 0
	for c := range shapetest.Wrong(classic.Type()) {
		n += wantLeftOut(t, c)
	}
	for c := range shapetest.Misspelt(classic.Type()) {
		n += wantLeftOut(t, c)
	}
	if n < 8000 {
		t.Errorf("only %d documents", n)
	}
	for c := range shapetest.Right(classic.Type()) {
		if e := served(t, c); e.Problems != nil {
			t.Errorf("%s: %v", c.Text, e.Problems)
		}
	}
}

func wantLeftOut(t *testing.T, c shapetest.Case) int {
	t.Helper()
	e, at := served(t, c), strings.TrimSuffix("api_definition."+c.Path, ".")
	if c.Path == "active" && e.Text == nil && e.Problems == nil {
		return 1 // off, and gateways do not use it
	}
	if e.Text != nil || !slices.ContainsFunc(e.Problems, func(p shape.Problem) bool { return p.Path == at }) {
		t.Errorf("%s is served: %v", c.Text, e.Problems)
	}
	return 1
}

// served makes the entry of an active API with this definition.
func served(t *testing.T, c shapetest.Case) feed.Entry {
	t.Helper()
	definition := c.Text
	if rest, ok := strings.CutPrefix(c.Text, "{"); ok && c.Path != "active" {
		definition = `{"active":true,` + rest
		if rest == "}" {
			definition = `{"active":true}`
		}
	}
	return entry(t, definition, "", "")
}

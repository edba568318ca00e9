package feed_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/feed"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/shape/shapetest"
)

// short reports whether a case is redundant: in the other operations of a path, or deeper than
// a schema in a schema.
func short(c shapetest.Case) bool {
	methods := []string{"put", "post", "delete", "options", "head", "patch", "trace", "connect"}
	return !slices.ContainsFunc(c.Place, func(step string) bool { return slices.Contains(methods, step) }) &&
		len(c.Place) < 11 && !slices.Contains(c.Place, "webhooks") && !slices.Contains(c.Place, "pathItems")
}

// TestNoWrongDocumentIsServed tries a wrong value and a misspelt name at every place of a
// document.
func TestNoWrongDocumentIsServed(t *testing.T) {
	n := 0
	try := func(c shapetest.Case, wrong bool) {
		if !short(c) {
			return
		}
		n++
		node, err := doc.ParseNode([]byte(c.Text))
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(feed.Document(node), func(p shape.Problem) bool { return p.Path == c.Path })
		if found != wrong {
			t.Errorf("%s: %v", c.Text, feed.Document(node))
		}
	}
	for c := range shapetest.Wrong(feed.DocumentType()) {
		try(c, true)
	}
	for c := range shapetest.Misspelt(feed.DocumentType()) {
		try(c, true)
	}
	for c := range shapetest.Right(feed.DocumentType()) {
		if c.Text != `1e400` && !strings.Contains(c.Text, ":1e400") && !strings.Contains(c.Text, "[1e400") { // in values that are stored without decoding
			try(c, false)
		}
	}
	if n < 20000 {
		t.Errorf("only %d documents", n)
	}
}

// TestFreeMembers lists the last names of the places where a document may hold any JSON:
// values for clients and plugins of the API, and extensions that gateways do not decode. The
// type gives the reason at each place.
func TestFreeMembers(t *testing.T) {
	var have []string
	feed.DocumentType().Walk(func(at shape.Place, of shape.Type) {
		if of.Free() {
			have = append(have, at[max(0, len(at)-2):].String())
		}
	})
	slices.Sort(have)
	have = slices.Compact(have)
	have = slices.DeleteFunc(have, func(at string) bool { // schemas at any place, and values described by a schema
		return slices.Contains([]string{"default", "example", "const"}, at[strings.LastIndex(at, ".")+1:])
	})
	want := []string{"allowedValues[]", "enum[]", "examples[]", "parameters.{}", "value.{}", "x-tyk-mcp-server", "x-tyk-streaming", "{}.requestBody", "{}.value"}
	if !slices.Equal(have, want) {
		t.Errorf("%q", have)
	}
}

// Package doctest has what tests of documents share.
package doctest

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Node parses a JSON text, and ends the test if it is none.
func Node(t testing.TB, text string) *doc.Node {
	t.Helper()
	n, err := doc.ParseNode([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

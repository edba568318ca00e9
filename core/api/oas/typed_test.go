package oas_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// wantTyped fails unless a gateway can decode a definition.
func wantTyped(t testing.TB, c *doc.Node) {
	t.Helper()
	for _, p := range classic.Check(c) {
		t.Errorf("wrong type: %s", p)
	}
}

package validation_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestRestrictedSpelling: gateways decode members in any letter case, so restricted settings
// are refused in any case.
func TestRestrictedSpelling(t *testing.T) {
	for setting, want := range map[string]int{"cache": 1, "Cache": 1, "URLREWRITE": 1, "allow": 0} {
		d, err := doc.ParseNode([]byte(`{"x-tyk-api-gateway":{"middleware":{"mcpTools":{"t":{"` + setting + `":{"enabled":true}}}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := validation.Primitives(d); len(got) != want {
			t.Errorf("%s: %v", setting, got)
		}
	}
}

package app

import (
	"testing"

	"go.uber.org/fx"
)

// TestGraph checks that every constructor finds what it takes, without running any.
func TestGraph(t *testing.T) {
	if err := fx.ValidateApp(newSettings().graph(&App{})); err != nil {
		t.Error(err)
	}
}

package shape_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

func TestIsObjectID(t *testing.T) {
	for text, want := range map[string]bool{
		"5f1a0c5d8e3b2a1f00000003": true, "": false, "5F1A0C5D8E3B2A1F00000003": false, "5f1a0c5d8e3b2a1f0000000": false,
		"5f1a0c5d8e3b2a1f000000030": false, "5f1a0c5d8e3b2a1f0000000g": false, "5f1a0c5d8e3b2a1f0000000\n": false,
	} {
		if got := shape.IsObjectID(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

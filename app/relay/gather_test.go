package relay

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestGatherIsBounded checks that one delivery takes maxBatch commits at most.
func TestGatherIsBounded(t *testing.T) {
	items := make(chan item, maxBatch+1)
	for i := range maxBatch + 1 {
		items <- item{rev: store.Revision(i + 1)}
	}
	if to, _ := gather(t.Context(), items); to != maxBatch || len(items) != 1 {
		t.Errorf("gathered up to %d, %d are left, want up to %d and 1", to, len(items), maxBatch)
	}
}

package replicated

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// While the primary hangs, a reader is told so within six seconds, also one who comes
// while others have asked.
func TestHangingHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := heads{ask: func(ctx context.Context) (store.Revision, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}}
		go func() { _, _ = h.get(t.Context()) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second+time.Millisecond)
		defer cancel()
		if _, err := h.get(ctx); err == nil || ctx.Err() != nil {
			t.Errorf("it answers %v, or waits for longer", err)
		}
		synctest.Wait()
	})
}

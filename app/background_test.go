package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// forgetting notes when history is forgotten.
type forgetting struct {
	store.Historian
	at []time.Duration
	t0 time.Time
}

func (f *forgetting) Prune(context.Context, store.Retention) (int, error) {
	f.at = append(f.at, time.Since(f.t0))
	return 0, nil
}

// TestFollowersComeFirst: nothing is forgotten in the first minute, in which what an earlier process
// has left is told.
func TestFollowersComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &forgetting{t0: time.Now()}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Second)
		defer cancel()
		_ = pruner{f, history{age: time.Hour}, basics{log: slog.New(slog.DiscardHandler), now: time.Now}}.Run(ctx)
		if len(f.at) != 2 || f.at[0] != pruneEvery || f.at[1] != 2*pruneEvery {
			t.Error(f.at)
		}
	})
}

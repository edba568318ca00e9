package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/fx"

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

// beginning is background work that cannot note where it begins.
type beginning struct{ err error }

func (b beginning) Begin(context.Context) error { return b.err }

func (beginning) Run(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// started keeps what a start and an end call.
type started []fx.Hook

func (h *started) Append(more fx.Hook) { *h = append(*h, more) }

// TestBeginsOnAFullDisk: an App starts although the disk is full, and does not when the store is away.
func TestBeginsOnAFullDisk(t *testing.T) {
	for _, c := range []struct{ begins, starts error }{{nil, nil}, {store.ErrFull, nil}, {store.ErrUnavailable, store.ErrUnavailable}} {
		var h started
		background(&h, beginning{c.begins})
		err := h[0].OnStart(t.Context())
		if !errors.Is(err, c.starts) {
			t.Errorf("%v: %v", c.begins, err)
		}
		if err != nil {
			continue
		}
		if err := h[0].OnStop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

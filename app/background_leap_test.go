package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// pruned notes since when history is to be kept.
type pruned struct {
	store.Historian
	since time.Time
}

func (p *pruned) Prune(_ context.Context, keep store.Retention) (int, error) {
	p.since = keep.Since
	return 0, nil
}

// TestHistoryOutlivesALeap: no commit is forgotten because the clock is years ahead for some hours.
func TestHistoryOutlivesALeap(t *testing.T) {
	base := time.Now() // in a bubble there is no monotonic reading
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		clock := apptest.Leaping{Base: func() time.Time { return base.Add(time.Since(began)) }}
		var h pruned
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_ = pruner{&h, history{age: time.Hour}, basics{now: clock.Now, log: slog.New(slog.DiscardHandler)}}.Run(ctx)
		}()
		for _, c := range []struct{ ahead, after, want time.Duration }{
			{0, 2 * time.Hour, 0}, {90000 * time.Hour, 5 * time.Hour, 0}, {0, time.Hour, 0}, {90000 * time.Hour, 25 * time.Hour, 90000 * time.Hour},
		} {
			clock.Set(c.ahead)
			time.Sleep(c.after + time.Second)
			synctest.Wait()
			if have := h.since.Add(time.Hour).Sub(base.Round(0).Add(time.Since(began))); (have - c.want).Abs() > 2*time.Minute {
				t.Errorf("with a clock that is %v ahead for %v, history is forgotten as if it were %v ahead", c.ahead, c.after, have)
			}
		}
		cancel()
	})
}

package app

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// history is what is kept of it; 0: whatever its age, whatever its size.
type history struct {
	age   time.Duration
	bytes int64
}

// prune forgets old commits now and then, if told to.
func prune(lc fx.Lifecycle, s *settings, st store.Store) {
	h, ok := st.(store.Historian)
	if !ok || s.history == (history{}) {
		return
	}
	background(lc, pruner{h, s})
}

type pruner struct {
	history store.Historian
	s       *settings
}

// pruneEvery is how often old commits are forgotten.
const pruneEvery = time.Minute

// Run implements runner.
func (p pruner) Run(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		keep := store.Retention{Bytes: p.s.history.bytes}
		if p.s.history.age > 0 {
			keep.Since = p.s.now().Add(-p.s.history.age)
		}
		n, err := p.history.Prune(ctx, keep)
		if err != nil && ctx.Err() == nil {
			p.s.log.Warn("old history could not be forgotten; trying again later", "error", err)
		} else if n > 0 {
			p.s.log.Info("old history forgotten", "commits", n)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

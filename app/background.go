package app

import (
	"context"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// prune forgets old commits now and then, if told to.
func prune(lc fx.Lifecycle, s *settings, st store.Store) {
	h, ok := st.(store.Historian)
	if !ok || s.history == 0 {
		return
	}
	background(lc, pruner{h, s})
}

type pruner struct {
	history store.Historian
	s       *settings
}

// pruneEvery is how often old commits are forgotten.
const pruneEvery = 10 * time.Minute

// Run implements runner.
func (p pruner) Run(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		n, err := p.history.Prune(ctx, p.s.now().Add(-p.s.history))
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

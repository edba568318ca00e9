package app

import (
	"context"
	"errors"
	"time"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// runner is background work: it ends, soon, when its context does.
type runner interface {
	Run(ctx context.Context) error
}

// beginner is a runner that notes, before the App takes calls, where its work begins.
type beginner interface {
	Begin(ctx context.Context) error
}

// background runs whatever can run for as long as the App does.
func background(lc fx.Lifecycle, v any) {
	r, ok := v.(runner)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	lc.Append(fx.Hook{
		OnStart: func(start context.Context) error {
			if b, ok := r.(beginner); ok {
				// A full disk takes no commits that could be left out, and a start needs no room.
				if err := b.Begin(start); err != nil && !errors.Is(err, store.ErrFull) {
					return err
				}
			}
			go func() { defer close(done); _ = r.Run(ctx) }()
			return nil
		},
		OnStop: func(stop context.Context) error {
			cancel()
			select {
			case <-done:
				return nil
			case <-stop.Done():
				return stop.Err()
			}
		},
	})
}

// prune forgets old commits now and then, if told to.
func prune(lc fx.Lifecycle, b basics, s storage, st store.Store) {
	h, ok := st.(store.Historian)
	if !ok || s.history == (history{}) {
		return
	}
	background(lc, pruner{h, s.history, b})
}

type pruner struct {
	historian store.Historian
	keep      history
	basics
}

// pruneEvery is how often old commits are forgotten.
const pruneEvery = time.Minute

// Run implements runner. It forgets nothing in the first minute after a start, in which followers
// of the log tell what an earlier process has left: they could not tell it later.
func (p pruner) Run(ctx context.Context) error {
	tick, now := time.NewTicker(pruneEvery), system.Steady(p.now)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		keep := store.Retention{Bytes: p.keep.bytes}
		if p.keep.age > 0 {
			keep.Since = now().Add(-p.keep.age)
		}
		n, err := p.historian.Prune(ctx, keep)
		if err != nil && ctx.Err() == nil {
			p.log.Warn("old history could not be forgotten; trying again later", "error", err)
		} else if n > 0 {
			p.log.Info("old history forgotten", "commits", n)
		}
	}
}

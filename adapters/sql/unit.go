package sql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// unit is one call of Update on its way through the writer.
type unit struct {
	ctx     context.Context
	scope   tenant.Scope
	fn      func(store.Writer) error
	job     func(context.Context, *session) error // instead of fn: a transaction of its own
	pause   func(context.Context) error           // instead of fn: what the writer rests for
	claimed atomic.Bool                           // by the writer, or by the caller who gave up
	done    chan struct{}
	rev     store.Revision
	err     error
	load    time.Duration // how long the writer was busy with it, about
	weight  time.Duration // how long the writer would be busy with it, were it not prepared
	plan    *plan         // what it came to beside the writer; nil: it runs with the writer
	last    bool          // when its plan does not hold, it runs with the writer
	panic   any           // what the closure panicked with
	ended   bool          // the closure ended its goroutine
}

// Update implements store.Store.
func (s *Store) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	return store.Updater(s.update).Update(ctx, sc, fn)
}

func (s *Store) update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	if sc.IsZero() {
		return 0, store.ErrScope
	}
	if s.Beside || store.Rehearsing(ctx) || s.writer.heavy(sc.Org()) {
		return s.prepared(ctx, sc, fn)
	}
	u := &unit{ctx: ctx, scope: sc, fn: fn}
	switch err := s.writer.submit(u); {
	case errors.Is(err, errAside):
		return s.prepared(ctx, sc, fn)
	case err != nil:
		return 0, s.explain(err)
	}
	return u.rev, nil
}

// do runs a job in a transaction of its own, in turn with the units of work.
func (s *Store) do(ctx context.Context, job func(context.Context, *session) error) error {
	return s.explain(s.writer.submit(&unit{ctx: ctx, job: job}))
}

// InTurn runs fn while no unit of work is under way.
func (s *Store) InTurn(ctx context.Context, fn func(context.Context) error) error {
	return s.explain(s.writer.submit(&unit{ctx: ctx, pause: fn}))
}

// over reports whether a unit has its outcome.
func (u *unit) over() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

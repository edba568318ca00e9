package sql

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// group is one transaction shared by several units of work. Each unit has its
// own revision, its own commit and its own error.
type group struct {
	s       *Store
	ses     *session // nil beside the writer
	q       querier
	ctx     context.Context
	hot     *hot
	head    store.Revision
	over    *overlay
	docs    map[*store.Record]*longText // long documents that have been stored ahead
	taken   []*longText                 // what has been stored ahead and belongs to rows of the group now
	freed   bool                        // texts that had a row have none any more
	reads   *reads                      // nil: with the writer
	commits []logged
	until   time.Time // a unit must not hold the writer for longer, and a group must not take longer to send
	load    time.Duration
}

// logged is a commit, and the texts of its changes for the log: those of each if they
// have been made, or all in parts if they have been stored ahead.
type logged struct {
	store.Commit
	texts [][]byte
	ahead *longText
}

// late reports that the writer has been held for too long.
func (g *group) late() error {
	if time.Now().After(g.until) {
		return store.ErrTooLong
	}
	return nil
}

// besideHold is how many times longer a unit may take that is prepared beside the writer.
const besideHold = 10

// run carries one unit out on the overlay; when it fails, the overlay is as it
// was before. One that has been prepared is stored if its plan holds, and else prepared
// anew.
func (g *group) run(u *unit) {
	if u.plan != nil {
		switch holds, err := g.holds(u.plan); {
		case err != nil:
			u.err = err
			return
		case holds:
			g.replay(u)
			return
		case !u.last:
			u.err = errAside
			return
		}
	}
	rev := g.head + store.Revision(len(g.commits)) + 1
	began := time.Now()
	g.until = began.Add(g.s.Hold)
	if g.reads != nil { // no caller waits for it
		g.until = began.Add(besideHold * g.s.Hold)
	}
	defer func() {
		u.load = time.Since(began) + u.load
		g.load += u.load
	}()
	now := sync.OnceValue(g.s.Now)
	t := &tx{g: g, u: u, now: now, scope: u.scope, rev: rev, before: map[address]*touch{}, base: reader{s: g.s, q: g.q, scope: u.scope}}
	u.call(t)
	u.weight = t.weight
	if u.err != nil || u.panic != nil {
		t.undo()
		return
	}
	u.rev = rev - 1
	changes, err := t.changes()
	if err != nil {
		u.err = err
		t.undo()
		return
	}
	if err := g.late(); err != nil {
		u.err = err
		t.undo()
		return
	}
	if len(changes) > 0 {
		u.rev, u.load = rev, sending(changes)
		u.weight = t.weight + u.load
		if g.reads == nil && u.plan == nil && u.weight > aside { // it has the writer, and is large
			u.err = errAside
			t.undo()
			return
		}
		store.NoteWritten(u.ctx)
		g.commits = append(g.commits, logged{Commit: store.Commit{Rev: rev, At: now(), By: store.AttributionOf(u.ctx, u.scope), Changes: changes}})
	}
}

// About the cost of sending: a row of an index, and a kilobyte of a document with
// its place in the log. Reading and working on a record costs as much. Time that is
// measured would tell more about the machine than about the unit.
const (
	perRow      = 5 * time.Microsecond
	perKilobyte = 10 * time.Microsecond
)

// sending estimates how long the flush of some changes takes.
func sending(changes []store.Change) (d time.Duration) {
	for _, c := range changes {
		size := 0
		for _, h := range c.Delta {
			size += len(h.Old) + len(h.New)
		}
		d += perRow*time.Duration(1+len(c.Keys)+len(c.Refs)) + perKilobyte*time.Duration(size>>10)
	}
	return d
}

// call runs the closure; a panic is kept for the goroutine that called Update, unless it
// sends the unit aside.
func (u *unit) call(t *tx) {
	u.err, u.ended, u.load = nil, true, 0
	defer func() {
		switch r := recover(); r {
		case nil:
		case any(errAside):
			u.err, u.ended = errAside, false
		default:
			u.panic, u.ended = r, false
		}
	}()
	u.err = u.fn(t)
	u.ended = false
}

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

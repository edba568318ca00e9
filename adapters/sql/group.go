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
	ses     *session // nil outside the writer
	q       querier
	ctx     context.Context
	hot     *hot
	head    store.Revision
	over    *overlay
	docs    map[*store.Record]*longText // long documents that were stored ahead
	taken   []*longText                 // long texts that rows of this group refer to now
	large   []large                     // large documents of this group
	freed   bool                        // some long texts lost their row
	reads   *reads                      // nil: in the writer
	commits []logged
	until   time.Time // the deadline for a unit that holds the writer, and for sending a group
	load    time.Duration
}

// logged is a commit with the encoded texts of its changes for the log: one text per
// change if they have been made, or one text in parts if it was stored ahead.
type logged struct {
	store.Commit
	texts [][]byte
	ahead *longText
}

// late returns an error if the writer has been held for too long.
func (g *group) late() error {
	if time.Now().After(g.until) {
		return store.ErrTooLong
	}
	return nil
}

// besideHold is by which factor longer a unit may take that is prepared outside the
// writer.
const besideHold = 10

// run executes one unit on the overlay; when the unit fails, run restores the overlay. A
// prepared unit is stored if its plan holds; otherwise it is prepared again.
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
	if g.reads != nil { // it does not hold the writer
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
		if g.reads == nil && u.plan == nil && u.weight > aside { // it holds the writer, and is large
			u.err = errAside
			t.undo()
			return
		}
		store.NoteWritten(u.ctx)
		g.commits = append(g.commits, logged{Commit: store.Commit{Rev: rev, At: now(), By: store.AttributionOf(u.ctx, u.scope), Changes: changes}})
	}
}

// Approximate cost of sending: for an index row, and for a kilobyte of a document with
// its place in the log. Reading a record and working on it costs as much. These are
// constants because measured times would depend more on the machine than on the unit.
const (
	perRow      = 5 * time.Microsecond
	perKilobyte = 10 * time.Microsecond
)

// sending estimates how long the flush of changes takes.
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

// call runs the closure. It keeps a panic for the goroutine that called Update, unless
// the panic is errAside.
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

// unit is the state of one call of Update in the writer.
type unit struct {
	ctx     context.Context
	scope   tenant.Scope
	fn      func(store.Writer) error
	job     func(context.Context, *session) error // instead of fn: runs in a transaction of its own
	pause   func(context.Context) error           // instead of fn: runs while the writer is idle
	claimed atomic.Bool                           // by the writer, or by a caller that gave up
	done    chan struct{}
	rev     store.Revision
	err     error
	load    time.Duration // approximate time that it kept the writer busy
	weight  time.Duration // time that it would keep the writer busy if it were not prepared
	plan    *plan         // its result outside the writer; nil: it runs in the writer
	last    bool          // if its plan does not hold, it runs in the writer
	panic   any           // the value of a panic of the closure
	ended   bool          // the closure called runtime.Goexit
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

// over reports whether a unit is done.
func (u *unit) over() bool {
	select {
	case <-u.done:
		return true
	default:
		return false
	}
}

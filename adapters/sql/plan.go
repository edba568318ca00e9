package sql

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// aside is how long a unit of work may keep the writer from others before it has to be
// prepared beside the writer.
const aside = 3 * time.Millisecond

// errAside sends a unit of work back that has the writer and turns out to be large.
var errAside = errors.New("sql: the unit of work is prepared beside the writer")

// heavy reports whether the units of an organisation are to be prepared beside the
// writer: the last ones were large.
func (w *writer) heavy(org tenant.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Before(w.queue.lane(org).heavy)
}

// plan is what a unit of work came to when it ran over a snapshot, beside the writer.
// It holds as long as nothing that it has looked at has changed.
type plan struct {
	head    store.Revision // up to which it holds: first that of the snapshot, see hand
	stale   bool           // it does not hold any more
	reads   *reads
	over    *overlay // what it leaves behind
	changes []store.Change
	texts   [][]byte  // of the changes, for the log
	log     *longText // instead of texts: long ones
	docs    map[address]*longText
	ahead   []*longText // all that has been stored ahead, whole or not
	load    time.Duration
}

// prepared carries a unit of work out that is large, or whose organisation has had
// large ones: it runs over a snapshot, and the writer only compares and stores. Those
// of one organisation take turns, so that they do not overtake each other for ever.
func (s *Store) prepared(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	s.writer.mu.Lock()
	turn := s.writer.queue.lane(sc.Org()).turn
	s.writer.mu.Unlock()
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-turn }()
	for try := 1; ; try++ {
		u := &unit{ctx: ctx, scope: sc, fn: fn}
		rev, err := s.prepare(u)
		if u.panic != nil {
			panic(u.panic)
		}
		if err != nil || u.plan == nil {
			return rev, s.explain(err)
		}
		if err = s.storeAhead(ctx, sc, u.plan); err == nil {
			u.plan.load = u.plan.sending()
			rev, err = s.hand(u, try >= triesAside)
		}
		for _, t := range u.plan.ahead { // those that the unit has not taken are removed
			s.sweeper.done(t)
		}
		if !errors.Is(err, errAside) {
			return rev, s.explain(err)
		}
	}
}

// triesAside is how often a unit is prepared before it runs with the writer: other
// units of its organisation change what it looks at all the time.
const triesAside = 3

// prepare runs a unit over a snapshot. One that fails or writes nothing has its outcome:
// it is as if it had run when the snapshot was taken.
func (s *Store) prepare(u *unit) (head store.Revision, err error) {
	err = s.snapshot(u.ctx, func(q querier) error {
		if head, err = headOf(u.ctx, q); err != nil {
			return err
		}
		g := &group{s: s, q: q, ctx: u.ctx, hot: newHot(), head: head, over: &overlay{entries: map[address]*entry{}},
			reads: &reads{recs: map[address]bool{}, keys: map[keyAddress]bool{}, refs: map[refAddress]bool{}}}
		if g.run(u); u.panic != nil || u.err != nil || len(g.commits) == 0 {
			s.reached(head) // what it was refused for can be read
			return u.err
		}
		p := &plan{head: head, reads: g.reads, over: g.over, changes: g.commits[0].Changes, docs: map[address]*longText{}}
		for _, e := range p.over.entries {
			if err := e.makeMeta(); err != nil {
				return err
			}
		}
		u.plan = p
		return nil
	})
	return head, err
}

// reached notes that this process has told somebody of a revision.
func (s *Store) reached(rev store.Revision) {
	for {
		at := s.committed.Load()
		if at >= uint64(rev) || s.committed.CompareAndSwap(at, uint64(rev)) {
			return
		}
	}
}

// replay puts what a unit was planned to do into the transaction.
func (g *group) replay(u *unit) {
	rev := g.head + store.Revision(len(g.commits)) + 1
	// A long one is the only one of its transaction, and what it left behind is what the
	// transaction does.
	adopt := u.plan.load > groupTime && len(g.over.entries) == 0
	for a, e := range u.plan.over.entries {
		if e.base == nil && e.now == nil {
			continue // it came and went
		}
		now := e.now
		if now != nil {
			r := *now
			r.Rev = rev
			now = &r
			if t := u.plan.docs[a]; t != nil {
				g.docs[now] = t
			}
		}
		if adopt {
			e.now, e.rev = now, rev
			continue
		}
		g.over.set(a, e.base, now, rev)
		g.over.entries[a].meta = e.meta
	}
	if adopt {
		g.over = u.plan.over
	}
	changes := make([]store.Change, len(u.plan.changes))
	for i, c := range u.plan.changes {
		changes[i] = c.To(g.over.entries[address{c.Org, c.Kind, c.ID}].now)
	}
	u.err, u.rev, u.load = nil, rev, u.plan.load
	g.load += u.load
	store.NoteWritten(u.ctx)
	g.commits = append(g.commits, logged{store.Commit{Rev: rev, At: g.s.Now(), By: store.AttributionOf(u.ctx, u.scope), Changes: changes}, u.plan.texts, u.plan.log})
}

package sql

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// aside is how long a unit of work may hold the writer; a longer one has to be prepared
// outside the writer.
const aside = 3 * time.Millisecond

// errAside stops a unit of work that holds the writer and turns out to be large.
var errAside = errors.New("sql: the unit of work is prepared beside the writer")

// heavy reports whether the units of an organisation should be prepared outside the
// writer, because a recent one was large.
func (w *writer) heavy(org tenant.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Before(w.queue.lane(org).heavy)
}

// plan is the result of a unit of work that ran on a snapshot, outside the writer. It
// holds as long as nothing that it has read has changed.
type plan struct {
	head    store.Revision // the revision up to which it holds: at first that of the snapshot, see hand
	stale   bool           // it no longer holds
	reads   *reads
	over    *overlay // its resulting records
	changes []store.Change
	texts   [][]byte  // encoded changes, for the log
	log     *longText // instead of texts, when they are long
	docs    map[address]*longText
	ahead   []*longText // all texts stored ahead, complete or not
	load    time.Duration
}

// prepared runs a large unit of work, or one of an organisation that had large ones: the
// unit runs on a snapshot, and the writer only compares and stores. Units of one
// organisation take turns, so that they do not invalidate each other for ever.
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
		for _, t := range u.plan.ahead { // texts that the unit has not taken are removed
			s.sweeper.done(t)
		}
		if !errors.Is(err, errAside) {
			return rev, s.explain(err)
		}
	}
}

// triesAside is how many times a unit is prepared before it runs in the writer: other
// units of its organisation may change what it reads all the time.
const triesAside = 3

// prepare runs a unit on a snapshot. A unit that fails or writes nothing is done: it
// counts as run when the snapshot was taken.
func (s *Store) prepare(u *unit) (head store.Revision, err error) {
	err = s.snapshot(u.ctx, func(q querier) error {
		if head, err = headOf(u.ctx, q); err != nil {
			return err
		}
		g := &group{s: s, q: q, ctx: u.ctx, hot: newHot(), head: head, over: &overlay{entries: map[address]*entry{}},
			reads: &reads{recs: map[address]bool{}, keys: map[keyAddress]bool{}, refs: map[refAddress]bool{}}}
		if g.run(u); u.panic != nil || u.err != nil || len(g.commits) == 0 {
			s.reached(head) // callers can read the state that the refusal is based on
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

// reached raises the revision that this process has told a caller about.
func (s *Store) reached(rev store.Revision) {
	for {
		at := s.committed.Load()
		if at >= uint64(rev) || s.committed.CompareAndSwap(at, uint64(rev)) {
			return
		}
	}
}

// replay applies the changes of a unit's plan to the transaction.
func (g *group) replay(u *unit) {
	rev := g.head + store.Revision(len(g.commits)) + 1
	// A long unit is alone in its transaction, so the transaction can adopt the unit's
	// entries.
	adopt := u.plan.load > groupTime && len(g.over.entries) == 0
	for a, e := range u.plan.over.entries {
		if e.base == nil && e.now == nil {
			continue // it was created and deleted within the unit
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

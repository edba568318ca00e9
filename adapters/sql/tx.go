package sql

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// tx is the Writer of one unit of work.
type tx struct {
	g      *group
	u      *unit
	scope  tenant.Scope
	base   reader
	rev    store.Revision
	now    system.Clock
	weight time.Duration // approximate cost of its reads and writes
	before map[address]*touch
	order  []address
}

// touch is the state of a record before the unit; known says that the overlay already
// had the record.
type touch struct {
	rec   *store.Record
	rev   store.Revision // of the overlay's entry
	known bool
}

// Scope implements store.Writer.
func (t *tx) Scope() tenant.Scope { return t.scope }

// ready returns an error if the unit must not continue.
func (t *tx) ready() error {
	if err := t.u.ctx.Err(); err != nil {
		return err
	}
	// A unit that holds the writer and costs this much has to be prepared outside it.
	if t.g.reads == nil && t.u.plan == nil && t.weight > aside {
		panic(errAside) // a panic ends the closure, even if it ignores errors
	}
	return t.g.late()
}

// Get implements store.Reader.
func (t *tx) Get(_ context.Context, kind, id string) (store.Record, error) {
	if t.scope.All() {
		return store.Record{}, store.ErrScope
	}
	rec, err := t.get(address{t.scope.Org(), kind, id})
	if err == nil && rec == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Record{}, err
	}
	return *rec, nil
}

// get returns a record or nil.
func (t *tx) get(a address) (*store.Record, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	t.g.reads.record(a)
	t.weight += perRow
	var rec *store.Record
	if e, ok := t.g.over.entries[a]; ok {
		rec = e.now
	} else if rec, ok = t.g.hot.recs[a]; !ok {
		switch stored, err := t.base.get(t.g.ctx, a); {
		case err == nil:
			t.g.hot.put(&stored)
			rec = &stored
		case !errors.Is(err, store.ErrNotFound):
			return nil, err
		}
	}
	if rec != nil {
		t.weight += perRow + perKilobyte*time.Duration(len(rec.Doc)>>10)
	}
	return rec, nil
}

// Scan implements store.Reader.
func (t *tx) Scan(_ context.Context, q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if rec := t.remembered(q); rec != nil {
			yield(*rec, nil)
			return
		}
		n := 0
		for rec, err := range t.merged(q) {
			if n++; err == nil && n <= q.Offset {
				continue
			}
			if !yield(rec, err) || err != nil || q.Limit > 0 && n == q.Offset+q.Limit {
				return
			}
		}
	}
}

// remembered answers a lookup by unique key from memory.
func (t *tx) remembered(q store.Query) *store.Record {
	if q.Limit != 1 || q.Index == "" || q.Sorted || q.Offset > 0 || q.After != "" || q.ID != "" || t.scope.All() {
		return nil
	}
	a, ok := t.g.hot.keys[keyAddress{t.scope.Org(), q.Kind, q.Index, q.Value}]
	if !ok || t.ready() != nil {
		return nil
	}
	t.g.reads.query(t.scope, q)
	t.g.reads.record(a)
	if e, known := t.g.over.entries[a]; known {
		if e.now != nil && slices.ContainsFunc(e.now.Keys, func(k store.Key) bool { return k.Index == q.Index && k.Value == q.Value }) {
			return e.now
		}
		return nil
	}
	return t.g.hot.recs[a]
}

// merged yields the records of the tables, with the changes of the overlay applied.
func (t *tx) merged(q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if q.Sorted && t.scope.All() {
			yield(store.Record{}, store.ErrScope)
			return
		}
		t.g.reads.query(t.scope, q)
		t.weight += perRow
		ours, compare := t.g.over.matching(t.scope, q), order(q)
		size := pageSize
		if q.Limit > 0 {
			for _, size = range pageSizes { // the smallest size that suffices, or the largest
				if q.Offset+q.Limit <= size {
					break
				}
			}
		}
		q.Limit, q.Offset = 0, 0 // the overlay may hide any number of records
		for rec, err := range t.base.pages(t.g.ctx, q, size) {
			if err == nil {
				err = t.ready()
			}
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			for len(ours) > 0 && compare(ours[0], &rec) < 0 {
				if !yield(*ours[0], nil) {
					return
				}
				ours = ours[1:]
			}
			if _, known := t.g.over.entries[addressOf(&rec)]; known {
				continue
			}
			t.g.reads.record(addressOf(&rec))
			t.weight += perRow + perKilobyte*time.Duration(len(rec.Doc)>>10)
			t.g.hot.put(&rec)
			if !yield(rec, nil) {
				return
			}
		}
		for _, rec := range ours {
			if !yield(*rec, nil) {
				return
			}
		}
	}
}

// Count implements store.Reader.
func (t *tx) Count(_ context.Context, q store.Query) (n int, err error) {
	q.Limit, q.Offset = 0, 0
	for _, err := range t.merged(q) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Touched implements store.Reader.
func (t *tx) Touched(context.Context, string) (store.Revision, error) {
	if t.g.reads != nil {
		t.g.reads.all = true // every commit changes it
	}
	return t.rev, nil
}

// Referrers implements store.Reader.
func (t *tx) Referrers(_ context.Context, to integrity.Target) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if t.g.reads != nil {
			t.g.reads.refs[refAddress{t.scope.Org(), to}] = true
		}
		for rec, err := range t.base.Referrers(t.g.ctx, to) {
			if err == nil {
				err = t.ready()
			}
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			t.g.reads.record(addressOf(&rec))
			if _, known := t.g.over.entries[addressOf(&rec)]; !known && !yield(rec, nil) {
				return
			}
		}
		for a, e := range t.g.over.entries {
			if e.now == nil || a.org != t.scope.Org() {
				continue
			}
			for _, ref := range e.now.Refs {
				if ref.Target == to {
					if !yield(*e.now, nil) {
						return
					}
					break
				}
			}
		}
	}
}

// Put implements store.Writer.
func (t *tx) Put(_ context.Context, r store.Record) error {
	if !t.scope.Admits(r.Org) {
		return store.ErrScope
	}
	a := addressOf(&r)
	old, err := t.get(a)
	if err == nil {
		err = r.Follows(old)
	}
	if err != nil {
		return err
	}
	if old == nil || !slices.Equal(old.Keys, r.Keys) { // else old and new record share the same values
		had := map[store.Key]bool{}
		if old != nil {
			had = setOf(old.Keys)
		}
		for _, k := range r.Keys {
			if k.Unique && !had[k] {
				if err := t.free(r, k); err != nil {
					return err
				}
			}
		}
	}
	before := old
	if b := t.before[a]; b != nil {
		before = b.rec
	}
	r.Rev, r.Serial = t.rev, store.NextSerial(before, t.now)
	r = r.Shared()
	t.set(a, old, &r)
	return nil
}

// free returns an error if another record uses a unique value.
func (t *tx) free(r store.Record, k store.Key) error {
	one := tx{g: t.g, u: t.u, scope: t.scope, base: t.base}
	if k.Across {
		one.scope = tenant.Everyone("unique value")
		one.base.scope = one.scope
	} else if t.scope.All() {
		sc, err := tenant.Of(r.Org)
		if err != nil { // records without an organisation are not compared with others
			return nil
		}
		one.scope, one.base.scope = sc, sc
	}
	for other, err := range one.Scan(t.g.ctx, store.Query{Kind: r.Kind, Index: k.Index, Value: k.Value, Limit: 2}) {
		if err != nil {
			return err
		}
		if addressOf(&other) != addressOf(&r) {
			return &store.TakenError{Kind: r.Kind, Index: k.Index, Value: k.Value}
		}
	}
	return nil
}

// Delete implements store.Writer.
func (t *tx) Delete(_ context.Context, kind, id string) error {
	if t.scope.All() {
		return store.ErrScope
	}
	a := address{t.scope.Org(), kind, id}
	old, err := t.get(a)
	if err != nil {
		return err
	}
	if old == nil {
		return store.ErrNotFound
	}
	t.set(a, old, nil)
	return nil
}

func (t *tx) set(a address, old, now *store.Record) {
	t.weight += perRow
	if t.before[a] == nil {
		b := &touch{rec: old}
		if e, known := t.g.over.entries[a]; known {
			b.known, b.rev = true, e.rev
		}
		t.before[a] = b
		t.order = append(t.order, a)
	}
	t.g.over.set(a, old, now, t.rev)
}

// undo restores the overlay to its state before the unit.
func (t *tx) undo() {
	for _, a := range t.order {
		if b := t.before[a]; b.known {
			t.g.over.set(a, nil, b.rec, b.rev)
		} else {
			t.g.over.set(a, nil, nil, 0)
			delete(t.g.over.entries, a)
		}
	}
}

// changes returns the unit's changes, one per record, without records that were created
// and deleted in the unit.
func (t *tx) changes() ([]store.Change, error) {
	var out []store.Change
	for _, a := range t.order {
		b, now := t.before[a], t.g.over.entries[a].now
		if b.rec == nil && now == nil {
			continue
		}
		c := store.NewChange(b.rec, now)
		switch { // a deleted record may have had this address before
		case b.rec != nil:
		case b.known:
			c.Past = b.rev
		default:
			n, err := number(t.g.ctx, t.g.q, `select rev from gone where kind = $1 and org = $2 and id = $3`, a.kind, string(a.org), a.id)
			if err != nil {
				return nil, err
			}
			c.Past = store.Revision(n)
		}
		out = append(out, c)
	}
	return out, nil
}

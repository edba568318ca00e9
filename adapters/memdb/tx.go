package memdb

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// tx is one unit of work.
type tx struct {
	txn     *memdb.Txn
	scope   tenant.Scope
	rev     store.Revision
	touched map[address]int // into before
	before  []touch
	now     system.Clock
	until   time.Time // the deadline of a unit of work that holds the writer; zero: it does not write
}

// late returns an error when the unit of work has held the writer for too long.
func (t *tx) late() error {
	if !t.until.IsZero() && time.Now().After(t.until) {
		return store.ErrTooLong
	}
	return nil
}

type address struct {
	org      tenant.ID
	kind, id string
}

// touch remembers a record as it was before the unit of work; nil: it did not exist.
type touch struct {
	address
	old *store.Record
}

// Scope implements store.Writer.
func (t *tx) Scope() tenant.Scope { return t.scope }

// Get implements store.Reader.
func (t *tx) Get(_ context.Context, kind, id string) (store.Record, error) {
	if t.scope.All() {
		return store.Record{}, store.ErrScope
	}
	rec, err := t.get(address{t.scope.Org(), kind, id})
	if err != nil {
		return store.Record{}, err
	}
	if rec == nil {
		return store.Record{}, store.ErrNotFound
	}
	return *rec, nil
}

func (t *tx) get(a address) (*store.Record, error) {
	if err := t.late(); err != nil {
		return nil, err
	}
	obj, err := t.txn.First(tableRecord, indexID, key(a.kind, a.id, string(a.org)))
	if err != nil || obj == nil {
		return nil, err
	}
	return obj.(*store.Record), nil
}

// Scan implements store.Reader.
func (t *tx) Scan(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		if q.Index == "" && q.ID == "" && !q.Sorted {
			for rec, err := range inOrder(ctx, t.reading(q), t.ofKind(q.Kind), q) {
				err = cmp.Or(err, t.late())
				if !yield(rec, err) || err != nil {
					return
				}
			}
			return
		}
		if q.Limit == 1 && q.Offset == 0 && q.After == "" && (q.Index == "" || q.ID == "") && !q.Sorted && !q.Desc {
			if rec, err := t.First(ctx, q); !errors.Is(err, store.ErrNotFound) {
				yield(rec, err)
			}
			return
		}
		n := 0
		for rec, err := range t.matching(ctx, q) {
			if err == nil {
				err = t.late()
			}
			if n++; err == nil && n <= q.Offset {
				continue
			}
			if q.Limit > 0 && n > q.Offset+q.Limit || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Count implements store.Reader.
func (t *tx) Count(ctx context.Context, q store.Query) (n int, err error) {
	switch {
	case t.scope.All(): // records of all organisations have no stored count
	case q.Sorted && (q.Prefix == "" || strings.IndexByte(q.Prefix, 0) == len(q.Prefix)-1):
		return total(t.txn, begin(key(q.Kind, string(t.scope.Org()), q.Index), q.Prefix))
	case !q.Sorted && q.Index == "" && q.ID == "" && q.After == "":
		return total(t.txn, key(q.Kind, string(t.scope.Org())))
	}
	if q.Index == "" && q.ID == "" && !q.Sorted {
		for l, err := range leaves(ctx, t.reading(q), t.ofKind(q.Kind)) {
			if err != nil {
				return 0, err
			}
			n += len(after(l.Records, q))
		}
		return n, nil
	}
	for _, err := range t.matching(ctx, q) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// reading reads an index in the direction of a query.
func (t *tx) reading(q store.Query) get {
	if q.Desc {
		return t.txn.GetReverse
	}
	return t.txn.Get
}

// matching yields the records that q selects by an index or an ID, ignoring Offset and Limit.
func (t *tx) matching(ctx context.Context, q store.Query) iter.Seq2[store.Record, error] {
	if q.Sorted && t.scope.All() {
		return failed(store.ErrScope)
	}
	index, arg := t.where(q)
	return walk(ctx, t.reading(q), index, arg, func(r *store.Record) bool {
		switch {
		case q.Sorted:
			return true
		case q.After != "" && (r.ID == q.After || (r.ID > q.After) == q.Desc):
			return false
		}
		return q.Index == "" || q.ID == "" || slices.ContainsFunc(r.Keys, func(k store.Key) bool { return k.Index == q.Index && k.Value == q.Value })
	})
}

func failed(err error) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) { yield(store.Record{}, err) }
}

// where returns the index for looking up an ID or a key, and the prefix of its keys. The
// organisation comes from the scope, so that it cannot be forgotten.
func (t *tx) where(q store.Query) (index string, arg []byte) {
	if q.Sorted {
		return indexRun + prefix, begin(key(q.Kind, string(t.scope.Org()), q.Index), q.Prefix)
	}
	index = indexKey + prefix
	parts, n := [4]string{q.Kind, q.Index, q.Value}, 3
	if q.ID != "" {
		index, parts[1], n = indexID+prefix, q.ID, 2
	}
	if !t.scope.All() {
		parts[n] = string(t.scope.Org())
		n++
	}
	return index, key(parts[:n]...)
}

// First returns the first record that a key or an ID selects, or ErrNotFound. It does what Scan
// does, without its closures, for the lookups that most requests make.
func (t *tx) First(_ context.Context, q store.Query) (store.Record, error) {
	index, arg := t.where(q)
	obj, err := t.txn.First(tableRecord, index, arg)
	if err != nil {
		return store.Record{}, err
	}
	if obj == nil {
		return store.Record{}, store.ErrNotFound
	}
	return *obj.(*store.Record), nil
}

// Touched implements store.Reader.
func (t *tx) Touched(_ context.Context, kind string) (store.Revision, error) {
	obj, err := t.txn.First(tableKind, indexID, key(kind))
	if err != nil {
		return 0, err
	}
	if obj != nil {
		return obj.(*kindRow).rev, nil
	}
	obj, err = t.txn.First(tableHead, indexID, []byte{1})
	if err != nil {
		return 0, err
	}
	return obj.(*head).floor, nil
}

// Referrers implements store.Reader.
func (t *tx) Referrers(ctx context.Context, to integrity.Target) iter.Seq2[store.Record, error] {
	if t.scope.All() {
		return failed(store.ErrScope)
	}
	return walk(ctx, t.txn.Get, indexRef+prefix, key(string(t.scope.Org()), to.Kind, to.ID), nil)
}

// walk yields the records that an index has under arg and for which ok returns true; ok may be nil.
func walk(ctx context.Context, get get, index string, arg []byte,
	ok func(*store.Record) bool) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		it, err := get(tableRecord, index, arg)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		for obj := it.Next(); obj != nil; obj = it.Next() {
			if err := ctx.Err(); err != nil {
				yield(store.Record{}, err)
				return
			}
			if rec := obj.(*store.Record); (ok == nil || ok(rec)) && !yield(*rec, nil) {
				return
			}
		}
	}
}

// Put implements store.Writer.
func (t *tx) Put(ctx context.Context, r store.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !t.scope.Admits(r.Org) {
		return store.ErrScope
	}
	a := address{r.Org, r.Kind, r.ID}
	old, err := t.get(a)
	if err == nil {
		err = r.Follows(old)
	}
	if err != nil {
		return err
	}
	if old == nil || !slices.Equal(old.Keys, r.Keys) { // else old and new record share the same values
		if err := t.unique(old, r); err != nil {
			return err
		}
	}
	t.touch(a, old)
	r.Rev, r.Serial = t.rev, store.NextSerial(t.before[t.touched[a]].old, t.now)
	r = r.Shared()
	return write(t.txn, old, &r)
}

func (t *tx) unique(old *store.Record, r store.Record) error {
	had := map[store.Key]bool{}
	if old != nil {
		for _, k := range old.Keys {
			had[k] = true
		}
	}
	for _, k := range r.Keys {
		if !k.Unique || had[k] {
			continue
		}
		within := []string{r.Kind, k.Index, k.Value, string(r.Org)}
		if k.Across {
			within = within[:3]
		}
		it, err := t.txn.Get(tableRecord, indexKey+prefix, key(within...))
		if err != nil {
			return err
		}
		for obj := it.Next(); obj != nil; obj = it.Next() {
			if other := obj.(*store.Record); other.ID != r.ID || other.Org != r.Org {
				return &store.TakenError{Kind: r.Kind, Index: k.Index, Value: k.Value}
			}
		}
	}
	return nil
}

// Delete implements store.Writer.
func (t *tx) Delete(ctx context.Context, kind, id string) error {
	old, err := t.Get(ctx, kind, id)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	t.touch(address{old.Org, kind, id}, &old)
	return write(t.txn, &old, nil)
}

// touch remembers the state before the first change of a record.
func (t *tx) touch(a address, old *store.Record) {
	if _, seen := t.touched[a]; !seen {
		t.touched[a] = len(t.before)
		t.before = append(t.before, touch{a, old})
	}
}

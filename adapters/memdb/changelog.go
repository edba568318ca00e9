package memdb

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Follow implements store.ChangeLog.
func (d *DB) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		for ctx.Err() == nil {
			more, txn := d.bell.waits(), d.db.Load().Txn(false)
			at, err := headOf(txn)
			if err != nil {
				yield(store.Commit{}, err)
				return
			}
			if at <= after {
				select {
				case <-ctx.Done():
				case <-more:
				}
				continue
			}
			it, err := txn.LowerBound(tableCommit, indexID, revKey(after+1))
			if err != nil {
				yield(store.Commit{}, err)
				return
			}
			for after < at {
				if ctx.Err() != nil {
					return
				}
				obj := it.Next()
				if obj == nil || obj.(*store.Commit).Rev != after+1 {
					yield(store.Commit{}, store.ErrExpired)
					return
				}
				after++
				if !yield(obj.(*store.Commit).Told(), nil) {
					return
				}
			}
		}
	}
}

// Wait blocks until the DB has reached r.
func (d *DB) Wait(ctx context.Context, r store.Revision) error {
	for d.head.Load() < uint64(r) {
		more := d.bell.waits()
		if d.head.Load() >= uint64(r) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-more:
		}
	}
	return nil
}

// Snapshot implements store.Snapshotter.
func (d *DB) Snapshot(ctx context.Context, load func(store.State) error) error {
	txn := d.db.Load().Txn(false)
	obj, err := txn.First(tableHead, indexID, []byte{1})
	if err != nil {
		return err
	}
	at, floor := obj.(*head).rev, obj.(*head).floor
	kinds, err := txn.Get(tableKind, indexID+prefix, []byte{})
	if err != nil {
		return err
	}
	touched := map[string]store.Revision{}
	for obj := kinds.Next(); obj != nil; obj = kinds.Next() {
		touched[obj.(*kindRow).kind] = obj.(*kindRow).rev
	}
	return load(store.State{At: at, Touched: touched, Floor: floor, Records: inOrder(ctx, txn.Get, []byte{}, store.Query{})})
}

// Load replaces all records by a snapshot and wakes readers that wait for changes.
func (d *DB) Load(s store.State) error {
	db, err := empty()
	if err != nil {
		return err
	}
	txn := db.Txn(true)
	defer txn.Abort()
	counts, touched, all := map[string]int{}, map[string]store.Revision{}, growth{}
	maps.Copy(touched, s.Touched)
	var sorted []*store.Record
	for rec, err := range s.Records {
		if err != nil {
			return err
		}
		rec = rec.Shared()
		if err := txn.Insert(tableRecord, &rec); err != nil {
			return err
		}
		tally(counts, &rec, 1)
		touched[rec.Kind] = max(touched[rec.Kind], rec.Rev)
		all.count(nil, &rec)
		sorted = append(sorted, &rec)
	}
	slices.SortFunc(sorted, func(a, b *store.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Org, b.Org), cmp.Compare(a.ID, b.ID))
	})
	if err := fill(txn, sorted); err != nil {
		return err
	}
	if err := add(txn, counts); err != nil {
		return err
	}
	for kind, rev := range touched {
		if err := txn.Insert(tableKind, &kindRow{kind, max(rev, s.Floor)}); err != nil {
			return err
		}
	}
	if err := txn.Insert(tableHead, &head{s.At, s.Floor}); err != nil {
		return err
	}
	txn.Commit()
	d.write.Lock()
	defer d.write.Unlock()
	d.db.Store(db)
	d.sizes.mu.Lock()
	d.sizes.of = all
	d.sizes.mu.Unlock()
	d.reached(s.At)
	return nil
}

// Apply applies the next commits to a replica, all or none. ErrStale means that the commits do not
// follow the state of the replica.
func (d *DB) Apply(commits ...store.Commit) error {
	d.write.Lock()
	defer d.write.Unlock()
	txn := d.db.Load().Txn(true)
	defer txn.Abort()
	at, err := headOf(txn)
	if err != nil {
		return err
	}
	grown := growth{}
	for i := range commits {
		c := &commits[i]
		if c.Rev != at+store.Revision(i)+1 {
			return store.ErrStale
		}
		for _, ch := range c.Changes {
			obj, err := txn.First(tableRecord, indexID, key(ch.Kind, ch.ID, string(ch.Org)))
			if err != nil {
				return err
			}
			var before store.Record
			var old, now *store.Record
			if obj != nil {
				old = obj.(*store.Record)
				before = *old
			}
			if before.Rev != ch.Prev {
				return store.ErrStale
			}
			if ch.Op != store.Deleted {
				rec, err := ch.After(before, c.Rev)
				if err != nil {
					return err
				}
				now = &rec
			}
			if err := write(txn, old, now); err != nil {
				return err
			}
			grown.count(old, now)
		}
	}
	if len(commits) == 0 {
		return nil
	}
	if err := advance(txn, commits); err != nil {
		return err
	}
	txn.Commit()
	d.sizes.grow(grown)
	d.reached(at + store.Revision(len(commits)))
	return nil
}

// History implements store.Historian.
func (d *DB) History(ctx context.Context, s tenant.Scope, kind, id string) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		it, err := d.db.Load().Txn(false).GetReverse(tableCommit, indexID+prefix, []byte{})
		if err != nil {
			yield(store.Commit{}, err)
			return
		}
		for obj := it.Next(); obj != nil && ctx.Err() == nil; obj = it.Next() {
			c := *obj.(*store.Commit)
			for _, ch := range c.Changes {
				if ch.Kind == kind && ch.ID == id && s.Admits(ch.Org) {
					c.Changes = []store.Change{ch}
					if !yield(c.Told(), nil) {
						return
					}
				}
			}
		}
	}
}

// Oldest implements store.Historian.
func (d *DB) Oldest(context.Context) (store.Revision, error) {
	obj, err := d.db.Load().Txn(false).First(tableCommit, indexID+prefix, []byte{})
	if err != nil || obj == nil {
		return 0, err
	}
	return obj.(*store.Commit).Rev, nil
}

// Prune implements store.Historian.
func (d *DB) Prune(_ context.Context, keep store.Retention) (n int, err error) {
	d.write.Lock()
	defer d.write.Unlock()
	txn := d.db.Load().Txn(true)
	defer txn.Abort()
	at, err := headOf(txn)
	if err != nil {
		return 0, err
	}
	over := int64(0) // by how much the commits exceed the size to be kept
	if keep.Bytes != 0 {
		all, err := txn.Get(tableCommit, indexID+prefix, []byte{})
		if err != nil {
			return 0, err
		}
		for obj := all.Next(); obj != nil; obj = all.Next() {
			over += int64(obj.(*store.Commit).Weight())
		}
		over -= keep.Bytes
	}
	now := d.now()
	leapt, err := leaptAt(txn, now, keep.Since)
	if err != nil {
		return 0, err
	}
	for {
		obj, err := txn.First(tableCommit, indexID+prefix, []byte{})
		if err != nil {
			return 0, err
		}
		if obj == nil || obj.(*store.Commit).Rev == at {
			txn.Commit()
			return n, nil
		}
		c := obj.(*store.Commit)
		leapt = leapt && c.At.After(now)
		if over <= 0 && !c.At.Before(keep.Since) && !leapt {
			txn.Commit()
			return n, nil
		}
		over -= int64(c.Weight())
		if err := txn.Delete(tableCommit, obj); err != nil {
			return 0, err
		}
		n++
	}
}

// leaptAt reports whether the log begins with commits dated in the future (the clock has been put
// back since) and the first commit after them is older than since. Then the commits dated in the
// future are old as well.
func leaptAt(txn *memdb.Txn, now, since time.Time) (bool, error) {
	all, err := txn.Get(tableCommit, indexID+prefix, []byte{})
	if err != nil || since.IsZero() {
		return false, err
	}
	ahead := false
	for obj := all.Next(); obj != nil; obj = all.Next() {
		if at := obj.(*store.Commit).At; !at.After(now) {
			return ahead && at.Before(since), nil
		}
		ahead = true
	}
	return false, nil
}

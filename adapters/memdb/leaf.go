package memdb

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// leaf is a store.Leaf under the kind, the organisation and the lowest ID that belongs
// into it; the lowest ID is "" for the first leaf of an organisation. Together the
// leaves hold all records in order of kind, organisation and ID; each change replaces
// one leaf.
type leaf struct {
	key []byte
	store.Leaf
}

// most and few bound how many records are in a leaf: a full leaf is split, and a leaf
// with few records is joined with the leaf before it.
const (
	most = 128
	few  = most / 4
)

func compareIDs(r *store.Record, id string) int { return cmp.Compare(r.ID, id) }

// leafOf returns the leaf that a record belongs into, or nil.
func leafOf(txn *memdb.Txn, r *store.Record) (*leaf, error) {
	it, err := txn.ReverseLowerBound(tableLeaf, indexID, key(r.Kind, string(r.Org), r.ID))
	if err != nil {
		return nil, err
	}
	l, _ := it.Next().(*leaf)
	if l == nil || !bytes.HasPrefix(l.key, key(r.Kind, string(r.Org))) {
		return nil, nil
	}
	return l, nil
}

// write replaces a record by another; nil: there is none. It updates the leaves and the
// counts.
func write(txn *memdb.Txn, old, now *store.Record) error {
	if err := place(txn, old, now); err != nil {
		return err
	}
	if old != nil && now != nil && (slices.Equal(old.Keys, now.Keys) || sameRuns(old, now)) {
		return txn.Insert(tableRecord, now)
	}
	counts := map[string]int{}
	if old != nil {
		tally(counts, old, -1)
	}
	if now != nil {
		tally(counts, now, 1)
	}
	if err := add(txn, counts); err != nil {
		return err
	}
	if now != nil {
		return txn.Insert(tableRecord, now)
	}
	_, err := txn.DeleteAll(tableRecord, indexID, key(old.Kind, old.ID, string(old.Org)))
	return err
}

// place replaces a record in its leaf by another with the same address; nil: there is
// none.
func place(txn *memdb.Txn, old, now *store.Record) error {
	rec := cmp.Or(now, old)
	l, err := leafOf(txn, rec)
	if err != nil {
		return err
	}
	if l == nil {
		l = &leaf{key: key(rec.Kind, string(rec.Org), "")}
	}
	at, found := slices.BinarySearchFunc(l.Records, rec.ID, compareIDs)
	list := make([]*store.Record, 0, len(l.Records)+1)
	list = append(list, l.Records[:at]...)
	rest := l.Records[at:]
	if found {
		rest = rest[1:]
	}
	if now != nil {
		list = append(list, now)
	}
	list = append(list, rest...)
	switch {
	case now == nil && len(list) <= few:
		if _, err := txn.DeleteAll(tableLeaf, indexID, l.key); err != nil || len(list) == 0 {
			return err
		}
		before, err := leafOf(txn, list[0])
		if err != nil {
			return err
		}
		if before != nil && len(before.Records)+len(list) <= most {
			l, list = before, slices.Concat(before.Records, list)
		}
	case len(list) > most:
		cut := len(list) / 2
		if at == len(list)-1 { // new IDs are mostly the highest: leaves stay full
			cut = at
		}
		if err := txn.Insert(tableLeaf, &leaf{key(rec.Kind, string(rec.Org), list[cut].ID), store.Leaf{Records: slices.Clone(list[cut:])}}); err != nil {
			return err
		}
		list = slices.Clip(list[:cut])
	}
	return txn.Insert(tableLeaf, &leaf{l.key, store.Leaf{Records: list}})
}

// fill makes the leaves of all records, which come in order.
func fill(txn *memdb.Txn, sorted []*store.Record) error {
	lowest := ""
	for from := 0; from < len(sorted); {
		r, to := sorted[from], from+1
		for to < len(sorted) && to-from < most && sorted[to].Kind == r.Kind && sorted[to].Org == r.Org {
			to++
		}
		if err := txn.Insert(tableLeaf, &leaf{key(r.Kind, string(r.Org), lowest), store.Leaf{Records: slices.Clone(sorted[from:to])}}); err != nil {
			return err
		}
		lowest = ""
		if to < len(sorted) && sorted[to].Kind == r.Kind && sorted[to].Org == r.Org {
			lowest = sorted[to].ID
		}
		from = to
	}
	return nil
}

// get reads an index, forwards or backwards.
type get func(table, index string, args ...any) (memdb.ResultIterator, error)

// leaves yields the leaves whose keys begin with under.
func leaves(ctx context.Context, get get, under []byte) iter.Seq2[*store.Leaf, error] {
	return func(yield func(*store.Leaf, error) bool) {
		it, err := get(tableLeaf, indexID+prefix, under)
		if err != nil {
			yield(nil, err)
			return
		}
		for obj := it.Next(); obj != nil; obj = it.Next() {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(&obj.(*leaf).Leaf, nil) {
				return
			}
		}
	}
}

// Leaves yields the leaves of a kind in order of organisation and ID.
func (t *tx) Leaves(ctx context.Context, kind string) iter.Seq2[*store.Leaf, error] {
	return leaves(ctx, t.txn.Get, t.ofKind(kind))
}

// ofKind returns the prefix of the keys of the leaves of a kind. The organisation comes
// from the scope, so that it cannot be forgotten.
func (t *tx) ofKind(kind string) []byte {
	if t.scope.All() {
		return key(kind)
	}
	return key(kind, string(t.scope.Org()))
}

// inOrder yields the records in leaves for a query without an index. Skipping an offset
// costs one step per leaf.
func inOrder(ctx context.Context, get get, under []byte, q store.Query) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		skip, left := q.Offset, q.Limit
		for l, err := range leaves(ctx, get, under) {
			if err != nil {
				yield(store.Record{}, err)
				return
			}
			list := after(l.Records, q)
			if skip >= len(list) {
				skip -= len(list)
				continue
			}
			n := len(list) - skip
			if q.Limit > 0 {
				n = min(n, left)
				left -= n
			}
			for i := range n {
				i += skip
				if q.Desc {
					i = len(list) - 1 - i
				}
				if !yield(*list[i], nil) {
					return
				}
			}
			if skip = 0; q.Limit > 0 && left == 0 {
				return
			}
		}
	}
}

// after returns the records of a leaf that come after q.After.
func after(list []*store.Record, q store.Query) []*store.Record {
	if q.After == "" {
		return list
	}
	at, found := slices.BinarySearchFunc(list, q.After, compareIDs)
	if q.Desc {
		return list[:at]
	}
	if found {
		at++
	}
	return list[at:]
}

package store

import (
	"context"
	"errors"
	"iter"
	"sync"
)

// Leaf is some records of one kind and one organisation that follow each other in
// order of ID. It never changes, and snapshots share it while none of its records
// does: what is derived from its records need not be derived again.
type Leaf struct {
	Records []*Record
	derived sync.Map // what columns made of the records, by column
}

// leaved is a Reader that has its records in leaves.
type leaved interface {
	Leaves(ctx context.Context, kind string) iter.Seq2[*Leaf, error]
}

// looseLeaf is how many records are read at once from a Reader without leaves.
const looseLeaf = 256

// Leaves yields the records of a kind in order of organisation and ID. Readers in
// memory yield the same leaf again and again; others have a new one each time.
func Leaves(ctx context.Context, r Reader, kind string) iter.Seq2[*Leaf, error] {
	if l, ok := r.(leaved); ok {
		return l.Leaves(ctx, kind)
	}
	return func(yield func(*Leaf, error) bool) {
		leaf := &Leaf{}
		for rec, err := range r.Scan(ctx, Query{Kind: kind}) {
			if err != nil {
				yield(nil, err)
				return
			}
			if n := len(leaf.Records); n == looseLeaf || n > 0 && leaf.Records[0].Org != rec.Org {
				if !yield(leaf, nil) {
					return
				}
				leaf = &Leaf{}
			}
			leaf.Records = append(leaf.Records, &rec)
		}
		if len(leaf.Records) > 0 {
			yield(leaf, nil)
		}
	}
}

// Column holds what lists look at of each resource of a kind: a small value. A
// reader in memory makes it once for each leaf, and keeps the values of a leaf side by
// side: a list is looked through without looking at its records. A type V belongs to
// one column.
type Column[T, V any] struct {
	Kind *Kind[T]
	Of   func(T) V
}

// Row is a resource in a column.
type Row[V any] struct {
	Value V
	rec   *Record
}

// All yields the rows of a column in order of organisation and ID. Treat them as
// read-only. A resource that is damaged has none.
func (c Column[T, V]) All(ctx context.Context, r Reader) iter.Seq2[*Row[V], error] {
	return func(yield func(*Row[V], error) bool) {
		for leaf, err := range Leaves(ctx, r, c.Kind.Name) {
			var rows []Row[V]
			if err == nil {
				rows, err = c.rows(leaf)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
	}
}

// columnOf names a column in a leaf.
type columnOf[V any] struct{}

// rows returns the rows of a leaf. Records are read for this alone: the values of
// those that nobody asks for do not stay in memory.
func (c Column[T, V]) rows(leaf *Leaf) ([]Row[V], error) {
	if made, ok := leaf.derived.Load(columnOf[V]{}); ok {
		return made.([]Row[V]), nil
	}
	rows := make([]Row[V], 0, len(leaf.Records))
	for _, rec := range leaf.Records {
		v, err := c.Kind.glance(*rec)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row[V]{c.Of(v), rec})
	}
	leaf.derived.Store(columnOf[V]{}, rows)
	return rows, nil
}

// Resources returns the resources of rows.
func (c Column[T, V]) Resources(rows []*Row[V]) ([]T, error) {
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		v, err := c.Kind.Decode(*row.rec)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

package store

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
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
		var leaves []*Leaf
		for leaf, err := range Leaves(ctx, r, c.Kind.Name) {
			if err != nil {
				yield(nil, err)
				return
			}
			leaves = append(leaves, leaf)
		}
		c.warm(leaves)
		for _, leaf := range leaves {
			rows, err := c.rows(leaf)
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

// warm makes the rows of many leaves side by side: when the first list is asked for,
// none has any.
func (c Column[T, V]) warm(leaves []*Leaf) {
	cold := slices.DeleteFunc(slices.Clone(leaves), func(l *Leaf) bool {
		_, made := l.derived.Load(columnOf[V]{})
		return made
	})
	if len(cold) < 2 {
		return
	}
	var all sync.WaitGroup
	for part := range slices.Chunk(cold, (len(cold)-1)/runtime.GOMAXPROCS(0)+1) {
		all.Go(func() {
			for _, l := range part {
				_, _ = c.rows(l) // All meets the same error
			}
		})
	}
	all.Wait()
}

// columnOf names a column in a leaf.
type columnOf[V any] struct{}

// rows returns the rows of a leaf. Records are read for this alone: the values of
// those that are not asked for do not stay in memory.
func (c Column[T, V]) rows(leaf *Leaf) ([]Row[V], error) {
	if made, ok := leaf.derived.Load(columnOf[V]{}); ok {
		return made.([]Row[V]), nil
	}
	rows := make([]Row[V], 0, len(leaf.Records))
	for _, rec := range leaf.Records {
		row, err := c.row(rec)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	leaf.derived.Store(columnOf[V]{}, rows)
	return rows, nil
}

func (c Column[T, V]) row(rec *Record) (Row[V], error) {
	v, err := c.Kind.glance(*rec)
	if err != nil {
		return Row[V]{}, err
	}
	return Row[V]{c.Of(v), rec}, nil
}

// Get returns the row of the resource with the given alias or ID, or a NotFound fault.
func (c Column[T, V]) Get(ctx context.Context, r Reader, name string) (*Row[V], error) {
	rec, err := c.Kind.Raw(ctx, r, name)
	if err != nil {
		return nil, err
	}
	row, err := c.row(&rec)
	return &row, err
}

// Find yields the rows of the resources that q selects, made anew: right for few. One
// that is damaged is left out.
func (c Column[T, V]) Find(ctx context.Context, r Reader, q Query) iter.Seq2[*Row[V], error] {
	q.Kind = c.Kind.Name
	return func(yield func(*Row[V], error) bool) {
		for rec, err := range r.Scan(ctx, q) {
			var row Row[V]
			if err == nil {
				row, err = c.row(&rec)
			}
			if errors.Is(err, ErrDamaged) {
				continue
			}
			if !yield(&row, err) || err != nil {
				return
			}
		}
	}
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

package store

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Leaf is a run of records of one kind and one organisation, in order of ID. It never changes.
// Snapshots share a Leaf as long as its records stay the same, so data derived from it is
// computed only once.
type Leaf struct {
	Records []*Record
	derived sync.Map // data that columns computed from the records, by column
}

// leaved is a Reader that stores its records in leaves.
type leaved interface {
	Leaves(ctx context.Context, kind string) iter.Seq2[*Leaf, error]
}

// looseLeaf is the number of records that are read at once from a Reader without leaves.
const looseLeaf = 256

// Leaves yields the records of a kind in order of organisation and ID. In-memory readers yield
// the same leaves every time; other readers make new ones.
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

// Column holds a small value of each resource of a kind: the data by which lists are filtered
// and sorted. An in-memory reader computes the values once for each leaf and keeps them in one
// slice, so that a list is searched without decoding its records. A type V belongs to one
// column.
type Column[T, V any] struct {
	Kind *Kind[T]
	Of   func(T) V
}

// Sought is a value of a column that Containing can search by its text.
type Sought interface {
	// Sought returns a pointer to the text. Column makes it point into one string per leaf.
	Sought() *string
}

// Row is a resource in a column.
type Row[V any] struct {
	Value V
	rec   *Record
}

// All yields the rows of a column in order of organisation and ID. Treat them as read-only.
// Damaged resources are left out.
func (c Column[T, V]) All(ctx context.Context, r Reader) iter.Seq2[*Row[V], error] {
	return c.Containing(ctx, r, "")
}

// Containing is All for the rows with a value that contains text; it does not visit other
// rows. *V must be Sought, unless text is empty.
func (c Column[T, V]) Containing(ctx context.Context, r Reader, text string) iter.Seq2[*Row[V], error] {
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
			p, err := c.part(leaf)
			if err != nil {
				yield(nil, err)
				return
			}
			if text == "" {
				for i := range p.rows {
					if !yield(&p.rows[i], nil) {
						return
					}
				}
				continue
			}
			for row, at := p.next(text, 0); row >= 0; row, at = p.next(text, at) {
				if !yield(&p.rows[row], nil) {
					return
				}
			}
		}
	}
}

// Where yields the rows that pass a test.
func Where[V any](rows iter.Seq2[*Row[V], error], passes func(*V) bool) iter.Seq2[*Row[V], error] {
	return func(yield func(*Row[V], error) bool) {
		for row, err := range rows {
			if (err != nil || passes(&row.Value)) && !yield(row, err) {
				return
			}
		}
	}
}

// part is the part of a column that belongs to a leaf.
type part[V any] struct {
	rows []Row[V]
	text string // of all rows, concatenated, if they are Sought
	ends []int  // offsets in text at which the rows' texts end
}

// next returns the number of the first row with a text that contains text, searched from an
// offset in p.text, and the offset for the next search; row is -1 if there is none.
func (p *part[V]) next(text string, from int) (row, behind int) {
	for {
		at := strings.Index(p.text[from:], text)
		if at < 0 {
			return -1, len(p.text)
		}
		at += from
		row, _ = slices.BinarySearch(p.ends, at+1)
		if from = p.ends[row]; at+len(text) <= from {
			return row, from
		} // the match crosses into the next row's text: no later match lies within this row
	}
}

// warm computes the rows of several leaves concurrently, because before the first list no leaf
// has any.
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
				_, _ = c.part(l) // Containing gets the same error
			}
		})
	}
	all.Wait()
}

// columnOf is the key of a column in Leaf.derived.
type columnOf[V any] struct{}

// part returns the part of a leaf. The decoded values of the records are not cached: they
// would stay in memory although no caller asked for them.
func (c Column[T, V]) part(leaf *Leaf) (*part[V], error) {
	if made, ok := leaf.derived.Load(columnOf[V]{}); ok {
		return made.(*part[V]), nil
	}
	p := &part[V]{rows: make([]Row[V], 0, len(leaf.Records))}
	for _, rec := range leaf.Records {
		row, err := c.row(rec)
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p.rows = append(p.rows, row)
	}
	var texts []*string // to be concatenated
	var all strings.Builder
	for i := range p.rows {
		if v, ok := any(&p.rows[i].Value).(Sought); ok {
			texts = append(texts, v.Sought())
			all.WriteString(*v.Sought())
			p.ends = append(p.ends, all.Len())
		}
	}
	p.text = all.String()
	from := 0
	for i, end := range p.ends {
		*texts[i], from = p.text[from:end], end
	}
	leaf.derived.Store(columnOf[V]{}, p)
	return p, nil
}

// row makes the row of a record. It uses the cached value of the record, but does not cache
// one, because it needs the value only once.
func (c Column[T, V]) row(rec *Record) (Row[V], error) {
	if rec.memo != nil {
		if v, ok := rec.memo.value.Load().(T); ok {
			return Row[V]{c.Of(v), rec}, nil
		}
	}
	v, err := c.Kind.load(*rec)
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

// Find yields the rows of the resources that match q. It decodes each of them, so it is meant
// for few resources. Damaged ones are left out.
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

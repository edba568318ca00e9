package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/shape"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the typed view of the store for one resource, declared next to its use cases. Back
// ends know nothing about it.
type Kind[T any] struct {
	Name    string // in storage, references and the change log
	Noun    string // in messages: "client idp"
	ID      func(T) string
	Org     func(T) tenant.ID
	Indexes []Index[T]
	Alias   string // unique index that is tried before the ID when a resource is looked up
	Refs    func(T) []integrity.Ref
	Load    func([]byte) (T, error) // decodes a stored document; nil: json.Unmarshal
	// Shared means that values of T never change after they are made, so that an edit may start
	// from the value that readers share, without a private copy.
	Shared bool
	// Over returns v with its texts as slices of the stored document; nil: there is no such
	// function. With Shared, readers get the value that was stored, and without Over its texts
	// would be in memory twice. For the same reason such a value encodes itself: the store calls
	// its doc.Appender with nil, which may return a text that the value keeps.
	Over func(v T, stored []byte) T
}

// AnyKind is a Kind of any type. Two kinds with the same name are different values.
type AnyKind interface{ KindName() string }

// KindName implements AnyKind.
func (k *Kind[T]) KindName() string { return k.Name }

// Untyped returns the kind for callers that do not know its type: its values have the dynamic
// type T.
func (k *Kind[T]) Untyped() *Kind[any] {
	u := &Kind[any]{
		Name: k.Name, Noun: k.Noun, Alias: k.Alias, Shared: k.Shared,
		ID:   func(v any) string { return k.ID(v.(T)) },
		Org:  func(v any) tenant.ID { return k.Org(v.(T)) },
		Load: func(text []byte) (any, error) { return k.parse(text) },
	}
	for _, ix := range k.Indexes {
		u.Indexes = append(u.Indexes, Index[any]{Name: ix.Name, Noun: ix.Noun, Unique: ix.Unique, Across: ix.Across, Sorted: ix.Sorted,
			Values: func(v any) []string { return ix.Values(v.(T)) }})
	}
	if k.Refs != nil {
		u.Refs = func(v any) []integrity.Ref { return k.Refs(v.(T)) }
	}
	return u
}

// Stored is a resource, the revision that last wrote it, and its serial.
type Stored[T any] struct {
	Value  T
	Rev    Revision
	Serial Serial
}

// Condition returns an error if an edit of a resource with this serial must not happen; nil:
// always allowed.
type Condition func(Serial) error

// memo keeps the decoded value of a record that readers share.
type memo struct{ value atomic.Value }

// Shared returns r with room to cache its decoded value. Back ends call it for records that
// they return more than once.
func (r Record) Shared() Record {
	if r.memo == nil {
		r.memo = &memo{}
	}
	return r
}

func (k *Kind[T]) find(ctx context.Context, r Reader, name string) (Record, error) {
	if k.Alias != "" {
		rec, err := first(ctx, r, Query{Kind: k.Name, Index: k.Alias, Value: name})
		if !errors.Is(err, ErrNotFound) {
			return rec, err
		}
		if id := strings.ToLower(name); shape.IsObjectID(id) { // it may be sent in capitals, and is stored in small letters
			name = id
		}
	}
	rec, err := r.Get(ctx, k.Name, name)
	if errors.Is(err, ErrScope) { // the scope of a super user is all organisations
		return first(ctx, r, Query{Kind: k.Name, ID: name})
	}
	return rec, err
}

// finder is a Reader that finds one record without an iterator.
type finder interface {
	// First returns the first record that matches a key or an ID, or ErrNotFound.
	First(ctx context.Context, q Query) (Record, error)
}

// first returns the first record that matches a key or an ID, or ErrNotFound.
func first(ctx context.Context, r Reader, q Query) (Record, error) {
	if f, ok := r.(finder); ok {
		return f.First(ctx, q)
	}
	q.Limit = 1
	return head(r.Scan(ctx, q))
}

// head returns the first record of a sequence, or ErrNotFound. It is a function of its own,
// because its loop would make first allocate even when it does not need the loop.
func head(records iter.Seq2[Record, error]) (Record, error) {
	for rec, err := range records {
		return rec, err
	}
	return Record{}, ErrNotFound
}

// Get returns the resource with the given alias or ID, or a NotFound fault.
// Treat the value as read-only.
func (k *Kind[T]) Get(ctx context.Context, r Reader, name string) (Stored[T], error) {
	rec, err := k.find(ctx, r, name)
	if err != nil {
		return Stored[T]{}, k.explain(err, name)
	}
	v, err := k.Decode(rec)
	return Stored[T]{v, rec.Rev, rec.Serial}, err
}

// Locate returns the resource with the given ID in any organisation, or a NotFound fault. It
// needs the scope of all organisations.
func (k *Kind[T]) Locate(ctx context.Context, r Reader, id string) (Stored[T], error) {
	rec, err := first(ctx, r, Query{Kind: k.Name, ID: id})
	if err != nil {
		return Stored[T]{}, k.explain(err, id)
	}
	v, err := k.Decode(rec)
	return Stored[T]{v, rec.Rev, rec.Serial}, err
}

// ByKey returns the first resource that has a value in an index, or a NotFound fault. A
// damaged resource is NotFound too, because Find leaves it out.
func (k *Kind[T]) ByKey(ctx context.Context, r Reader, index, value string) (Stored[T], error) {
	rec, err := first(ctx, r, Query{Kind: k.Name, Index: index, Value: value})
	if err != nil {
		return Stored[T]{}, k.explain(err, value)
	}
	v, err := k.Decode(rec)
	if errors.Is(err, ErrDamaged) {
		err = k.explain(ErrNotFound, value)
	}
	return Stored[T]{v, rec.Rev, rec.Serial}, err
}

// Find yields the resources that match q. Damaged ones are left out, so that the others can be
// read; only a query by ID returns the error of a damaged one.
func (k *Kind[T]) Find(ctx context.Context, r Reader, q Query) iter.Seq2[Stored[T], error] {
	q.Kind = k.Name
	return func(yield func(Stored[T], error) bool) {
		for rec, err := range r.Scan(ctx, q) {
			var v T
			if err == nil {
				v, err = k.Decode(rec)
			}
			if q.ID == "" && errors.Is(err, ErrDamaged) {
				continue
			}
			if !yield(Stored[T]{v, rec.Rev, rec.Serial}, err) || err != nil {
				return
			}
		}
	}
}

// Page returns the resources that match q, and their number without Offset and Limit. It reads
// from the nearer end, so that the last page costs no more than the first.
func (k *Kind[T]) Page(ctx context.Context, r Reader, q Query) (page []Stored[T], total int, err error) {
	q.Kind = k.Name
	if total, err = r.Count(ctx, q); err != nil || q.Offset >= total {
		return nil, total, err
	}
	size := total - q.Offset
	if q.Limit > 0 {
		size = min(size, q.Limit)
	}
	after := total - q.Offset - size
	far := after < q.Offset
	if far {
		q.Offset, q.Desc = after, !q.Desc
	}
	q.Limit = size
	page = make([]Stored[T], 0, size)
	for v, err := range k.Find(ctx, r, q) {
		if err != nil {
			return nil, total, err
		}
		page = append(page, v)
	}
	if far {
		slices.Reverse(page)
	}
	return page, total, nil
}

// Values returns the resources that match a query, without revisions.
func (k *Kind[T]) Values(ctx context.Context, r Reader, q Query) (out []T, err error) {
	for v, err := range k.Find(ctx, r, q) {
		if err != nil {
			return nil, err
		}
		out = append(out, v.Value)
	}
	return out, nil
}

// Collect returns all values of a sequence, or its first error.
func Collect[V any](all iter.Seq2[V, error]) (out []V, err error) {
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// Names returns the identifiers of a resource: first the one that clients use, then its ID, if
// that is different.
func (k *Kind[T]) Names(v T) []string {
	names := []string{}
	for _, ix := range k.Indexes {
		if k.Alias != "" && ix.Name == k.Alias {
			names = append(names, ix.Values(v)...)
		}
	}
	if id := k.ID(v); !slices.Contains(names, id) {
		names = append(names, id)
	}
	return names
}

// Insert stores a new resource, or returns a Conflict fault.
func (k *Kind[T]) Insert(ctx context.Context, w Writer, v T) error {
	_, err := k.Create(ctx, w, v)
	return err
}

// Create is Insert for callers that need the serial.
func (k *Kind[T]) Create(ctx context.Context, w Writer, v T) (Serial, error) {
	rec, err := k.encode(v, 0, 0)
	if err != nil {
		return 0, err
	}
	return k.put(ctx, w, rec, v, rec.ID)
}

// put stores the record of a value, caches the value for readers, and returns the serial. It
// refuses references to missing records, within the unit of work. Errors call the record name.
func (k *Kind[T]) put(ctx context.Context, w Writer, rec Record, v T, name string) (Serial, error) {
	if len(rec.Refs) > 0 {
		var failed error
		err := integrity.Dangling(rec.Refs, func(t integrity.Target) bool {
			_, err := w.Get(ctx, t.Kind, t.ID)
			if err != nil && !errors.Is(err, ErrNotFound) {
				failed = err
			}
			return err == nil
		})
		if failed != nil {
			err = failed
		}
		if err != nil {
			return 0, err
		}
	}
	if k.Shared {
		if k.Over != nil {
			v = k.Over(v, rec.Doc)
		}
		rec.memo.value.Store(v)
	}
	if err := w.Put(ctx, rec); err != nil {
		return 0, k.explain(err, name)
	}
	now, err := w.Get(ctx, rec.Kind, rec.ID)
	if !errors.Is(err, ErrScope) {
		return now.Serial, err
	}
	for now, err := range w.Scan(ctx, Query{Kind: rec.Kind, ID: rec.ID}) {
		if err != nil || now.Org == rec.Org {
			return now.Serial, err
		}
	}
	return 0, ErrNotFound
}

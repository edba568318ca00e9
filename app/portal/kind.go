// Package portal builds the resources of the developer portal from their tables: storage,
// numbering, lookup, lists and operations. Each resource has a package in core, and a
// Resource value here.
package portal

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"iter"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Names of indexes.
const (
	byCID  = "cid"
	byLive = "live" // records that are neither hidden nor deleted, in order of parent and number
)

// KindOf returns the kind of a table, with additional indexes. Deleted records have no key
// except their number; hidden ones keep their keys, since they may return.
func KindOf[T table.Row[T]](more ...store.Index[T]) *store.Kind[T] {
	t := tableOf[T]()
	k := &store.Kind[T]{
		Name: t.Kind, Noun: t.Noun, Alias: byCID,
		ID:  func(v T) string { return t.Base(&v).ID.Key() },
		Org: func(v T) tenant.ID { return t.Base(&v).Portal },
	}
	own := func(of func(T) string) func(T) string {
		return func(v T) string {
			if !t.Base(&v).DeletedAt.IsZero() {
				return ""
			}
			return of(v)
		}
	}
	k.Indexes = []store.Index[T]{
		store.Unique(byCID, "CID", own(func(v T) string { return t.Base(&v).CID })),
		store.Sorted(byLive, func(v T) string {
			if t.Base(&v).Away() {
				return ""
			}
			if t.Parent == nil {
				return t.Base(&v).ID.Key()
			}
			return prefix(t.Parent(v)) + t.Base(&v).ID.Key()
		}),
	}
	for _, u := range t.Unique {
		k.Indexes = append(k.Indexes, store.Unique(u.Name, u.Name, own(func(v T) string {
			if s := u.Of(v); s != "" {
				return store.Indexed(s)
			}
			return ""
		})))
	}
	k.Indexes = append(k.Indexes, more...)
	return k
}

func tableOf[T table.Row[T]]() *table.Table[T] {
	var zero T
	return zero.Table()
}

// prefix returns the prefix of the index values of the records below a parent.
func prefix(parent table.ID) string { return parent.Key() + "\x00" }

// counter is how many records a table has ever had.
type counter struct {
	Kind   string    `json:"kind"`
	Portal tenant.ID `json:"org_id"`
	Last   table.ID  `json:"last"`
}

var counters = &store.Kind[counter]{
	Name: "portal-counter", Noun: "counter",
	ID:  func(c counter) string { return c.Kind },
	Org: func(c counter) tenant.ID { return c.Portal },
}

// Counters returns the registration of the kind of counters.
func Counters() crud.Registration {
	return crud.Facts[counter]{Kind: counters, Sample: func(at crud.Stamp) (counter, error) {
		return counter{Kind: at.ID, Portal: at.Org, Last: 7}, nil
	}}.Registration()
}

// Add stores a new record, with a new number that is never reused and, unless it has one, a
// CID.
func Add[T table.Row[T]](ctx context.Context, w store.Writer, k *store.Kind[T], at crud.Stamp, v T) (T, error) {
	t := tableOf[T]()
	base := t.Base(&v)
	c, err := counters.Edit(ctx, w, t.Kind, nil, func(c counter) (counter, error) {
		c.Last++
		return c, nil
	})
	if fault.KindOf(err) == fault.NotFound {
		c = counter{Kind: t.Kind, Portal: w.Scope().Org(), Last: 1}
		err = counters.Insert(ctx, w, c)
	}
	if err != nil {
		return v, err
	}
	now := at.Now()
	base.ID, base.Portal, base.CreatedAt, base.UpdatedAt = c.Last, w.Scope().Org(), now, now
	if base.CID == "" {
		base.CID = drawCID(t, at, c.Last)
	}
	return v, taken(t, k.Insert(ctx, w, v))
}

// drawCID returns a CID for a new record. It is derived from the stamp.
func drawCID[T any](t *table.Table[T], at crud.Stamp, id table.ID) string {
	return table.NewCID(at.Now(), at.ID+t.Kind+id.Key())
}

// Edit changes a record that is neither hidden nor deleted.
func Edit[T table.Row[T]](ctx context.Context, w store.Writer, k *store.Kind[T], id table.ID, at crud.Stamp, fn func(T) (T, error)) (T, error) {
	t := tableOf[T]()
	v, err := k.Edit(ctx, w, id.Key(), nil, func(old T) (T, error) {
		if t.Base(&old).Away() {
			return old, k.Absent()
		}
		fresh, err := fn(old)
		base := t.Base(&fresh)
		own := *t.Base(&old)
		base.ID, base.CID, base.Portal, base.CreatedAt, base.UpdatedAt = own.ID, own.CID, own.Portal, own.CreatedAt, at.Now()
		return fresh, err
	})
	return v, taken(t, err)
}

// Remove deletes a record: permanently, or so that it can return if the table says so.
func Remove[T table.Row[T]](ctx context.Context, w store.Writer, k *store.Kind[T], id table.ID, at crud.Stamp) error {
	t := tableOf[T]()
	if !t.Soft {
		_, err := k.Delete(ctx, w, id.Key(), nil)
		return err
	}
	_, err := Edit(ctx, w, k, id, at, func(v T) (T, error) {
		t.Base(&v).DeletedAt = at.Now()
		return v, nil
	})
	return err
}

// taken converts a unique-value error into a fault with the table's text.
func taken[T any](t *table.Table[T], err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Conflict {
		return err
	}
	return conflict(t, f.Field, err)
}

// conflict is the fault for a value of a unique index that another record has.
func conflict[T any](t *table.Table[T], index string, err error) error {
	for _, u := range t.Unique {
		if u.Name == index {
			return fault.New(fault.Conflict, t.Kind+".taken", "%s", u.Taken).At(index).Because(err)
		}
	}
	if index == byCID {
		return fault.New(fault.Conflict, t.Kind+".cid", "CID has already been taken").At(index).Because(err)
	}
	return err
}

// free returns the fault with which storing a record would fail if another one has one of
// its unique values.
func free[T table.Row[T]](ctx context.Context, r store.Reader, k *store.Kind[T], v T) error {
	for _, ix := range k.Indexes {
		if !ix.Unique {
			continue
		}
		for _, value := range ix.Values(v) {
			other, err := k.ByKey(ctx, r, ix.Name, value)
			switch {
			case err == nil && k.ID(other.Value) != k.ID(v):
				return conflict(tableOf[T](), ix.Name, store.ErrTaken)
			case err != nil && fault.KindOf(err) != fault.NotFound:
				return err
			}
		}
	}
	return nil
}

// Find returns a record by its number or its CID, unless it is hidden or deleted.
func Find[T table.Row[T]](ctx context.Context, r store.Reader, k *store.Kind[T], name string) (T, error) {
	v, err := k.Get(ctx, r, key(name))
	if err == nil && tableOf[T]().Base(&v.Value).Away() {
		err = k.Absent()
	}
	return v.Value, err
}

// key returns the name of a record in the store.
func key(name string) string {
	if id, ok := table.ParseID(name); ok {
		return id.Key()
	}
	if !table.IsCID(name) {
		return "none" // no record has this name
	}
	return name
}

// All yields the records that are neither hidden nor deleted, those below a parent if the
// table has parents, in order of number.
func All[T table.Row[T]](ctx context.Context, r store.Reader, k *store.Kind[T], parent table.ID) iter.Seq2[T, error] {
	q := store.Query{Index: byLive, Sorted: true}
	if tableOf[T]().Parent != nil && parent != 0 {
		q.Prefix = prefix(parent)
	}
	return func(yield func(T, error) bool) {
		for v, err := range k.Find(ctx, r, q) {
			if !yield(v.Value, err) || err != nil {
				return
			}
		}
	}
}

// HasCID reports whether a record of a kind has a CID, hidden or not.
func HasCID(ctx context.Context, r store.Reader, kind, cid string) (bool, error) {
	for _, err := range r.Scan(ctx, store.Query{Kind: kind, Index: byCID, Value: cid, Limit: 1}) {
		return err == nil, err
	}
	return false, nil
}

// Count returns how many records below a parent are not deleted.
func Count[T table.Row[T]](ctx context.Context, r store.Reader, k *store.Kind[T], parent table.ID) (int, error) {
	return r.Count(ctx, store.Query{Kind: k.Name, Index: byLive, Sorted: true, Prefix: prefix(parent)})
}

// Resolver returns a function that finds the numbers of records named in a body, within a
// unit of work.
func Resolver(ctx context.Context, r store.Reader) table.Resolve {
	return func(kind, name string) (table.ID, bool, error) {
		id, err := locate(ctx, r, kind, name)
		if errors.Is(err, store.ErrNotFound) {
			return 0, false, nil
		}
		return id, err == nil, err
	}
}

// locate returns the number of a record of any kind that is neither hidden nor deleted, or
// store.ErrNotFound.
func locate(ctx context.Context, r store.Reader, kind, name string) (table.ID, error) {
	q := store.Query{Kind: kind, ID: key(name), Limit: 1}
	if table.IsCID(name) {
		q = store.Query{Kind: kind, Index: byCID, Value: name, Limit: 1}
	}
	for rec, err := range r.Scan(ctx, q) {
		if err != nil {
			return 0, err
		}
		digits := rec.ID
		for len(digits) > 1 && digits[0] == '0' { // keys have leading zeros
			digits = digits[1:]
		}
		id, ok := table.ParseID(digits)
		var base table.Base
		if !ok || rec.Damage != nil || json.Unmarshal(rec.Doc, &base) != nil || base.Away() {
			return 0, store.ErrNotFound
		}
		return id, nil
	}
	return 0, store.ErrNotFound
}

// Glance decodes some members of a record of any kind, such as its name; the zero value if
// the record does not exist.
func Glance[V any](ctx context.Context, r store.Reader, kind string, id table.ID) (v V, err error) {
	rec, err := r.Get(ctx, kind, id.Key())
	if errors.Is(err, store.ErrNotFound) || err == nil && (rec.Damage != nil || json.Unmarshal(rec.Doc, &v) != nil) {
		return *new(V), nil
	}
	return v, err
}

// Sampled gives a sample of a table the number, CID and times of a stored record.
func Sampled[T table.Row[T]](v T, at crud.Stamp) T {
	base := tableOf[T]().Base(&v)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(at.ID)) // Write of a hash never fails
	base.ID, base.Portal, base.CID = table.ID(sum.Sum32())+1, at.Org, table.NewCID(at.Now(), at.ID)
	base.CreatedAt, base.UpdatedAt = at.Now(), at.Now()
	return v
}

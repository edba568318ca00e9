package providers

import (
	"cmp"
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Shelf is the storage of products or plans for synchronisation.
type Shelf interface {
	// Kind returns which of the two it stores.
	Kind() sync.Kind
	// List returns the records of a provider in order of number, including hidden records,
	// and deleted ones until they are forgotten.
	List(ctx context.Context, r store.Reader, of table.ID) ([]sync.Record, error)
	// Store stores the new state of a record; see synchronise.Records.
	Store(ctx context.Context, w store.Writer, of table.ID, seen *sync.Record, r sync.Record, at crud.Stamp) error
	// Forget removes a deleted record from synchronisation.
	Forget(ctx context.Context, w store.Writer, of table.ID, r sync.Record) error
	// News returns the keys of records whose data about APIs differ from the dashboard's,
	// and Learn updates one of them.
	News(ctx context.Context, r store.Reader, of table.ID, apis sync.Index) ([]string, error)
	Learn(ctx context.Context, w store.Writer, key string, apis sync.Index) error
	// Count returns how many records a provider has.
	Count(ctx context.Context, r store.Reader, of table.ID) (int, error)
	// Clear deletes records of a provider for good, at most most; 0: all.
	Clear(ctx context.Context, w store.Writer, of table.ID, most int, at crud.Stamp) error
}

// Kept is a Shelf of records of one kind, which has the index ByProvider.
type Kept[T synchronise.Carrier[T]] struct {
	Of sync.Kind
	In *store.Kind[T]
	// Provider returns a pointer to the number of the provider in a record.
	Provider func(*T) *table.ID
	// Complete sets further members of a record that is made from a policy, such as
	// addresses; nil: none.
	Complete func(ctx context.Context, w store.Writer, v *T) error
	// Known returns a record with the dashboard's data about its APIs, and whether they
	// differ from the record's; nil: records store no such data.
	Known func(v T, apis sync.Index) (T, bool)
	// Gone runs before a record is deleted for good; nil: no other record names it.
	Gone func(ctx context.Context, w store.Writer, v T, at crud.Stamp) error
}

const byProvider = "provider"

// ByProvider is the index of a provider's records, and of one record by its CID. It
// includes deleted records.
func ByProvider[T table.Row[T]](of func(T) table.ID) store.Index[T] {
	return store.Index[T]{Name: byProvider, Values: func(v T) []string {
		id := of(v)
		if id == 0 {
			return nil
		}
		return []string{id.Key(), id.Key() + "/" + v.Table().Base(&v).CID}
	}}
}

// Kind implements Shelf.
func (k Kept[T]) Kind() sync.Kind { return k.Of }

// all returns the records with a value in the index, at most most; 0: all.
func (k Kept[T]) all(ctx context.Context, r store.Reader, value string, most int) ([]T, error) {
	return k.In.Values(ctx, r, store.Query{Index: byProvider, Value: value, Limit: most})
}

// List implements Shelf.
func (k Kept[T]) List(ctx context.Context, r store.Reader, of table.ID) ([]sync.Record, error) {
	all, err := k.all(ctx, r, of.Key(), 0)
	out := make([]sync.Record, 0, len(all))
	for _, v := range all {
		if r := v.Record(); !r.Deleted || r.Ref != (sync.Ref{}) || r.Agreed != nil {
			out = append(out, r)
		}
	}
	return out, err
}

// found returns the record with a CID, deleted or not. Another record may have taken the
// CID of a deleted one: the one that is not deleted wins.
func (k Kept[T]) found(ctx context.Context, r store.Reader, of table.ID, cid string) (out T, err error) {
	all, err := k.all(ctx, r, of.Key()+"/"+cid, 0)
	if err != nil || len(all) == 0 {
		return out, cmp.Or(err, k.In.Absent())
	}
	for _, v := range all {
		if v.Table().Base(&v).DeletedAt.IsZero() {
			return v, nil
		}
	}
	return all[0], nil
}

// Store implements Shelf.
func (k Kept[T]) Store(ctx context.Context, w store.Writer, of table.ID, seen *sync.Record, r sync.Record, at crud.Stamp) error {
	if seen == nil {
		var v T
		v = v.Take(r)
		*k.Provider(&v) = of
		if k.Complete != nil {
			if err := k.Complete(ctx, w, &v); err != nil {
				return err
			}
		}
		_, err := portal.Add(ctx, w, k.In, at, v)
		return err
	}
	v, err := k.found(ctx, w, of, r.CID)
	if err == nil && !v.Record().Equal(*seen) || fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.Stale, CodeMoved, "the %s %q has changed meanwhile", k.Of, seen.Terms.Name)
	}
	if err != nil {
		return err
	}
	t := v.Table()
	_, err = k.In.Edit(ctx, w, t.Base(&v).ID.Key(), nil, func(v T) (T, error) {
		v = v.Take(r)
		t.Base(&v).UpdatedAt = at.Now()
		return v, nil
	})
	return err
}

// CodeMoved is the fault code for a record that has changed since it was read.
const CodeMoved = "portal_provider.moved"

// Forget implements Shelf: the record stays deleted, and loses its policy.
func (k Kept[T]) Forget(ctx context.Context, w store.Writer, of table.ID, r sync.Record) error {
	v, err := k.found(ctx, w, of, r.CID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err == nil {
		_, err = k.In.Edit(ctx, w, v.Table().Base(&v).ID.Key(), nil, func(v T) (T, error) {
			r.Ref, r.Agreed = sync.Ref{}, nil
			return v.Take(r), nil
		})
	}
	return err
}

// News implements Shelf.
func (k Kept[T]) News(ctx context.Context, r store.Reader, of table.ID, apis sync.Index) (keys []string, err error) {
	if k.Known == nil {
		return nil, nil
	}
	all, err := k.all(ctx, r, of.Key(), 0)
	for _, v := range all {
		if _, news := k.Known(v, apis); news {
			keys = append(keys, k.In.ID(v))
		}
	}
	return keys, err
}

// Learn implements Shelf. It ignores deleted records.
func (k Kept[T]) Learn(ctx context.Context, w store.Writer, key string, apis sync.Index) error {
	_, err := k.In.Edit(ctx, w, key, nil, func(v T) (T, error) {
		v, _ = k.Known(v, apis)
		return v, nil
	})
	return fault.AbsentFine(err)
}

// Count implements Shelf.
func (k Kept[T]) Count(ctx context.Context, r store.Reader, of table.ID) (int, error) {
	return r.Count(ctx, store.Query{Kind: k.In.Name, Index: byProvider, Value: of.Key()})
}

// Clear implements Shelf.
func (k Kept[T]) Clear(ctx context.Context, w store.Writer, of table.ID, most int, at crud.Stamp) error {
	gone, err := k.all(ctx, w, of.Key(), most)
	for _, v := range gone {
		if err == nil && k.Gone != nil {
			err = k.Gone(ctx, w, v, at)
		}
		if err == nil {
			_, err = k.In.Delete(ctx, w, k.In.ID(v), nil)
		}
	}
	return err
}

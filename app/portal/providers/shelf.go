package providers

import (
	"cmp"
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Shelf is where products, or plans, are kept.
type Shelf interface {
	// Kind says which of both.
	Kind() sync.Kind
	// List returns what is kept of a provider in order of number, hidden and deleted
	// records too.
	List(ctx context.Context, r store.Reader, of table.ID) ([]sync.Record, error)
	// Store stores what synchronisation wants of a record; see synchronise.Records.
	Store(ctx context.Context, w store.Writer, of table.ID, seen *sync.Record, r sync.Record, at crud.Stamp) error
	// Forget removes a deleted record for good.
	Forget(ctx context.Context, w store.Writer, of table.ID, r sync.Record, at crud.Stamp) error
	// Clear removes all that is kept of a provider for good.
	Clear(ctx context.Context, w store.Writer, of table.ID, at crud.Stamp) error
}

// Item is a product, or a plan, as a Shelf sees it. Of a record that synchronisation has
// hidden, DeletedAt is set like that of a deleted one, so that no operation shows it:
// Record must say Hidden and not Deleted then. Take says nothing about DeletedAt.
type Item[T any] interface {
	table.Row[T]
	Record() sync.Record
	Take(r sync.Record) T
}

// Kept is a Shelf of records of one kind, which has the index ByProvider.
type Kept[T Item[T]] struct {
	Of sync.Kind
	In *store.Kind[T]
	// Provider points to the number of the provider in a record.
	Provider func(*T) *table.ID
	// Begin prepares a record that a policy brings; nil: the zero one will do.
	Begin func(ctx context.Context, w store.Writer, v *T) error
	// Gone runs when a record is removed for good, before it is; nil: nothing else
	// names it.
	Gone func(ctx context.Context, w store.Writer, v T, at crud.Stamp) error
}

const byProvider = "provider"

// ByProvider is the index by which a Shelf finds what it keeps of a provider: all of it,
// and one record by its CID. Deleted records are in it, too.
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

func (k Kept[T]) all(ctx context.Context, r store.Reader, value string) (out []T, err error) {
	for v, err := range k.In.Find(ctx, r, store.Query{Index: byProvider, Value: value}) {
		if err != nil {
			return nil, err
		}
		out = append(out, v.Value)
	}
	return out, nil
}

// List implements Shelf.
func (k Kept[T]) List(ctx context.Context, r store.Reader, of table.ID) ([]sync.Record, error) {
	all, err := k.all(ctx, r, of.Key())
	out := make([]sync.Record, 0, len(all))
	for _, v := range all {
		out = append(out, v.Record())
	}
	return out, err
}

// found returns the record with a CID, deleted or not. Another one may have taken the CID
// of a deleted record: the one that is not deleted comes first.
func (k Kept[T]) found(ctx context.Context, r store.Reader, of table.ID, cid string) (out T, err error) {
	all, err := k.all(ctx, r, of.Key()+"/"+cid)
	if err != nil || len(all) == 0 {
		return out, cmp.Or(err, k.In.Absent())
	}
	for _, v := range all {
		if !v.Table().Base(&v).Deleted() {
			return v, nil
		}
	}
	return all[0], nil
}

// Store implements Shelf.
func (k Kept[T]) Store(ctx context.Context, w store.Writer, of table.ID, seen *sync.Record, r sync.Record, at crud.Stamp) error {
	if seen == nil {
		return k.add(ctx, w, of, r, at)
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
		base := t.Base(&v)
		base.UpdatedAt = at.Now()
		switch {
		case r.Hidden && !base.Deleted():
			base.DeletedAt = at.Now()
		case seen.Hidden && !r.Hidden && !r.Deleted:
			base.DeletedAt = time.Time{}
		}
		return v, nil
	})
	return portal.Taken[T](err)
}

// CodeMoved is the code of the fault for a record that has changed since it was seen.
const CodeMoved = "portal_provider.moved"

// add stores what a policy has brought, under the CID that it names if that is free.
func (k Kept[T]) add(ctx context.Context, w store.Writer, of table.ID, r sync.Record, at crud.Stamp) error {
	var v T
	if k.Begin != nil {
		if err := k.Begin(ctx, w, &v); err != nil {
			return err
		}
	}
	v = v.Take(r)
	base := v.Table().Base(&v)
	*k.Provider(&v) = of
	if r.CID != "" {
		_, taken, err := portal.Resolver(ctx, w)(v.Table().Kind, r.CID)
		if err != nil {
			return err
		}
		if !taken {
			base.CID = r.CID
		}
	}
	_, err := portal.Add(ctx, w, k.In, at, v)
	return err
}

// Forget implements Shelf.
func (k Kept[T]) Forget(ctx context.Context, w store.Writer, of table.ID, r sync.Record, at crud.Stamp) error {
	v, err := k.found(ctx, w, of, r.CID)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return k.remove(ctx, w, v, at)
}

// Clear implements Shelf.
func (k Kept[T]) Clear(ctx context.Context, w store.Writer, of table.ID, at crud.Stamp) error {
	all, err := k.all(ctx, w, of.Key())
	for _, v := range all {
		if err == nil {
			err = k.remove(ctx, w, v, at)
		}
	}
	return err
}

func (k Kept[T]) remove(ctx context.Context, w store.Writer, v T, at crud.Stamp) error {
	if k.Gone != nil {
		if err := k.Gone(ctx, w, v, at); err != nil {
			return err
		}
	}
	_, err := k.In.Delete(ctx, w, v.Table().Base(&v).ID.Key(), nil)
	return err
}

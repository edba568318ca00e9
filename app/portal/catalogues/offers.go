package catalogues

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// byCatalogue is the index of records by their catalogues.
const byCatalogue = "catalogue"

// Index returns the index of a kind's records by their catalogues.
func Index[T any](of func(T) []table.ID) store.Index[T] {
	return store.Index[T]{Name: byCatalogue, Values: func(v T) (out []string) {
		for _, id := range of(v) {
			out = append(out, id.Key())
		}
		return out
	}}
}

// Offers are the records of a kind in catalogues: products or plans. The records
// themselves store their catalogues, so that a hidden record returns to its place.
type Offers interface {
	kind() string
	list(ctx context.Context, r store.Reader, catalogue table.ID) ([]offer, error)
	put(ctx context.Context, w store.Writer, at crud.Stamp, catalogue table.ID, before, now []table.ID) error
	drop(ctx context.Context, w store.Writer, catalogue table.ID) error
}

type offer struct {
	id   table.ID
	name string
}

// offers implements Offers for a kind that has Index.
type offers[T table.Row[T]] struct {
	of   *store.Kind[T]
	name func(T) string
	in   func(*T) *[]table.ID
}

// OffersOf returns the Offers of a kind that has Index, given the name of a record and
// the list of its catalogues.
func OffersOf[T table.Row[T]](kind *store.Kind[T], name func(T) string, in func(*T) *[]table.ID) Offers {
	return offers[T]{kind, name, in}
}

func (o offers[T]) kind() string { return o.of.Name }

// list returns the visible records of a catalogue, in order of number.
func (o offers[T]) list(ctx context.Context, r store.Reader, catalogue table.ID) (out []offer, err error) {
	var zero T
	for v, err := range o.of.Find(ctx, r, store.Query{Index: byCatalogue, Value: catalogue.Key()}) {
		if err != nil {
			return nil, err
		}
		if base := zero.Table().Base(&v.Value); !base.Away() {
			out = append(out, offer{base.ID, o.name(v.Value)})
		}
	}
	return out, nil
}

// put sets the visible records of a catalogue. Hidden records stay as they are.
func (o offers[T]) put(ctx context.Context, w store.Writer, at crud.Stamp, catalogue table.ID, before, now []table.ID) error {
	in := func(list []table.ID) map[table.ID]bool {
		out := make(map[table.ID]bool, len(list))
		for _, id := range list {
			out[id] = true
		}
		return out
	}
	had, has := in(before), in(now)
	for _, id := range slices.Concat(before, now) {
		was, is := had[id], has[id]
		if was == is {
			continue
		}
		_, err := portal.Edit(ctx, w, o.of, id, at, func(v T) (T, error) {
			held := o.in(&v)
			*held = slices.DeleteFunc(slices.Clone(*held), func(c table.ID) bool { return c == catalogue })
			if is {
				*held = append(*held, catalogue)
			}
			return v, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// drop removes all records from a deleted catalogue, also hidden ones.
func (o offers[T]) drop(ctx context.Context, w store.Writer, catalogue table.ID) error {
	gone, err := o.of.Values(ctx, w, store.Query{Index: byCatalogue, Value: catalogue.Key()})
	if err != nil {
		return err
	}
	for _, v := range gone {
		_, err := o.of.Edit(ctx, w, o.of.ID(v), nil, func(v T) (T, error) {
			held := o.in(&v)
			*held = slices.DeleteFunc(slices.Clone(*held), func(c table.ID) bool { return c == catalogue })
			return v, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

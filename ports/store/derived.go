package store

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/integrity"
)

// Rederived returns a record with the keys and references that this program gives to its
// value, and whether it had others: a program with other indexes stored it, and it is not
// found by the new ones. Keys of indexes that the kind does not have stay. Whether a value
// must be unique counts for nothing here: that is a rule for new values.
func (k *Kind[T]) Rederived(r Record) (out Record, others bool, err error) {
	v, err := k.Decode(r)
	if err != nil {
		return r, false, err
	}
	out = Record{Org: r.Org, Kind: r.Kind, ID: r.ID, Rev: r.Rev, Doc: r.Doc, Serial: r.Serial, memo: &memo{}}
	out.Keys, out.Refs = k.derived(v)
	now, had := out.Keys, make([]Key, 0, len(r.Keys))
	for _, key := range r.Keys {
		if slices.ContainsFunc(k.Indexes, func(ix Index[T]) bool { return ix.Name == key.Index }) {
			had = append(had, key)
		} else {
			out.Keys = append(out.Keys, key)
		}
	}
	alike := func(a, b Key) bool { return a.Index == b.Index && a.Value == b.Value && a.Sorted == b.Sorted }
	same := func(a, b integrity.Ref) bool { return a == b }
	return out, !within(now, had, alike) || !within(had, now, alike) || !within(out.Refs, r.Refs, same) || !within(r.Refs, out.Refs, same), nil
}

// within reports whether each item of a list has its like in another one.
func within[E any](list, other []E, alike func(a, b E) bool) bool {
	for _, e := range list {
		if !slices.ContainsFunc(other, func(o E) bool { return alike(e, o) }) {
			return false
		}
	}
	return true
}

// derived returns what a value is found by, and what it refers to.
func (k *Kind[T]) derived(v T) (keys []Key, refs []integrity.Ref) {
	for _, ix := range k.Indexes {
		for _, val := range ix.Values(v) {
			keys = append(keys, Key{Index: ix.Name, Value: val, Unique: ix.Unique, Sorted: ix.Sorted, Across: ix.Unique && ix.Across})
		}
	}
	if k.Refs != nil {
		for _, r := range k.Refs(v) { // those of a client may name anything, also what no back end can index
			r.Target.ID, r.Field = Indexed(r.Target.ID), Indexed(r.Field)
			refs = append(refs, r)
		}
	}
	return keys, refs
}

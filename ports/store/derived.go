package store

import (
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/integrity"
)

// Rederived returns a record with the keys and references that this program gives to its
// value, and whether it had others: a program with other indexes stored it, and it is not
// found by the new ones. Keys of indexes that the kind does not have stay. Whether a value
// must be unique counts for nothing here: that is a rule for new values.
func (k *Kind[T]) Rederived(r Record) (out Record, others bool, err error) {
	v, err := k.load(r) // kept by no reader: a start must not keep the values of all records in memory
	if err != nil {
		return r, false, err
	}
	out = Record{Org: r.Org, Kind: r.Kind, ID: r.ID, Rev: r.Rev, Doc: r.Doc, Serial: r.Serial, memo: &memo{}}
	out.Keys, out.Refs = k.derived(v)
	now, had := map[any]bool{}, map[any]bool{} // keys and references, as far as they can differ
	for _, key := range out.Keys {
		now[likeness{key.Index, key.Value, key.Sorted}] = true
	}
	for _, key := range r.Keys {
		if slices.ContainsFunc(k.Indexes, func(ix Index[T]) bool { return ix.Name == key.Index }) {
			had[likeness{key.Index, key.Value, key.Sorted}] = true
		} else {
			out.Keys = append(out.Keys, key)
		}
	}
	for _, ref := range out.Refs {
		now[ref] = true
	}
	for _, ref := range r.Refs {
		had[ref] = true
	}
	return out, !maps.Equal(now, had), nil
}

// likeness is what two keys that count as the same have in common.
type likeness struct {
	index, value string
	sorted       bool
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

package store

import (
	"bytes"
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
)

// Edit rewrites one resource if the condition holds. fn returns the new value and does not
// change its argument. Members of the record that this version does not know stay: a newer
// version may have written them.
func (k *Kind[T]) Edit(ctx context.Context, w Writer, name string, when Condition, fn func(T) (T, error)) (T, error) {
	v, err := k.Revise(ctx, w, name, when, fn)
	return v.Value, err
}

// roomToGrow is the number of bytes by which most edits lengthen a document at most.
const roomToGrow = 128

// Revise is Edit for callers that need the serial.
func (k *Kind[T]) Revise(ctx context.Context, w Writer, name string, when Condition, fn func(T) (T, error)) (Stored[T], error) {
	old, err := k.find(ctx, w, name)
	if err != nil {
		return Stored[T]{}, k.explain(err, name)
	}
	if when != nil {
		if err := when(old.Serial); err != nil {
			return Stored[T]{}, err
		}
	}
	return k.revise(ctx, w, old, name, fn)
}

// Replace stores a new form of a resource in the place of the one with its ID. Aliases are
// not looked at: clients choose them, and another resource may have chosen this ID.
func (k *Kind[T]) Replace(ctx context.Context, w Writer, v T) error {
	id := k.ID(v)
	old, err := w.Get(ctx, k.Name, id)
	if err != nil {
		return k.explain(err, id)
	}
	_, err = k.revise(ctx, w, old, id, func(T) (T, error) { return v, nil })
	return err
}

// revise rewrites a stored record. name is what errors call it.
func (k *Kind[T]) revise(ctx context.Context, w Writer, old Record, name string, fn func(T) (T, error)) (Stored[T], error) {
	var zero Stored[T]
	value := k.load // a private copy
	if k.Shared {
		value = k.Decode
	}
	v, err := value(old)
	if err != nil {
		return zero, err
	}
	was, err := k.text(v, len(old.Doc))
	if err != nil {
		return zero, err
	}
	if bytes.Equal(was, old.Doc) { // almost always equal: no unknown members to keep, and one text less in memory
		was = old.Doc
	}
	if v, err = fn(v); err != nil {
		return zero, err
	}
	rec, err := k.encode(v, old.Rev, len(old.Doc)+roomToGrow)
	if err != nil {
		return zero, err
	}
	if rec.Doc, err = doc.Keep(old.Doc, was, rec.Doc); err != nil {
		return zero, err
	}
	at, err := k.put(ctx, w, rec, v, name)
	if err != nil {
		return zero, err
	}
	return Stored[T]{Value: v, Serial: at}, nil
}

// Delete removes one resource if the condition holds. It returns the deleted value, or the
// zero value of a damaged one. A resource to which others refer (integrity.Restrict) stays: a
// Conflict fault.
func (k *Kind[T]) Delete(ctx context.Context, w Writer, name string, when Condition) (T, error) {
	var zero T
	rec, err := k.find(ctx, w, name)
	if err != nil {
		return zero, k.explain(err, name)
	}
	if when != nil {
		if err := when(rec.Serial); err != nil {
			return zero, err
		}
	}
	target := integrity.Target{Kind: k.Name, ID: rec.ID}
	for holder, err := range w.Referrers(ctx, target) {
		if err != nil {
			return zero, err
		}
		for _, ref := range holder.Refs {
			if ref.Target == target && ref.OnDelete == integrity.Restrict {
				return zero, fault.New(fault.Conflict, k.Name+".in_use", "%s is in use by %s '%s'", noun(k.Noun, k.Name), holder.Kind, holder.ID)
			}
		}
	}
	v, err := k.Decode(rec)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return v, err
	}
	return v, k.explain(w.Delete(ctx, k.Name, rec.ID), name)
}

package contents

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// byFile is the index of records by the files that they name.
const byFile = "file"

// Index returns this index for a kind.
func Index[T any](place func(T) file.Place) store.Index[T] {
	return store.Lookup(byFile, func(v T) string { return place(v).Name })
}

// Source reports whether a record names a file.
type Source func(ctx context.Context, r store.Reader, name string) (bool, error)

// Of returns the Source of a kind with Index.
func Of[T any](k *store.Kind[T]) Source {
	return func(ctx context.Context, r store.Reader, name string) (bool, error) {
		for _, err := range k.Find(ctx, r, store.Query{Index: byFile, Value: name}) {
			return err == nil, err
		}
		return false, nil
	}
}

// How often unnamed files are searched, their minimum age (files of running requests
// are younger), and how many are deleted at a time.
const (
	every = time.Hour
	age   = time.Hour
	most  = 1000
)

// Sweeper deletes files that no record names. Several processes may run it at once.
type Sweeper struct {
	crud.Tools
	Shelf
	Scope   tenant.Scope // of the portal; the zero Scope: there is none
	Sources []Source
}

// Run sweeps periodically, until ctx ends.
func (s *Sweeper) Run(ctx context.Context) error {
	if s.Scope.IsZero() || !s.Storage.Apart() {
		return nil
	}
	s.Now = system.Steady(s.Now)
	return crud.Every(ctx, every, func() {
		if n, err := s.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("files that no record names could not be removed; the next attempt follows in an hour", "error", err)
		} else if n > 0 {
			s.Log.Info("removed files that no record names", "files", n)
		}
	})
}

// Sweep deletes the files that no record names, and returns how many.
func (s *Sweeper) Sweep(ctx context.Context) (n int, err error) {
	if s.Scope.IsZero() || !s.Storage.Apart() {
		return 0, nil
	}
	var gone []file.Kept
	if err := s.Store.View(ctx, s.Scope, func(r store.Reader) (err error) {
		gone, err = s.unnamed(ctx, r)
		return err
	}); err != nil {
		return 0, err
	}
	for _, k := range gone {
		if err = s.Storage.Drop(ctx, k.Name); err != nil {
			break
		}
		n++
	}
	if n == 0 {
		return 0, err
	}
	_, failed := s.Store.Update(own(ctx), s.Scope, func(w store.Writer) error {
		for _, k := range gone[:n] {
			if _, err := kind.Delete(ctx, w, k.ID, nil); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = failed
	}
	return n, err
}

// unnamed returns the files of the minimum age that no record names.
func (s *Sweeper) unnamed(ctx context.Context, r store.Reader) (out []file.Kept, err error) {
	old := s.Now().Add(-age)
	for v, err := range kind.Find(ctx, r, store.Query{}) {
		if err != nil || len(out) == most {
			return out, err
		}
		if v.Value.At.After(old) {
			continue
		}
		named := false
		for _, source := range s.Sources {
			if named, err = source(ctx, r, v.Value.Name); err != nil {
				return nil, err
			}
			if named {
				break
			}
		}
		if !named {
			out = append(out, v.Value)
		}
	}
	return out, nil
}

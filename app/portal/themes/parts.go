package themes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// partSize is how much of an archive is in one record where archives are kept in the store. Each
// part is stored by itself, before the archive that names it: a unit of work holds what it writes
// several times over, and the writes of others wait for its end.
const partSize = 512 << 10

// parts are the records of archives. Those of one upload are a set.
var parts = &store.Kind[theme.Part]{
	Name: theme.PartKind, Noun: "part of a theme",
	ID:  func(p theme.Part) string { return partID(p.Set, p.Number) },
	Org: func(p theme.Part) tenant.ID { return p.Portal },
	Indexes: []store.Index[theme.Part]{store.Lookup(byPlace, func(p theme.Part) string {
		if p.Number == 0 {
			return first
		}
		return ""
	})},
}

// The index of parts finds the first one of each set, which comes first and goes last.
const (
	byPlace = "place"
	first   = "first"
)

// orphaned is the age from which a set that no archive names is one that an upload has left.
const orphaned = time.Hour

func partID(set string, n int) string { return fmt.Sprintf("%s-%05d", set, n) }

// own attributes units of work to the keeping of files, of which audit trails tell nothing.
func own(ctx context.Context) context.Context {
	return store.Attribute(ctx, store.Attribution{Actor: contents.Operation, Operation: contents.Operation})
}

// cut stores a content in parts, and returns the archive that names them.
func (s *Service) cut(ctx context.Context, scope tenant.Scope, a theme.Archive) (theme.Archive, error) {
	if len(a.Data) == 0 {
		return a, nil
	}
	a.Set = s.NewID()
	for piece := range slices.Chunk(a.Data, partSize) {
		p := theme.Part{Set: a.Set, Portal: a.Portal, Number: a.Parts, At: s.Now(), Data: piece}
		if _, err := s.Store.Update(own(ctx), scope, func(w store.Writer) error { return parts.Insert(ctx, w, p) }); err != nil {
			s.drop(ctx, scope, a)
			return a, err
		}
		a.Parts++
	}
	a.Data = nil
	return a, nil
}

// drop removes the parts of an archive that no record names, the first one last. What it leaves is
// found by sweep.
func (s *Service) drop(ctx context.Context, scope tenant.Scope, a theme.Archive) {
	ctx = context.WithoutCancel(ctx)
	for n := a.Parts - 1; n >= 0; n-- {
		_, err := s.Store.Update(own(ctx), scope, func(w store.Writer) error {
			_, err := parts.Delete(ctx, w, partID(a.Set, n), nil)
			return err
		})
		if err != nil && fault.KindOf(err) != fault.NotFound {
			s.Log.WarnContext(ctx, "a part of a theme that was replaced could not be removed; the next upload tries again", "org_id", string(scope.Org()), "error", err)
			return
		}
	}
}

// sweep removes the parts of uploads that did not come to their end.
func (s *Service) sweep(ctx context.Context, scope tenant.Scope) error {
	var left []theme.Archive
	err := s.Store.View(ctx, scope, func(r store.Reader) error {
		left = nil
		named := map[string]bool{}
		for a, err := range archives.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			named[a.Value.Set] = true
		}
		for p, err := range parts.Find(ctx, r, store.Query{Index: byPlace, Value: first}) {
			if err != nil {
				return err
			}
			if v := p.Value; !named[v.Set] && s.Now().Sub(v.At) > orphaned {
				n := 1
				for ; ; n++ {
					if _, err := r.Get(ctx, theme.PartKind, partID(v.Set, n)); err != nil {
						break
					}
				}
				left = append(left, theme.Archive{Set: v.Set, Parts: n})
			}
		}
		return nil
	})
	for _, a := range left {
		s.drop(ctx, scope, a)
	}
	return err
}

// joined returns the content of an archive that is kept in the store: in parts, or whole, as older
// versions wrote it.
func joined(ctx context.Context, r store.Reader, a theme.Archive) ([]byte, error) {
	if a.Parts == 0 {
		return a.Data, nil
	}
	out := make([]byte, 0, a.Parts*partSize)
	for n := range a.Parts {
		p, err := parts.Get(ctx, r, partID(a.Set, n))
		if err != nil {
			return nil, err
		}
		out = append(out, p.Value.Data...)
	}
	return out, nil
}

package apis

import (
	"context"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Places in which APIs refer to other APIs.
const (
	inRoutes   = "api_definition.definition.versions."
	inUpstream = "api_definition.proxy.target_url"
)

// uses yields the APIs that an API refers to.
func uses(a apidef.API) iter.Seq[crud.Use] {
	return func(yield func(crud.Use) bool) {
		for _, id := range a.ChildIDs() {
			if !yield(crud.Use{Target: integrity.Target{Kind: apidef.Kind, ID: id}, Where: inRoutes + routeTo(a, id)}) {
				return
			}
		}
		if id := a.Source(); id != "" {
			yield(crud.Use{Target: integrity.Target{Kind: apidef.Kind, ID: id}, Where: inUpstream})
		}
	}
}

// routeTo returns the version name under which a base routes to an API, the first one
// in alphabetical order.
func routeTo(a apidef.API, id string) string {
	var names []string
	for name, child := range a.Children() {
		if child == id {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// findAPIs yields the APIs that refer to an API, by index.
func findAPIs(ctx context.Context, r store.Reader, t crud.Target) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		if t.Kind != apidef.Kind {
			return
		}
		for _, id := range t.IDs {
			for _, index := range []string{ByChild, BySource} {
				for a, err := range Kind.Find(ctx, r, store.Query{Index: index, Value: store.Indexed(id)}) {
					if !yield(referenceTo(a.Value, index, id), err) || err != nil {
						return
					}
				}
			}
		}
	}
}

func referenceTo(a apidef.API, index, id string) store.Reference {
	ref := store.Reference{Kind: apidef.Kind, Where: inUpstream}
	if a.ID() == "" {
		return ref // there was an error
	}
	ref.ID, ref.Name = a.APIID(), a.Name()
	if index == ByChild {
		ref.Where = inRoutes + routeTo(a, id)
	}
	return ref
}

// Referrers returns the records that refer to an API, except APIs that the caller of a
// family of operations must not see.
func (s *Repository) Referrers(ctx context.Context, scope tenant.Scope, who operation.Principal, class apidef.Class, id string) ([]store.Reference, error) {
	return s.References.Of(ctx, s.Store, scope, crud.Viewer{Who: who, Door: permission(class)}, func(r store.Reader) (crud.Target, error) {
		a, err := s.Get(ctx, r, id, s.Viewer(who, class, access.Read))
		if err != nil {
			return crud.Target{}, err
		}
		return crud.TargetFrom(s.Kind, a.Value), nil
	})
}

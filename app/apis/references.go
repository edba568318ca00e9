package apis

import (
	"context"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Where APIs name other APIs.
const (
	inRoutes   = "api_definition.definition.versions."
	inUpstream = "api_definition.proxy.target_url"
)

// uses yields the APIs that an API names.
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

// routeTo returns the first version name, in order, under which a base routes to an API.
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

// findAPIs finds the APIs that name an API, by index.
func findAPIs(ctx context.Context, r store.Reader, t crud.Target) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		if t.Kind != apidef.Kind {
			return
		}
		for _, id := range t.IDs {
			for _, index := range []string{byChild, bySource} {
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
	if index == byChild {
		ref.Where = inRoutes + routeTo(a, id)
	}
	return ref
}

// exampleReferences is for the API description.
var exampleReferences = []store.Reference{
	{Kind: "policy", ID: "gold", Name: "Gold", Where: "access_rights.orders"},
	{Kind: "clientidp", ID: "corp", Name: "Corporate login", Where: "api_mappings.orders"},
}

// ListReferences returns who names an API.
func (s Classic) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	return s.references(ctx, in, apidef.Classic)
}

// ListReferences returns who names an MCP proxy.
func (s MCP) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	if _, _, err := s.find(ctx, in, apidef.MCP); err != nil {
		return nil, err
	}
	return s.references(ctx, in, apidef.MCP)
}

// references returns who names an API, apart from APIs that the caller must not see.
func (l *Library) references(ctx context.Context, in byID, door apidef.Class) ([]store.Reference, error) {
	return l.References.Of(ctx, l.Store, in.Scope, crud.Viewer{Who: in.Who, Door: doorOf(door)}, func(r store.Reader) (crud.Target, error) {
		a, err := l.get(ctx, r, in.ID, l.viewerOf(door, in.Who, access.Read))
		if err != nil {
			return crud.Target{}, err
		}
		return crud.TargetFrom(l.kind, a.Value), nil
	})
}

// rehearsable lets calls of a row that writes ask what it would do.
func (l *Library) rehearsable() operation.Option { return operation.Rehearsable(l.References.Onlooker) }

package policies

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// where names the place of an API in a policy.
const where = "access_rights."

// Source is what policies name: the APIs they give access to. Where owners of these
// make a difference, others do not see the policies.
func Source(apis *store.Kind[apidef.API], ownership bool) crud.Source {
	s := crud.SourceOf(Kind, policy.Policy.Name, func(p policy.Policy) iter.Seq[crud.Use] {
		return func(yield func(crud.Use) bool) {
			for _, id := range p.APIs() {
				if !yield(crud.Use{Target: integrity.Target{Kind: apidef.Kind, ID: id}, Where: where + id}) {
					return
				}
			}
		}
	}, func(v crud.Viewer) crud.Seeing[policy.Policy] {
		viewer := apiViewer(v.Who, ownership)
		if viewer.All {
			return nil
		}
		d := &definitions{kind: apis, known: map[string]*apidef.API{}}
		return func(ctx context.Context, r store.Reader, p policy.Policy) (bool, error) {
			return d.visible(ctx, r, p, viewer)
		}
	})
	s.Find = find
	return s
}

// find finds the policies that give access to an API, by index.
func find(ctx context.Context, r store.Reader, t crud.Target) iter.Seq2[store.Reference, error] {
	return func(yield func(store.Reference, error) bool) {
		if t.Kind != apidef.Kind {
			return
		}
		for _, id := range t.IDs {
			for p, err := range naming(ctx, r, id) {
				ref := store.Reference{Kind: policy.Kind, Where: where + id}
				if err == nil {
					ref.ID, ref.Name = p.Value.PolicyID(), p.Value.Name()
				}
				if !yield(ref, err) || err != nil {
					return
				}
			}
		}
	}
}

// exampleReferences is for the API description.
var exampleReferences = []store.Reference{
	{Kind: "clientidp", ID: "corp", Name: "Corporate login", Where: "api_mappings.orders.scope_to_policy.read"},
}

// ListReferences returns who names a policy: APIs that give it to tokens, and
// identity providers.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	if err := s.checkPath(in.ID); err != nil {
		return nil, err
	}
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Policies}, func(r store.Reader) (crud.Target, error) {
		p, err := s.get(ctx, r, in, s.definitions())
		if err != nil {
			return crud.Target{}, err
		}
		return crud.TargetFrom(Kind, p.Value), nil
	})
}

package policies

import (
	"context"
	"iter"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// where is the prefix of the place of an API in a policy.
const where = "access_rights."

// find yields the policies that give access to an API, by index.
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

// ListReferences returns the records that refer to a policy: APIs that give it to
// tokens, and identity providers.
func (s *Service) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	if err := s.checkPath(in.ID); err != nil {
		return nil, err
	}
	return s.References.Of(ctx, s.Store, in.Scope, crud.Viewer{Who: in.Who, Door: access.Policies}, func(r store.Reader) (crud.Target, error) {
		p, err := s.get(ctx, r, in)
		if err != nil {
			return crud.Target{}, err
		}
		return crud.TargetFrom(Kind, p.Value), nil
	})
}

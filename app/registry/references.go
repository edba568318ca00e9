package registry

import (
	"context"
	"iter"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/api/apidef"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/policy"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// uses yields the APIs and policies in the mappings. Gateways know APIs only by api_id
// and policies only by id (docs/wire/client-idps.md#references).
func uses(p registry.IdP) iter.Seq[crud.Use] {
	return func(yield func(crud.Use) bool) {
		for api, m := range p.APIMappings.All() {
			where := "api_mappings." + api
			if !yield(crud.Use{Target: integrity.Target{Kind: apidef.Kind, ID: api}, Where: where, Exact: true}) {
				return
			}
			for scope, id := range m.All() {
				if !yield(crud.Use{Target: integrity.Target{Kind: policy.Kind, ID: id}, Where: where + ".scope_to_policy." + scope, Exact: true}) {
					return
				}
			}
		}
	}
}

// references returns the references between all kinds or, without them, only those of
// identity providers.
func (s *ClientIDPs) references() *crud.References {
	if s.References == nil {
		return crud.NewReferences(Registration())
	}
	return s.References
}

// Report is the response with the mappings that lead nowhere.
type Report struct {
	Dangling []store.Reference `json:"dangling" doc:"Mappings whose API or policy does not exist, is hidden from the caller, or is named by an identifier that gateways do not know."`
}

// Examples for the API description.
var (
	exampleReferences = []store.Reference{
		{Kind: apidef.Kind, ID: "orders", Name: "Orders", Where: "api_mappings.orders"},
		{Kind: policy.Kind, ID: "gold", Name: "Gold", Where: "api_mappings.orders.scope_to_policy.read"},
	}
	exampleReport = Report{Dangling: []store.Reference{{Kind: registry.Kind, ID: "corp", Name: "Corporate login",
		Where: "api_mappings.orders.scope_to_policy.orders:write", To: &integrity.Target{Kind: policy.Kind, ID: "platinum"}}}}
)

// ListReferences returns the records that an identity provider refers to. No record
// refers to an identity provider.
func (s *ClientIDPs) ListReferences(ctx context.Context, in byID) ([]store.Reference, error) {
	out := []store.Reference{}
	p, err := s.get(ctx, in)
	if err != nil {
		return out, err
	}
	err = crud.Inside(ctx, s.Store, p.Value.OrgID, func(r store.Reader) error { // where its identifiers mean something
		rec, err := r.Get(ctx, registry.Kind, p.Value.ID)
		if err != nil {
			return err
		}
		found, err := store.Collect(s.references().Named(ctx, r, crud.Viewer{Who: in.Who, Door: access.APIs}, rec))
		out = append(out, found...)
		return err
	})
	return out, err
}

type reportIn struct {
	Scope tenant.Scope
	Who   operation.Principal
}

// ReportDangling returns the mappings of all identity providers whose API or policy
// does not exist. They are allowed, because the API or policy may be created later.
func (s *ClientIDPs) ReportDangling(ctx context.Context, in reportIn) (out Report, err error) {
	out.Dangling = []store.Reference{}
	orgs := []tenant.ID{in.Scope.Org()}
	if in.Scope.All() { // a user without organisation gets those of all organisations
		orgs = nil
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			for p, err := range clientIDPs.Find(ctx, r, store.Query{}) {
				if err != nil {
					return err
				}
				orgs = append(orgs, p.Value.OrgID)
			}
			return nil
		})
		slices.Sort(orgs)
		orgs = slices.Compact(orgs)
	}
	for _, org := range orgs {
		if err != nil {
			break
		}
		err = crud.Inside(ctx, s.Store, org, func(r store.Reader) error {
			found, err := store.Collect(s.references().Dangling(ctx, r, crud.Viewer{Who: in.Who, Door: access.APIs}, registry.Kind))
			out.Dangling = append(out.Dangling, found...)
			return err
		})
	}
	return out, err
}

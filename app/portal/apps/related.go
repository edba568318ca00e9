package apps

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// related are the operations that show the records that an access request refers to.
func (s *Service) related() []operation.Row {
	offered := catalogues.Resource(products.Offers(), plans.Offers)
	user := s.Persons.UserResource()
	return []operation.Row{
		leads(s, "user", func(ctx context.Context, r store.Reader, req request.Request) (people.ShownUser, error) {
			return shownOf(ctx, r, people.Users, req.UserID, user.Show)
		}, people.ShownUser{ListedUser: people.ListedUser{ID: 7, Active: true, Email: "ada@example.com", First: "Ada", OrganisationID: 1, Role: "consumer-team-member", Provider: "password"}, Teams: &[]people.TeamOfUser{}}, operation.Redact("JWTToken")),
		leads(s, "plan", func(ctx context.Context, r store.Reader, req request.Request) (out plans.Shown, err error) {
			return shownOf(ctx, r, plans.Kind, req.PlanID, plans.Resource(nil).Show)
		}, plans.Shown{ID: 1, ProviderID: 1, Name: "free_plan", Catalogues: []table.ID{1}, MetaData: json.RawMessage("{}")}),
		leads(s, "catalogue", func(ctx context.Context, r store.Reader, req request.Request) (catalogues.Shown, error) {
			return shownOf(ctx, r, catalogues.Kind, req.CatalogueID, offered.Show)
		}, catalogues.Shown{Listed: catalogues.Listed{ID: 1, Name: "Public Catalogue", NameWithSlug: "public-catalogue", VisibilityStatus: "Public"}, Products: []string{}, Plans: []string{"free_plan"}, OrgCatalogues: []catalogues.Viewer{}}),
		leads(s, "client", func(ctx context.Context, r store.Reader, req request.Request) (Shown, error) {
			return shownOf(ctx, r, Kind, req.AppID, s.show)
		}, Shown{Listed{2, "Checkout", "", "", 7, "personal", "2026-01-02 03:04:05"}, []Within{exampleWithin}}),
	}
}

// leads returns one of these operations.
func leads[V any](s *Service, name string, to func(context.Context, store.Reader, request.Request) (V, error), example V, opts ...operation.Option) operation.Row {
	return operation.GET(name, "/{access_request_id}/"+name, "Fetch the "+name+" of an access request", func(ctx context.Context, in requestNamed) (out V, err error) {
		err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
			req, err := portal.Find(ctx, r, Requests, in.ID)
			if err == nil {
				out, err = to(ctx, r, req)
			}
			return err
		})
		return out, err
	}, append(opts, operation.Example(nil, example))...)
}

// shownOf returns a record by its number.
func shownOf[T table.Row[T], V any](ctx context.Context, r store.Reader, k *store.Kind[T], id table.ID, show func(context.Context, store.Reader, T) (V, error)) (out V, err error) {
	v, err := portal.Find(ctx, r, k, id.String())
	if err != nil {
		return out, err
	}
	return show(ctx, r, v)
}

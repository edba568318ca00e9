package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// adminStyle is how the admin surface answers (contract dashboard.md 2.1, 29).
func adminStyle(list string, faults map[string]operation.Answer) operation.Style {
	all := map[string]operation.Answer{
		operation.CodeEmptyBody: {Status: 500, Text: "Failed to read response body, body empty"},
		operation.CodeMalformed: {Status: 403, Text: "Request body malformed"},
	}
	for code, a := range faults {
		all[code] = a
	}
	return operation.Style{Word: "OK", ListKey: list, Faults: all}
}

// Organisations is what the super-admin does with organisations.
type Organisations struct{ *Service }

var exampleOrg = identity.Organisation{
	ID: "5f1a0c5d8e3b2a1f00000001", OwnerName: "Example Ltd", OwnerSlug: "example", CNameEnabled: true, CName: "portal.example.com",
	APIs: []identity.LinkedAPI{}, EventOptions: map[string]identity.EventRecipient{}, AdditionalPermissions: map[string]string{},
}

// Operations lists the rows of contract dashboard.md 29 that exist so far.
func (s Organisations) Operations() []operation.Operation {
	return operation.Group{
		Surface: operation.Admin, Name: "admin.organisations", Path: "/admin/organisations", Tag: "Organisations",
		Style: adminStyle("organisations", map[string]operation.Answer{
			identity.OrganisationKind + ".not_found": {Text: "Could not retrieve org detail"},
		}),
	}.Rows(
		operation.GET("list", "", "List organisations", s.List,
			operation.Example(nil, map[string]any{"organisations": []any{exampleOrg}, "pages": 1})),
		operation.POST("create", "", "Create an organisation", s.Create,
			operation.Faulting(identity.OrganisationKind+".taken", identity.OrganisationKind+".id"),
			operation.Example(map[string]any{"owner_name": "Example Ltd", "owner_slug": "example", "cname_enabled": true, "cname": ""},
				map[string]any{"Status": "OK", "Message": "Org created", "Meta": "5f1a0c5d8e3b2a1f00000001"})),
		operation.GET("get", "/{orgID}", "Fetch an organisation", s.Get, operation.Faulting(identity.OrganisationKind+".not_found"), operation.Example(nil, exampleOrg)),
	)
}

type listIn struct{ operation.Paging }

// List returns a page of organisations.
func (s Organisations) List(ctx context.Context, in listIn) (out operation.Page[identity.Organisation], err error) {
	err = s.Store.View(ctx, tenant.Everyone("list organisations"), func(r store.Reader) error {
		out, err = operation.List(ctx, organisations, r, in.Paging, s.PageSize)
		return err
	})
	return out, err
}

type createOrgIn struct {
	Draft identity.OrganisationDraft `body:""`
}

// Create makes an organisation; an ID in the body is honoured.
func (s Organisations) Create(ctx context.Context, in createOrgIn) (operation.Receipt, error) {
	o, err := identity.NewOrganisation(tenant.ID(s.NewID()), in.Draft)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := s.insert(ctx, o)
	return operation.Receipt{Message: "Org created", Meta: string(o.ID), Tag: operation.Tag(at)}, err
}

func (s *Service) insert(ctx context.Context, o identity.Organisation) (store.Serial, error) {
	scope, err := tenant.Of(o.ID)
	if err != nil {
		return 0, err
	}
	return store.Write(ctx, s.Store, scope, func(w store.Writer) (store.Serial, error) { return organisations.Create(ctx, w, o) })
}

type orgIn struct {
	ID string `path:"orgID" doc:"Identifier of the organisation."`
}

// Get returns one organisation.
func (s Organisations) Get(ctx context.Context, in orgIn) (operation.Entity[identity.Organisation], error) {
	o, err := s.Organisation(ctx, tenant.ID(in.ID))
	return operation.Entity[identity.Organisation]{Value: o.Value, Tag: operation.Tag(o.Serial)}, err
}

// Rules returns the rules an organisation has of its own, or "" (contract
// dashboard.md 5.2).
func (s *Service) Rules(ctx context.Context, id tenant.ID) (string, error) {
	o, err := s.Organisation(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return o.Value.OpenPolicy.Rules, err
}

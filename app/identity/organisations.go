package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// adminStyle is how the admin surface answers.
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

// Organisations is what there is to organisations. The super-admin keeps them, and an
// ID in the body of a new one is honoured.
var Organisations = crud.Resource[identity.Organisation, identity.OrganisationDraft]{
	Facts: crud.Facts[identity.Organisation]{
		Kind: organisations,
		Sample: func(at crud.Stamp) (identity.Organisation, error) { // its ID is that of the organisation
			return identity.NewOrganisation(at.Org, identity.OrganisationDraft{OwnerName: "Example Ltd"})
		},
	},
	Group: operation.Group{
		Surface: operation.Admin, Name: "admin.organisations", Path: "/admin/organisations", Tag: "Organisations",
		Style: adminStyle("organisations", map[string]operation.Answer{
			identity.OrganisationKind + ".not_found": {Text: "Could not retrieve org detail"},
		}),
	},
	Words: crud.Words{One: "an organisation", Many: "organisations", Created: "Org created", Param: "orgID", ParamDoc: "Identifier of the organisation."},
	New: func(at crud.Stamp, d identity.OrganisationDraft) (identity.Organisation, error) {
		return identity.NewOrganisation(tenant.ID(at.ID), d)
	},
	Draft:  map[string]any{"owner_name": "Example Ltd", "owner_slug": "example", "cname_enabled": true, "cname": "portal.example.com"},
	Faults: []string{identity.OrganisationKind + ".id"},
	Rows: func(o crud.Operations[identity.Organisation, identity.OrganisationDraft]) []operation.Row {
		return []operation.Row{o.List(), o.Insert(), o.Get()}
	},
}

func (s *Service) insert(ctx context.Context, o identity.Organisation) (store.Serial, error) {
	scope, err := tenant.Of(o.ID)
	if err != nil {
		return 0, err
	}
	return store.Write(ctx, s.Store, scope, func(w store.Writer) (store.Serial, error) { return organisations.Create(ctx, w, o) })
}

// Rules returns the rules an organisation has of its own, or "".
func (s *Service) Rules(ctx context.Context, id tenant.ID) (string, error) {
	o, err := s.Organisation(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return o.Value.OpenPolicy.Rules, err
}

package identity

import (
	"cmp"
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// adminStyle returns the response style of the admin surface.
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

// organisationRows makes the operations on organisations.
type organisationRows struct {
	crud.Operations[identity.Organisation, identity.OrganisationDraft]
	purged Purged
}

// Purged removes from gateways what belongs to a deleted organisation.
type Purged func(ctx context.Context, scope tenant.Scope) error

var missingOrganisation = identity.OrganisationKind + ".not_found"

// RulesCheck returns an error for a text that cannot be the rules of an organisation.
type RulesCheck func(ctx context.Context, org tenant.ID, text string) error

// Organisations returns the resource of organisations. Only the super-admin writes
// them, and the body of a new organisation may have its ID. Rules that check refuses
// are not stored; nil: all are stored. purged removes from gateways what deleted
// organisations have there; nil: nothing is removed.
func Organisations(check RulesCheck, purged Purged) crud.Resource[identity.Organisation, identity.OrganisationDraft] {
	r := organisationResource
	r.Rows = func(o crud.Operations[identity.Organisation, identity.OrganisationDraft]) []operation.Row {
		// Rules can hold secrets, and fewer people may read them than the trail.
		rows, hidden := organisationRows{o, purged}, operation.Redact("rules")
		return []operation.Row{
			o.List(),
			o.Insert(hidden),
			operation.POST("import", "/import", "Import an organisation", rows.Import, hidden,
				operation.Faulting(o.Faults...), operation.Rehearsable(o.References.Onlooker),
				operation.Notes("The identifier in the body is kept, so that imported records match the organisation. An existing organisation with this identifier is replaced as a whole."),
				operation.Example(map[string]any{"id": exampleOrg, "owner_name": "Example Ltd"}, map[string]any{"Status": "OK", "Message": "Org imported", "Meta": exampleOrg})),
			o.Get(),
			o.Edit(hidden,
				operation.Notes("The organisation is replaced as a whole; absent members become empty. The identifier cannot be changed."),
				operation.Answers(map[string]operation.Answer{
					missingOrganisation:     {Status: 403, Text: "Failed to update Org object to DB"},
					operation.CodeEmptyBody: {Status: 500, Text: "Failed to read request body, body empty"},
				})),
			operation.DELETE("delete", "/{orgID}", "Delete an organisation", rows.Remove,
				operation.Faulting(missingOrganisation, codePurge), operation.Rehearsable(o.References.Onlooker),
				operation.Notes("The users of the organisation cannot log in, and their access keys stop working. Its other records remain but cannot be reached, and gateways continue to serve its APIs. "+
					"With purge these records are deleted as well, in batches of a hundred, and then the keys, certificates and limits at gateways. If the request ends early, send it again; it continues even when the organisation itself is already deleted."),
				operation.Example(nil, map[string]any{"Status": "OK", "Message": "Org deleted", "Meta": nil})),
			operation.POST("generate-portals", "/{orgID}/generate-portals", "Refuse to create the APIs of a classic portal", rows.Portals,
				operation.Alone(), operation.Refuses(404), operation.Faulting(codePortals),
				operation.Notes("There is no classic portal. The response is always 404 for any body, and nothing is stored."),
				operation.Example(nil, map[string]any{"Status": "Error", "Message": noPortals, "Meta": nil})),
		}
	}
	if check == nil {
		return r
	}
	r.Prepare = func(ctx context.Context, c *crud.Change[identity.Organisation, identity.OrganisationDraft]) error {
		return check(ctx, cmp.Or(c.Draft.ID, tenant.ID(c.ID)), c.Draft.OpenPolicy.Rules)
	}
	return r
}

var organisationResource = crud.Resource[identity.Organisation, identity.OrganisationDraft]{
	Facts: crud.Facts[identity.Organisation]{
		Kind: organisations, Name: func(o identity.Organisation) string { return o.OwnerName },
		Sample: func(at crud.Stamp) (identity.Organisation, error) { // the sample's ID is that of the organisation
			return identity.NewOrganisation(at.Org, identity.OrganisationDraft{OwnerName: "Example Ltd"})
		},
	},
	Group: operation.Group{
		Surface: operation.Admin, Name: "admin.organisations", Path: "/admin/organisations", Tag: "Organisations",
		Style: adminStyle("organisations", map[string]operation.Answer{missingOrganisation: {Text: "Could not retrieve org detail"}}),
	},
	Words: crud.Words{One: "an organisation", Many: "organisations", Created: "Org created", Updated: "Org updated", Deleted: "Org deleted",
		Param: "orgID", ParamDoc: "Identifier of the organisation."},
	New: func(at crud.Stamp, d identity.OrganisationDraft) (identity.Organisation, error) {
		return identity.NewOrganisation(tenant.ID(at.ID), d)
	},
	Replace: func(o identity.Organisation, d identity.OrganisationDraft, _ system.Clock) (identity.Organisation, error) {
		return o.Replace(d)
	},
	Draft:  map[string]any{"owner_name": "Example Ltd", "owner_slug": "example", "cname_enabled": true, "cname": "portal.example.com"},
	Faults: identity.OrganisationFaults,
}

type importIn struct {
	Scope tenant.Scope
	Draft identity.OrganisationDraft `body:""`
}

// Import creates an organisation, or replaces the one with the same ID.
func (o organisationRows) Import(ctx context.Context, in importIn) (operation.Receipt, error) {
	org, err := identity.NewOrganisation(tenant.ID(o.NewID()), in.Draft)
	if err == nil {
		err = org.Named()
	}
	if err == nil {
		err = o.Prepare(ctx, &crud.Change[identity.Organisation, identity.OrganisationDraft]{Op: store.Created, Scope: in.Scope, Draft: in.Draft})
	}
	if err != nil {
		return operation.Receipt{}, err
	}
	scope, err := tenant.Of(org.ID)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, o.Store, scope, func(w store.Writer) (store.Serial, error) {
		v, err := organisations.Revise(ctx, w, string(org.ID), nil, func(identity.Organisation) (identity.Organisation, error) { return org, nil })
		if fault.KindOf(err) == fault.NotFound {
			return organisations.Create(ctx, w, org)
		}
		return v.Serial, err
	})
	return operation.Receipt{Message: "Org imported", Meta: org.ID, Tag: operation.Tag(at)}, err
}

// Rules returns the rules that an organisation has of its own, or "".
func (s *Service) Rules(ctx context.Context, id tenant.ID) (string, error) {
	o, err := s.Organisation(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return o.Value.OpenPolicy.Rules, err
}

// codePortals is the code of the only answer to those who want the APIs of a portal.
const codePortals = identity.OrganisationKind + ".portals"

const noPortals = "Could not generate APIs"

type portalsIn struct {
	ID string `path:"orgID" doc:"Identifier of the organisation."`
}

// Portals says to jobs that set up a classic portal that it has no APIs here
// (docs/wire/classic-portal.md#what-jobs-send).
func (organisationRows) Portals(context.Context, portalsIn) (operation.Receipt, error) {
	return operation.Receipt{}, fault.New(fault.NotFound, codePortals, noPortals)
}

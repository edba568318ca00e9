package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// codePortals is the code of the only answer to those who want the APIs of a portal.
const codePortals = identity.OrganisationKind + ".portals"

// portals says to jobs that set up a classic portal that it has no APIs here
// (docs/wire/classic-portal.md#what-jobs-send).
func (o organisationRows) portals() operation.Row {
	return operation.POST("generate-portals", "/{orgID}/generate-portals", "Make the APIs of a classic portal", o.Portals,
		operation.Alone(), operation.Refuses(404), operation.Faulting(codePortals),
		operation.Notes("There is no classic portal: the answer is always 404, whatever the body says. Nothing is stored."),
		operation.Example(nil, map[string]any{"Status": "Error", "Message": noPortals, "Meta": nil}))
}

const noPortals = "Could not generate APIs"

type portalsIn struct {
	ID string `path:"orgID" doc:"Identifier of the organisation."`
}

// Portals refuses: there is no classic portal whose APIs could be made.
func (organisationRows) Portals(context.Context, portalsIn) (operation.Receipt, error) {
	return operation.Receipt{}, fault.New(fault.NotFound, codePortals, noPortals)
}

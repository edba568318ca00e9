package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

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

package app

import (
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/ports/secret"
)

// newIdPs knows the identity providers at which the portal registers clients.
func newIdPs(keys secret.Keys) *idps.Service { return idps.New(idps.Config{Keys: keys}) }

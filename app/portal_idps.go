package app

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newIdPs returns the service for the identity providers at which the portal registers
// clients. Each synchronisation also updates their entries at dashboards.
func newIdPs(b basics, p portalSettings, st store.Store, keys secret.Keys, d *providers.Service) *idps.Service {
	c := idps.Config{Tools: crud.Tools{Store: st, NewID: b.newID, Now: b.now, Log: b.log}, Keys: keys, Open: d.Open, Registrar: noRegistrar{}}
	if p.Portal != nil {
		c.Registry = p.Registry
		if p.Registrar != nil {
			c.Registrar = p.Registrar
		}
	}
	out := idps.New(c)
	d.Then = out.Synchronise
	return out
}

// noRegistrar reaches no identity provider.
type noRegistrar struct{}

func (noRegistrar) Discover(context.Context, registration.Place) (idp.Discovery, error) {
	return idp.Discovery{}, registration.ErrUntouched
}

func (noRegistrar) Register(context.Context, registration.Place, string, string, *doc.Node) (idp.Client, error) {
	return idp.Client{}, registration.ErrUntouched
}

func (noRegistrar) Read(context.Context, registration.Place, idp.Client) (idp.Client, error) {
	return idp.Client{}, registration.ErrUntouched
}

func (noRegistrar) Update(context.Context, registration.Place, idp.Client, *doc.Node) (idp.Client, error) {
	return idp.Client{}, registration.ErrUntouched
}

func (noRegistrar) Delete(context.Context, registration.Place, idp.Client) error {
	return registration.ErrUntouched
}

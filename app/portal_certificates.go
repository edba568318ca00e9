package app

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	certified "github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	portaltable "github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newManaged returns the service for certificates that administrators manage. In a
// synchronisation they are updated after identity providers, and before credentials.
func newManaged(b basics, st store.Store, d *providers.Service, _ *idps.Service, a *App) *certified.Service {
	s := certified.New(certified.Config{Tools: crud.Tools{Store: st, NewID: b.newID, Now: b.now, Log: b.log}, Open: d.Open, Used: apps.Needed, Follow: func(ctx context.Context, scope tenant.Scope, at portaltable.ID) error {
		return a.access.Recertify(ctx, scope, at)
	}})
	then := d.Then
	d.Then = func(ctx context.Context, scope tenant.Scope, at portaltable.ID) error {
		return errors.Join(then(ctx, scope, at), s.Synchronise(ctx, scope, at))
	}
	d.Clear = certified.Clear
	return s
}

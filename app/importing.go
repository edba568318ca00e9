package app

import (
	"context"
	"errors"
	"slices"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/apis/importing"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/app/transfer"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// carriers bring in what others keep, and what older versions stored.
type carriers struct {
	transfer *transfer.Service
	upgrade  *upgrade.Service
}

// transfers is the part of the graph that makes carriers.
var transfers = fx.Options(
	service[*transfer.Service](newTransfer),
	fx.Provide(newUpgrade),
	fx.Invoke(func(a *App, t *transfer.Service, u *upgrade.Service) { a.carriers = carriers{t, u} }),
)

func newTransfer(st store.Store, a *importing.Service, p *policies.Service, i *registry.ClientIDPs) *transfer.Service {
	return &transfer.Service{Store: st, APIs: a, Policies: p, IDPs: i, Organisations: func(ctx context.Context) ([]tenant.ID, error) {
		return organisations(ctx, st)
	}}
}

func newUpgrade(s basics, st store.Store, a *apis.Repository, ks crud.Kinds) *upgrade.Service {
	return &upgrade.Service{Store: st, APIs: a, Kinds: ks.Untyped(), Log: s.log}
}

func organisations(ctx context.Context, st store.Store) (out []tenant.ID, err error) {
	err = st.View(ctx, tenant.Everyone("list organisations"), func(r store.Reader) error {
		out = nil
		for rec, err := range r.Scan(ctx, store.Query{Kind: identity.OrganisationKind}) {
			if err != nil {
				return err
			}
			out = append(out, tenant.ID(rec.ID))
		}
		return nil
	})
	return out, err
}

// Errors of an import that does not say where to.
var (
	ErrNoOrganisation = errors.New("there is no such organisation")
	ErrOrganisations  = errors.New("there is not exactly one organisation")
)

// Organisation returns the organisation with an identifier or, if that is empty, the only
// one there is.
func (a *App) Organisation(ctx context.Context, name string) (tenant.ID, error) {
	all, err := organisations(ctx, a.store)
	switch id := tenant.ID(name); {
	case err != nil:
		return "", err
	case id != "" && !slices.Contains(all, id):
		return "", ErrNoOrganisation
	case id != "":
		return id, nil
	case len(all) == 1:
		return all[0], nil
	}
	return "", ErrOrganisations
}

// Import stores what a folder holds in an organisation, all of it or nothing.
func (a *App) Import(ctx context.Context, org tenant.ID, b transfer.Bundle, dryRun bool, progress transfer.Progress) (transfer.Report, error) {
	scope, err := tenant.Of(org)
	if err != nil {
		return transfer.Report{}, err
	}
	ctx = store.Attribute(ctx, store.Attribution{Actor: "import", Operation: "import"})
	return a.transfer.Import(ctx, scope, b, dryRun, progress)
}

// Upgrade brings what is stored up to the forms of this version
// (docs/wire/start.md#what-a-start-brings-up-to-date). Call it once at a start, after Start and before requests are answered.
func (a *App) Upgrade(ctx context.Context) (upgrade.Counts, error) { return a.upgrade.Run(ctx) }

// Reload tells gateways to load everything anew, as after a restore: they have what came after
// the backup, and no commit says that it is gone.
func (a *App) Reload(ctx context.Context) error {
	return reloadAll(ctx, a.store, "restore")
}

// reloadAll tells gateways to load everything again.
func reloadAll(ctx context.Context, st store.Store, why string) error {
	ctx = store.Attribute(ctx, store.Attribution{Actor: why, Operation: why})
	_, err := st.Update(ctx, tenant.Everyone(why), func(w store.Writer) error {
		return notify.Post(ctx, w, signal.CatchUp()...)
	})
	return err
}

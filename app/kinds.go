package app

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/policies"
	certified "github.com/gatehouse-io/gatehouse/app/portal/certificates"
	"github.com/gatehouse-io/gatehouse/app/portal/idps"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	users "github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/webhooks"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/app/resources/assets"
	"github.com/gatehouse-io/gatehouse/app/resources/classicportal"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/app/rulebook"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newKinds is the list of all kinds of resources. Facts about each kind are joined
// from it: references, announcements, feeds, operations. Its order is the one in which
// references and feeds are listed; a group of the graph would have none.
func newKinds(definitions Definitions, e embedded, p portalSettings, dashboards *providers.Service, receivers *webhooks.Service, persons *users.Service, own *live.Service, logins *idps.Service, certs *certified.Service, a *App) (crud.Kinds, error) {
	d := definitions.APIs
	all := crud.Kinds{}
	for _, r := range append([]crud.Registrar{
		apis.Registration(d),
		apis.Notices(d.Ownership),
		policies.Registration(apis.Kind, policySettings(definitions)),
		hooks.Registration(),
		assets.Resource,
		classicportal.Registration(),
		registry.Registration(),
		identity.Organisations(func(ctx context.Context, org tenant.ID, text string) error {
			return rulebook.Usable(ctx, a.checker, org, text)
		}, a.purged),
		identity.UserRegistration(),
		session.Registration(),
		identity.GroupRegistration(),
		session.NonceRegistration(),
		session.ResetRegistration(),
		session.Profiles,
		identity.AccountRegistration(),
		identity.UseRegistration(),
		delivery.Registration(),
		intents.Registration(keys.Teller()),
		keys.Crossings(),
		upgrade.Registration(),
	}, slices.Concat(audit.Registrations(), portalKinds(p, dashboards, receivers, persons, own, logins, certs, a), localRegistrations(), e.resources)...) {
		all = append(all, r.Registration())
	}
	if err := all.Check(); err != nil {
		return nil, &refusal{err}
	}
	return all, nil
}

// newResourceTools is what the use cases of resources are made of.
func newResourceTools(s basics, st store.Store, ks crud.Kinds, g *crud.References) crud.Tools {
	return crud.Tools{Store: st, NewID: s.newID, Now: s.now, Log: s.log, PageSize: s.pageSize, References: g, Signals: ks.Signals(), Kinds: ks.Purged()}
}

package app

import (
	"context"

	"go.uber.org/fx"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/keyhash"
	"github.com/gatehouse-io/gatehouse/adapters/gateway/local"
	"github.com/gatehouse-io/gatehouse/adapters/gzip"
	"github.com/gatehouse-io/gatehouse/adapters/openapi"
	"github.com/gatehouse-io/gatehouse/app/analytics"
	"github.com/gatehouse-io/gatehouse/app/apis"
	"github.com/gatehouse-io/gatehouse/app/audit"
	"github.com/gatehouse-io/gatehouse/app/certificates"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/delivery"
	"github.com/gatehouse-io/gatehouse/app/gateway"
	"github.com/gatehouse-io/gatehouse/app/governance"
	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/installation"
	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/app/keys"
	"github.com/gatehouse-io/gatehouse/app/oauth"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/app/past"
	"github.com/gatehouse-io/gatehouse/app/policies"
	"github.com/gatehouse-io/gatehouse/app/portal/apps"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/door"
	"github.com/gatehouse-io/gatehouse/app/portal/general"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/mails"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/sso"
	"github.com/gatehouse-io/gatehouse/app/portal/themes"
	"github.com/gatehouse-io/gatehouse/app/registry"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/app/reports"
	"github.com/gatehouse-io/gatehouse/app/resources/hooks"
	"github.com/gatehouse-io/gatehouse/app/rulebook"
	"github.com/gatehouse-io/gatehouse/app/schemas"
	"github.com/gatehouse-io/gatehouse/app/session"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// modules is the graph. A resource with rules of its own adds a service; a plain one is
// in the list of newKinds, and nowhere else.
var modules = fx.Options(
	service[*registry.ClientIDPs](func(t crud.Tools, l *apis.Repository, b transport) *registry.ClientIDPs {
		return &registry.ClientIDPs{Tools: t, Foreign: l.Foreign, Room: b.bodies()}
	}),
	service[identity.AdminUsers](func(s *identity.Service) identity.AdminUsers { return identity.AdminUsers{Service: s} }),
	service[identity.Users](func(s *identity.Service) identity.Users { return identity.Users{Service: s} }),
	service[*session.Service](func(s people, id *identity.Service) *session.Service { return session.New(id, s.sessions) }),
	service[identity.ServiceAccounts](func(s *identity.Service) identity.ServiceAccounts { return identity.ServiceAccounts{Service: s} }),
	service[identity.UserGroups](func(s *identity.Service, t crud.Tools) identity.UserGroups {
		return identity.UserGroups{Service: s, Tools: t}
	}),
	service[session.Held](func(s *session.Service) session.Held { return session.Held{Service: s} }),
	service[session.SSO](func(s *session.Service) session.SSO { return session.SSO{Service: s} }),
	service[session.Broker](func(s *session.Service) session.Broker { return session.Broker{Service: s} }),
	service[*door.Service](newDoor),
	service[*general.Service](newGeneral),
	service[*themes.Service](newThemes),
	service[*apps.Service](newApps),
	service[*sso.Service](newSignOn),
	fx.Provide(fx.Annotate(func(s *live.Service) []operation.Operation { return s.Operations() }, fx.ResultTags(`group:"operations,flatten"`))),
	fx.Provide(fx.Annotate(newShowcase, fx.ResultTags(`group:"operations,flatten"`))),
	definitions,
	service[*policies.Service](newPolicies),
	service[*keys.Service](newKeyService),
	service[*oauth.Service](newOAuth),
	service[*certificates.Service](newCertificates),
	service[*hooks.Service](func(t crud.Tools, a *apis.Repository) *hooks.Service {
		return &hooks.Service{Tools: t, Refresh: a.RefreshHook}
	}),
	service[*schemas.Service](func(v *openapi.Validator) *schemas.Service { return &schemas.Service{Schemas: v} }),
	service[*rulebook.Service](newRulebook),
	service[governance.Service](func() governance.Service { return governance.Service{} }),
	service[*outbound.Proxy](newProxy),
	service[*outbound.Debug](func(s outside) *outbound.Debug {
		return &outbound.Debug{Fetcher: s.fetcher, Gateway: s.gatewayAPI}
	}),
	service[*outbound.Examples](func(s outside) *outbound.Examples {
		return &outbound.Examples{Fetcher: s.fetcher, Allowed: s.examples}
	}),
	service[*audit.Service](newAudit),
	service[*past.Service](func(t crud.Tools, ks crud.Kinds, a *App) *past.Service {
		return past.New(t, ks, a.Operations) // which it asks for later only
	}),
	service[*relay.Recent](func(s announcing, st store.Store, ks crud.Kinds) *relay.Recent {
		return relay.NewRecent(st, ks.Signals(), len(s.sinks) > 0)
	}),
	service[*delivery.Service](newDeliveries),
	service[portalDeliveries](newPortalDeliveries),
	service[portalMails](newPortalMails),
	service[*intents.Service](newIntents),
	service[*installation.Service](newInstallation),
	service[*reports.Stats](newStats),
	service[*analytics.Service](func(b basics, o outside, a *apis.Repository) *analytics.Service {
		return &analytics.Service{Reader: o.traffic, APIs: a, PageSize: b.pageSize, Unmasked: o.unmasked}
	}),
	service[*reports.Notifications](func(c *certificates.Service) *reports.Notifications {
		return &reports.Notifications{Sources: []reports.Source{c}}
	}),
	service[*gateway.Nodes](newNodes),
	service[*gateway.Tokens](func(st store.Store) *gateway.Tokens { return &gateway.Tokens{Store: st} }),
	service[*health.Service](newHealth),
	fx.Provide(newStore, newKinds, func(ks crud.Kinds) *crud.References { return crud.NewReferences(ks...) }, newResourceTools, openapi.New, newKeys, newTools, newIdentity, newTable, newRules, newWorkshop, newChecker, newGuard, newSweeper, newHandler, newRelays, newProviders, newWebhooks, newMails, newPersons, newLive, newIdPs, newManaged, newGatewayControl, newCollector),
	transfers,
	fx.Invoke(prune),
	fx.Invoke(func(lc fx.Lifecycle, s *contents.Sweeper) { background(lc, s) }),
	fx.Invoke(func(a *App, o outside, k *keys.Service) {
		if o.control != nil {
			a.keys = k
		}
	}),
)

// service feeds the operations of a set of use cases into the table, and runs
// its background work if it has any.
func service[S operation.Service](ctor any) fx.Option {
	return fx.Options(
		fx.Provide(ctor, fx.Annotate(func(s S) []operation.Operation { return s.Operations() }, fx.ResultTags(`group:"operations,flatten"`))),
		fx.Invoke(func(lc fx.Lifecycle, s S) { background(lc, s) }),
	)
}

func newIdentity(b basics, s people, e embedded, st store.Store, keys secret.Keys, l *apis.Repository) *identity.Service {
	return &identity.Service{Store: st, Keys: keys, Passwords: s.passwords, NewID: b.newID, Now: b.now, Log: b.log,
		PageSize: b.pageSize, MultiOrg: s.multiOrg, AdminResets: s.adminResets, HideKeys: s.hideKeys, KeepKeys: s.keepKeys, RulesDecide: e.rules != nil, Preset: s.custom, Disown: l.Disown, Gains: l.Gains, EndSessions: session.EndAll, PasswordSettings: s.passwordSettings}
}

func newNodes(b basics, s nodes, o outside, who identity.Listeners, st store.Store, ks crud.Kinds) *gateway.Nodes {
	return gateway.New(gateway.Config{
		Store: st, Tokens: crypto.NewNodeTokens(s.nodeSecret), Now: b.now, Log: b.log, Board: s.board, Coding: &gzip.Coding{},
		Sources: ks.Feeds(),
		Crossed: func(ctx context.Context, t gateway.Trigger) error {
			c := keys.Crossing{Org: t.OrgID, Limit: t.Limit, Usage: t.Usage, Hashed: o.keyRules.Hashed, At: b.now()}
			if t.Key != "" {
				c.KeyHash = keyhash.Of(t.Key)
			}
			return keys.Crossed(ctx, st, who, c)
		},
	})
}

func newTools(s basics, st store.Store, a *App) Tools {
	return Tools{Store: st, Now: s.now, NewID: s.newID, Log: s.log, PageSize: s.pageSize, Operations: a.Operations, Get: a.get, Class: a.class}
}

// refusal is an error about what was passed in, told without what the graph adds.
type refusal struct{ error }

// newAudit makes the trail. It asks for operations only later, when the table is there.
func newAudit(s storage, t crud.Tools, a *App) (*audit.Service, error) {
	s.audit.Silent = []string{delivery.Operation, mails.Operation, intents.Operation, providers.Noting, local.Operation, contents.Operation, gateway.QuotaOperation, gateway.Catching, session.Using, session.Pruning, identity.Using}
	s.audit.Elsewhere = map[string]audit.Elsewhere{intent.Kind: intents.Written}
	trail, err := audit.New(s.audit, t, func(id string) *operation.Spec {
		if o := a.byID[id]; o != nil {
			return &o.Spec
		}
		return nil
	})
	if err != nil {
		return nil, &refusal{err}
	}
	a.trail = trail
	return trail, nil
}

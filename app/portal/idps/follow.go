package idps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// alarm logs that a registry could not be written; the next synchronisation tries again.
func (s *Service) alarm(ctx context.Context, scope tenant.Scope, of, at table.ID, err error) {
	if err != nil {
		s.Log.ErrorContext(ctx, "the registry of a dashboard could not be written; the next synchronisation tries again", "org_id", string(scope.Org()), "oauth_provider_id", int64(of), "provider_id", int64(at), "error", err)
	}
}

// announced updates all dashboards after a provider was stored or deleted. Errors are
// logged, and the next synchronisation tries again.
func (s *Service) announced(ctx context.Context, c *portal.Change[idp.Provider]) {
	ctx = context.WithoutCancel(ctx)
	if c.Op == store.Deleted {
		if done, ok := c.Memo.(ended); ok {
			s.withdraw(ctx, c.Scope, done)
		}
		s.alarm(ctx, c.Scope, c.Old.ID, 0, s.write(ctx, c.Scope, func(w store.Writer) error { // clients that could not be deleted at the provider
			left, err := find(ctx, w, clients, byIdP, c.Old.ID)
			for _, rec := range left {
				if err == nil {
					err = drop(ctx, w, clients, rec.Key())
				}
			}
			return err
		}))
	}
	if !s.Registry {
		return
	}
	var all []table.ID
	var gone []idp.Entry
	err := s.Store.View(ctx, c.Scope, func(r store.Reader) (err error) {
		if c.Op == store.Deleted {
			gone, err = find(ctx, r, entries, byIdP, c.Old.ID)
			return err
		}
		list, err := store.Collect(portal.All(ctx, r, providers.Kind, 0))
		all = nil
		for _, p := range list {
			all = append(all, p.ID)
		}
		return err
	})
	s.alarm(ctx, c.Scope, c.New.ID, 0, err)
	for _, e := range gone {
		s.alarm(ctx, c.Scope, e.IdP, e.Dashboard, s.remove(ctx, c.Scope, e))
	}
	var said asked
	if len(all) > 0 {
		said = s.ask(ctx, c.New)
	}
	for _, id := range all {
		s.alarm(ctx, c.Scope, c.New.ID, id, s.settle(ctx, c.Scope, c.New.ID, id, said))
	}
}

// Products adds hooks that update dashboards when approved products change.
func (s *Service) Products(hooks portal.Hooks[product.Product]) portal.Hooks[product.Product] {
	return portal.Announcing(hooks, func(ctx context.Context, c *portal.Change[product.Product]) {
		old, now := c.Old, c.New
		switch {
		case c.Op == store.Deleted:
			s.follow(ctx, c.Scope, byProduct, old.ID, old.ProviderID, true)
		case c.Op == store.Updated && (!slices.Equal(old.IDs(), now.IDs()) || !slices.Equal(old.ScopeList(), now.ScopeList()) || old.Ref != now.Ref):
			s.follow(ctx, c.Scope, byProduct, now.ID, now.ProviderID, false)
		}
	})
}

// Plans adds hooks that update dashboards when the plans of approvals change.
func (s *Service) Plans(hooks portal.Hooks[plan.Plan]) portal.Hooks[plan.Plan] {
	return portal.Announcing(hooks, func(ctx context.Context, c *portal.Change[plan.Plan]) {
		old, now := c.Old, c.New
		switch {
		case c.Op == store.Deleted:
			s.follow(ctx, c.Scope, byPlan, old.ID, old.ProviderID, true)
		case c.Op == store.Updated && (!slices.Equal(old.Scopes(), now.Scopes()) || old.Ref != now.Ref):
			s.follow(ctx, c.Scope, byPlan, now.ID, now.ProviderID, false)
		}
	})
}

// follow updates the mappings of entries that name a product or a plan. Approvals of a
// deleted one are deleted.
func (s *Service) follow(ctx context.Context, scope tenant.Scope, index string, id, at table.ID, deleted bool) {
	ctx = context.WithoutCancel(ctx)
	var all []idp.Approval
	err := s.Store.View(ctx, scope, func(r store.Reader) (err error) {
		all, err = find(ctx, r, approvals, index, id)
		return err
	})
	if err == nil && deleted && len(all) > 0 {
		err = s.write(ctx, scope, func(w store.Writer) error {
			for _, a := range all {
				if index != byProduct { // the product stays approved
					continue
				}
				if err := drop(ctx, w, approvals, a.Key()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	s.alarm(ctx, scope, 0, at, err)
	if !s.Registry {
		return
	}
	done := map[table.ID]bool{}
	for _, a := range all {
		if !done[a.IdP] {
			done[a.IdP] = true
			s.alarm(ctx, scope, a.IdP, at, s.settle(ctx, scope, a.IdP, at, asked{}))
		}
	}
}

package apps

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/provider"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Products adds hooks that update credentials when administrators change products:
// certificates are added to allow lists or removed, and policies of clients change. of
// returns the service, once it exists.
func Products(hooks portal.Hooks[productOf], of func() *Service) portal.Hooks[productOf] {
	hooks = portal.Announcing(hooks, func(ctx context.Context, c *portal.Change[productOf]) {
		s := of()
		if s == nil || c.Op != store.Updated || slices.Equal(c.Old.IDs(), c.New.IDs()) {
			return
		}
		if err := s.spread(context.WithoutCancel(ctx), c.Scope, c.New.ProviderID, c.New.ID, atOnce); err != nil {
			s.Log.ErrorContext(ctx, "certificates could not be put on the lists of all APIs of a product; the next synchronisation tries again", "org_id", string(c.Scope.Org()), "product_id", int64(c.New.ID), "error", err)
		}
	})
	hooks = rejecting(hooks, func(q request.Request, p productOf) bool { return slices.Contains(q.ProductIDs, p.ID) })
	return leading(hooks, of, func(p productOf) table.ID { return p.ProviderID })
}

// Plans adds the same hooks for plans.
func Plans(hooks portal.Hooks[planOf], of func() *Service) portal.Hooks[planOf] {
	hooks = rejecting(hooks, func(q request.Request, p planOf) bool { return q.PlanID == p.ID })
	return leading(hooks, of, func(p planOf) table.ID { return p.ProviderID })
}

// Providers adds hooks for deleted dashboards, whose products and plans are deleted as well.
func Providers(hooks portal.Hooks[provider.Provider]) portal.Hooks[provider.Provider] {
	return rejecting(hooks, func(q request.Request, p provider.Provider) bool { return q.ProviderID == p.ID })
}

// rejecting adds a hook that, when a plan or a product is deleted, rejects the access
// requests that wait for it, because they could never be approved. A running approval of
// such a request is undone.
func rejecting[T table.Row[T]](hooks portal.Hooks[T], waits func(request.Request, T) bool) portal.Hooks[T] {
	after := hooks.After
	hooks.After = func(ctx context.Context, w store.Writer, c *portal.Change[T]) error {
		if after != nil {
			if err := after(ctx, w, c); err != nil {
				return err
			}
		}
		if c.Op != store.Deleted {
			return nil
		}
		var lost []table.ID
		for q, err := range portal.All(ctx, w, Requests, 0) {
			if err != nil {
				return err
			}
			if q.Status == request.Pending && waits(q, c.Old) {
				lost = append(lost, q.ID)
			}
		}
		for _, id := range lost {
			_, err := portal.Edit(ctx, w, Requests, id, c.At, func(q request.Request) (request.Request, error) {
				q.Status = request.Rejected
				return q, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	return hooks
}

// leading adds a hook that updates the gateway clients of a product or a plan: each client
// has its own policy, which combines product and plan. at returns the provider of a record.
func leading[T synchronise.Carrier[T]](hooks portal.Hooks[T], of func() *Service, at func(T) table.ID) portal.Hooks[T] {
	return portal.Announcing(hooks, func(ctx context.Context, c *portal.Change[T]) {
		s, was := of(), c.Old.Record()
		if s == nil || c.Op == store.Created || c.Op == store.Updated && was.Equal(c.New.Record()) {
			return
		}
		id := c.Old.Table().Base(&c.Old).ID
		uses := func(c credential.Credential) bool {
			return was.Kind == sync.KindPlan && c.PlanID == id || was.Kind == sync.KindProduct && slices.Contains(c.Products, id)
		}
		if err := s.lead(context.WithoutCancel(ctx), c.Scope, at(c.Old), uses, atOnce); err != nil {
			s.Log.ErrorContext(ctx, "OAuth clients could not follow a product or a plan; the next synchronisation tries again", "org_id", string(c.Scope.Org()), "kind", was.Kind.String(), "id", int64(id), "error", err)
		}
	})
}

// every selects all credentials.
func every(credential.Credential) bool { return true }

// lead updates the gateway clients of a provider's credentials that are out of date. It
// continues after errors.
func (s *Service) lead(ctx context.Context, scope tenant.Scope, at table.ID, uses func(credential.Credential) bool, most int) error {
	late, err := s.behindOf(ctx, scope, at, uses)
	for _, id := range late[:min(len(late), most)] {
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		err = errors.Join(err, fault.AbsentFine(s.replace(ctx, scope, id, issuers.Spread, credential.Renewal{})))
	}
	return err
}

// behindOf returns the credentials whose clients are out of date.
func (s *Service) behindOf(ctx context.Context, scope tenant.Scope, at table.ID, uses func(credential.Credential) bool) (late []table.ID, err error) {
	issuer, known := s.Issuers[issuers.Client].(issuers.Clients)
	if !known {
		return nil, nil
	}
	var grants []*issuers.Grant
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		grants = nil
		for c, err := range portal.All(ctx, r, Credentials, 0) {
			if err != nil {
				return err
			}
			if c.ProviderID != at || c.Method != issuers.Client || !uses(c) {
				continue
			}
			g, err := s.held(ctx, r, c, true)
			if err == nil {
				err = issuer.Prepare(ctx, r, issuers.Spread, g)
			}
			if err != nil {
				return err
			}
			grants = append(grants, g)
		}
		return nil
	})
	if err != nil || len(grants) == 0 {
		return nil, err
	}
	p, err := s.Open(ctx, scope, at)
	var list []*doc.Node
	if err == nil {
		list, err = p.Dashboard.Policies(ctx)
	}
	policies := issuers.PoliciesOf(list)
	for _, g := range grants {
		behind := false
		if err == nil {
			behind, err = issuer.Behind(p, policies, g)
		}
		if behind {
			late = append(late, g.Credential)
		}
	}
	return late, err
}

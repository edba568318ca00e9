package idps

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// tell makes gateways accept tokens of the client for the products: through the
// dashboard's registry, or through the definitions of the APIs.
func (a acting) tell(ctx context.Context) error {
	if err := a.approve(ctx); err != nil {
		return err
	}
	scope, err := tenant.Of(a.org)
	switch {
	case err != nil:
	case a.Registry:
		err = a.settle(ctx, scope, a.memo.IdP, a.g.Provider, asked{})
	default:
		err = a.definitions(ctx, func(at dashboard.Registry, d dashboard.Definition, added idp.Added) error {
			if added.Empty() {
				return nil
			}
			return at.ReplaceDefinition(ctx, d)
		})
	}
	if err != nil && definite(err) {
		if failed := a.disapprove(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// approve records which products were approved under which plan.
func (a acting) approve(ctx context.Context) error {
	return a.update(ctx, func(w store.Writer) error {
		for _, p := range a.g.Products {
			v, _, err := get(ctx, w, approvals, idp.Approval{IdP: a.memo.IdP, Product: p.ID, Plan: a.g.Plan.ID}.Key())
			if err != nil {
				return err
			}
			v.Portal, v.IdP, v.Product, v.Plan = a.org, a.memo.IdP, p.ID, a.g.Plan.ID
			if slices.Contains(v.Claims, a.memo.Claim) {
				continue
			}
			if len(v.Claims) < maxClaims {
				v.Claims = append(v.Claims, a.memo.Claim)
			}
			if err := put(ctx, w, approvals, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxClaims is the maximum number of claims of an approval: beyond it, approvals can no
// longer be undone.
const maxClaims = 100

// untell reverts the changes that only this approval made in the registry. undefine
// reverts changes of definitions.
func (a acting) untell(ctx context.Context) error {
	err := a.disapprove(ctx)
	if err != nil || !a.Registry {
		return err
	}
	scope, err := tenant.Of(a.org)
	if err == nil {
		if failed := a.settle(ctx, scope, a.memo.IdP, a.g.Provider, asked{}); failed != nil {
			a.alarm(ctx, scope, a.memo.IdP, a.g.Provider, failed) // the next synchronisation repairs it
		}
	}
	return err
}

// disapprove reverts approve.
func (a acting) disapprove(ctx context.Context) error {
	known := map[any]bool{}
	for _, p := range a.g.Before {
		known[p.ID] = a.g.Earlier.ID == 0 // it was approved under another plan before
	}
	return a.update(ctx, func(w store.Writer) error {
		for _, p := range a.g.Products {
			if known[p.ID] {
				continue
			}
			v, there, err := get(ctx, w, approvals, idp.Approval{IdP: a.memo.IdP, Product: p.ID, Plan: a.g.Plan.ID}.Key())
			if err != nil {
				return err
			}
			if !there || !slices.Contains(v.Claims, a.memo.Claim) || len(v.Claims) == maxClaims {
				continue
			}
			v.Claims = slices.DeleteFunc(v.Claims, func(id string) bool { return id == a.memo.Claim })
			if len(v.Claims) == 0 {
				err = drop(ctx, w, approvals, v.Key())
			} else {
				err = put(ctx, w, approvals, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// look records what the definitions of the APIs lack, so that changes can be reverted. It
// fails, before anything is changed, if a definition cannot be changed as needed.
func (a acting) look(ctx context.Context) error {
	var m memo
	if err := json.Unmarshal(a.g.Memo, &m); err != nil || m.Added != nil {
		return err
	}
	m.Added = map[string]idp.Added{}
	err := a.definitions(ctx, func(_ dashboard.Registry, d dashboard.Definition, added idp.Added) error {
		m.Added[d.API] = added
		return nil
	})
	if err == nil {
		a.g.Memo, err = json.Marshal(m)
	}
	return err
}

// definitions adds the trust in the client's tokens to the definition of each API, and
// calls then with the additions.
func (a acting) definitions(ctx context.Context, then func(dashboard.Registry, dashboard.Definition, idp.Added) error) error {
	_, p, at, err := a.place(ctx)
	if err != nil {
		return err
	}
	d, err := a.Registrar.Discover(ctx, registration.Place{WellKnown: at.WellKnown, Insecure: at.Insecure})
	if err != nil {
		return explain(err)
	}
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	way, err := a.Open(ctx, scope, a.g.Provider)
	if err != nil {
		return err
	}
	for _, api := range issuers.APIs(a.g.Products) {
		trust := idp.Trust{JWKSURI: d.JWKSURI, Claim: p.ScopeClaim, Scopes: map[string]string{}}
		for _, product := range a.g.Products {
			if !slices.Contains(product.APIs, api) {
				continue
			}
			for _, s := range product.Scopes {
				trust.Scopes[s] = product.Policy
			}
		}
		for _, s := range a.g.Plan.Scopes {
			trust.Scopes[s] = a.g.Plan.Policy
		}
		def, err := way.Dashboard.Definition(ctx, api)
		if err != nil {
			return refused(err)
		}
		place, err := placeIn(def)
		if err != nil {
			return err
		}
		added, err := place.Add(trust)
		if err == nil {
			err = then(way.Dashboard, def, added)
		}
		if err != nil {
			return refused(err)
		}
	}
	return nil
}

func placeIn(d dashboard.Definition) (idp.Place, error) {
	if d.OAS {
		return idp.Document(d.API, d.Document)
	}
	return idp.Classic(d.API, d.Document.Get("api_definition"))
}

// undefine reverts the changes that tell made in definitions, except what another approval
// needs.
func (a acting) undefine(ctx context.Context) error {
	var m memo
	if err := json.Unmarshal(a.g.Memo, &m); err != nil {
		return err
	}
	scope, err := tenant.Of(a.org)
	if err != nil {
		return err
	}
	var want idp.Mappings
	err = a.view(ctx, func(r store.Reader) (err error) {
		want, err = wants(ctx, r, m.IdP, a.g.Provider)
		return err
	})
	if err != nil {
		return err
	}
	way, err := a.Open(ctx, scope, a.g.Provider)
	if fault.KindOf(err) == fault.NotFound { // a disconnected dashboard keeps it
		return nil
	}
	if err != nil {
		return err
	}
	for _, api := range slices.Sorted(maps.Keys(m.Added)) {
		if m.Added[api].Empty() {
			continue
		}
		d, err := way.Dashboard.Definition(ctx, api)
		if errors.Is(err, dashboard.ErrGone) {
			continue
		}
		if err != nil {
			return refused(err)
		}
		place, err := placeIn(d)
		if err != nil || !place.TakeBack(m.Added[api], want[api]) { // without JWT authentication the definition ignores all of it
			continue
		}
		if err := way.Dashboard.ReplaceDefinition(ctx, d); err != nil {
			return refused(err)
		}
	}
	return nil
}

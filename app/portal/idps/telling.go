package idps

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal/issuers"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/registration"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// tell makes gateways take tokens of the client for the products: by the registry of the
// dashboard, or by the definitions of the APIs.
func (a acting) tell(ctx context.Context) error {
	if err := a.approve(ctx); err != nil {
		return err
	}
	scope, err := a.scope()
	switch {
	case err != nil:
	case a.Registry:
		err = a.settle(ctx, scope, a.memo.IdP, a.g.Provider, nil)
	default:
		err = a.define(ctx)
	}
	if err != nil && definite(err) {
		if failed := a.disapprove(ctx); failed != nil {
			return failed
		}
	}
	return err
}

// approve notes which products were approved under which plan.
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

// maxClaims bounds the claims of an approval: with so many, none can be undone any more.
const maxClaims = 100

// untell takes back what only this approval has brought about. What a definition has got
// stays there: a scope opens nothing without a client that has it.
func (a acting) untell(ctx context.Context) error {
	err := a.disapprove(ctx)
	if err != nil || !a.Registry {
		return err
	}
	scope, err := a.scope()
	if err == nil {
		if failed := a.settle(ctx, scope, a.memo.IdP, a.g.Provider, nil); failed != nil {
			a.alarm(ctx, scope, a.memo.IdP, a.g.Provider, failed) // the next synchronisation repairs it
		}
	}
	return err
}

// disapprove takes back what approve has noted.
func (a acting) disapprove(ctx context.Context) error {
	known := map[any]bool{}
	for _, p := range a.g.Before {
		known[p.ID] = a.g.Earlier.ID == 0 // it was approved under another plan
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

// define writes the keys of the provider, and the scopes, into the definitions of the APIs.
func (a acting) define(ctx context.Context) error {
	_, p, at, err := a.place(ctx)
	if err != nil {
		return err
	}
	d, err := a.Registrar.Discover(ctx, registration.Place{WellKnown: at.WellKnown, Insecure: at.Insecure})
	if err != nil {
		return explain(err)
	}
	scope, err := a.scope()
	if err != nil {
		return err
	}
	way, err := a.Open(ctx, scope, a.g.Provider)
	if err != nil {
		return err
	}
	var trusts []idp.Trust
	for _, product := range a.g.Products {
		trust := idp.Trust{JWKSURI: d.JWKSURI, Claim: p.ScopeClaim, Scopes: map[string]string{}}
		for _, s := range product.Scopes {
			trust.Scopes[s] = product.Policy
		}
		for _, s := range a.g.Plan.Scopes {
			trust.Scopes[s] = a.g.Plan.Policy
		}
		trusts = append(trusts, trust)
	}
	// Of several APIs it is first found out whether all of them can get it: none is changed
	// for nothing.
	passes := []bool{false, true}
	if len(issuers.APIs(a.g.Products)) == 1 {
		passes = []bool{true}
	}
	for _, stored := range passes {
		for i, product := range a.g.Products {
			for _, api := range product.APIs {
				if err := write(ctx, way.Dashboard, api, trusts[i], stored); err != nil {
					return refused(err)
				}
			}
		}
	}
	return nil
}

// write writes the trust into one definition, unless it is there, and stores it if it is to
// be stored.
func write(ctx context.Context, at dashboard.Registry, api string, trust idp.Trust, stored bool) error {
	d, err := at.Definition(ctx, api)
	if err != nil {
		return err
	}
	changed := false
	if d.OAS {
		changed, err = trust.Document(api, d.Document)
	} else {
		changed, err = trust.Classic(api, d.Document.Get("api_definition"))
	}
	if err != nil || !changed || !stored {
		return err
	}
	return at.ReplaceDefinition(ctx, d)
}

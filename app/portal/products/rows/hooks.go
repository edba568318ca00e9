package rows

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/app/portal/tutorials"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/dashboard"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type change = portal.Change[product.Product]

// prepared is the dashboard's data, read before a product is stored.
type prepared struct {
	inner any // the memo of the policy's own hooks
	apis  sync.Index
}

// hooks are the hooks of records with a policy; in addition, the APIs of a product are
// first validated against those of the dashboard.
func hooks(providers synchronise.Providers) portal.Hooks[product.Product] {
	of := func(p product.Product) table.ID { return p.ProviderID }
	policy := synchronise.Hooks(products.Kind, providers, of)
	inside := func(fn func(context.Context, store.Writer, *change) error) func(context.Context, store.Writer, *change) error {
		return func(ctx context.Context, w store.Writer, c *change) error {
			memo, _ := c.Memo.(prepared)
			c.Memo = memo.inner
			err := fn(ctx, w, c)
			c.Memo = memo
			return err
		}
	}
	return portal.Hooks[product.Product]{
		Check: check, Turn: policy.Turn,
		Prepare: func(ctx context.Context, c *change) error {
			dial, apis, err := admitted(ctx, c, providers)
			if err != nil {
				return err
			}
			err = synchronise.Hooks(products.Kind, dial, of).Prepare(ctx, c)
			c.Memo = prepared{c.Memo, apis}
			return err
		},
		Failed: func(ctx context.Context, c *change) {
			memo, _ := c.Memo.(prepared)
			c.Memo = memo.inner
			policy.Failed(ctx, c)
		},
		Before: func(ctx context.Context, w store.Writer, c *change) (err error) {
			if err := inside(policy.Before)(ctx, w, c); err != nil || c.Op == store.Deleted {
				return err
			}
			if memo, _ := c.Memo.(prepared); memo.apis != nil {
				c.New, _ = c.New.Known(memo.apis)
			}
			c.New.IsDocumentationOnly = len(c.New.APIs) == 0
			c.New, err = products.Addressed(ctx, w, c.New)
			return err
		},
		After: func(ctx context.Context, w store.Writer, c *change) error {
			after := accompany
			if c.Op == store.Deleted {
				after = func(ctx context.Context, w store.Writer, c *change) error { return discard(ctx, w, c.Old, c.At) }
			}
			if err := after(ctx, w, c); err != nil {
				return err
			}
			return inside(policy.After)(ctx, w, c)
		},
	}
}

// accompany updates the documents of a product after a change.
func accompany(ctx context.Context, w store.Writer, c *change) error {
	if err := documents.Follow(ctx, w, c.Old, c.New); err != nil {
		return err
	}
	return documents.Declare(ctx, w, c.New, c.At)
}

// discard deletes a deleted product's own records.
func discard(ctx context.Context, w store.Writer, p product.Product, at crud.Stamp) error {
	for _, which := range []product.Picture{product.Logo, product.Preview} {
		if *p.File(which) == "" {
			continue
		}
		if _, err := images.Delete(ctx, w, product.ImageKey(p.ID, which), nil); err != nil {
			return err
		}
	}
	if err := documents.Forget(ctx, w, p.ID, at); err != nil {
		return err
	}
	return tutorials.Forget(ctx, w, p.ID, at)
}

// check checks a product against its old state and its type in the request.
func check(ctx context.Context, r store.Reader, c *change) error {
	wrong := table.Problems{}
	switch c.Op {
	case store.Deleted:
		return nil
	case store.Created:
		if c.New.IsDocumentationOnly && len(c.New.APIs) > 0 {
			wrong.Invalid("IsDocumentationOnly")
		}
	default:
		wrong = append(wrong, c.Old.Moved(c.New)...)
		wanted, _ := table.Text(c.Sent.Get("AuthType"))
		if known := c.Old.AuthTypes; !c.New.Record().Pending() && wanted != "" && wanted != c.Old.AuthType() && len(known) > 0 && !product.SameMethod(wanted, known) {
			wrong.Invalid("AuthType") // the APIs stay, and are validated against the word otherwise
		}
	}
	if claims := c.New.Claims(); !slices.Equal(claims, c.Old.Claims()) {
		free, err := portal.ScopesFree(ctx, r, claims, product.Kind, c.Old.ID)
		if err != nil {
			return err
		}
		if !free {
			wrong = append(wrong, "Scopes has already been taken")
		}
	}
	return wrong.Err()
}

// admitted returns the dashboards, with a product's APIs read, if a write concerns them
// and they may be part of a product.
func admitted(ctx context.Context, c *change, providers synchronise.Providers) (synchronise.Providers, sync.Index, error) {
	if c.Op == store.Deleted || !c.New.Record().Pending() || len(c.New.APIs) == 0 {
		return providers, nil, nil
	}
	p, err := providers(ctx, c.Scope, c.New.ProviderID)
	if err != nil {
		return nil, nil, err
	}
	list, err := p.Dashboard.APIs(ctx)
	if err != nil {
		return nil, nil, synchronise.Explain(err)
	}
	apis := sync.NewIndex(list)
	wrong := table.Problems(c.New.CheckAPIs(apis))
	wanted, _ := table.Text(c.Sent.Get("AuthType"))
	if c.Op == store.Updated && wanted == c.Old.AuthType() {
		wanted = "" // a value copied from an answer is ignored
	}
	if len(wrong) == 0 && wanted != "" && !product.SameMethod(wanted, apis[c.New.APIs[0].APIID].AuthTypes) {
		wrong.Invalid("AuthType")
	}
	p.Dashboard = looked{p.Dashboard, list}
	return func(context.Context, tenant.Scope, table.ID) (synchronise.Provider, error) { return p, nil }, apis, wrong.Err()
}

// looked is a dashboard whose APIs were just read.
type looked struct {
	dashboard.Dashboard
	apis []sync.API
}

// APIs implements dashboard.Dashboard.
func (l looked) APIs(context.Context) ([]sync.API, error) { return l.apis, nil }

package idps

import (
	"context"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/idp"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// fitting validates a client type against its provider. When it is deleted, fitting
// checks that it is not in use.
func fitting(ctx context.Context, r store.Reader, c *portal.Change[idp.ClientType]) error {
	if c.Op == store.Deleted {
		if c.Force {
			return nil
		}
		return free(ctx, r, "client type", c.Old)
	}
	p, err := portal.Find(ctx, r, Kind, c.New.ProviderID.String())
	if err != nil {
		return err
	}
	return c.New.For(p.Type).Err()
}

// settled normalises lists, and refuses a client type over the limit.
func settled(ctx context.Context, w store.Writer, c *portal.Change[idp.ClientType]) error {
	if c.Op == store.Deleted {
		return nil
	}
	c.New = c.New.Settled()
	if c.Op != store.Created {
		return nil
	}
	n, err := portal.Count(ctx, w, TypeKind, c.New.ProviderID)
	if err == nil && n >= idp.MaxTypes {
		err = fault.New(fault.Invalid, CodeMany, "there are too many client types (the maximum is %d)", idp.MaxTypes)
	}
	return err
}

// detached removes a deleted client type from products.
func detached(ctx context.Context, w store.Writer, c *portal.Change[idp.ClientType]) error {
	if c.Op != store.Deleted {
		return nil
	}
	if err := detach(ctx, w, c.Old.ID, c.At.Now()); err != nil {
		return err
	}
	done, err := reject(ctx, w, c.At, c.Old.ID)
	c.Memo = done
	return err
}

// detach removes a client type from products, also from hidden ones, which may return.
func detach(ctx context.Context, w store.Writer, id table.ID, now time.Time) error {
	all, err := products.Typed(ctx, w, id)
	if err != nil {
		return err
	}
	for _, p := range all {
		_, err := products.Kind.Edit(ctx, w, p.ID.Key(), nil, func(p product.Product) (product.Product, error) {
			p.Templates = slices.DeleteFunc(slices.Clone(p.Templates), func(t table.ID) bool { return t == id })
			p.UpdatedAt = now
			return p, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

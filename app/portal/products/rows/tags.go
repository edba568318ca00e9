package rows

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/tags"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Attached is a tag of a product.
type Attached struct {
	ID   table.ID `json:"ID"`
	Name string   `json:"Name"`
}

func attached(t tag.Tag) Attached { return Attached{t.ID, t.Name} }

// within is the input of operations on parts of a product.
type within struct {
	Scope tenant.Scope
	ID    string `path:"product_id" doc:"Number or CID of the product."`
}

type (
	listing struct {
		within
		portal.Page `params:""`
	}
	tagNamed struct {
		within
		Name string `path:"tag_name" doc:"Name of the tag."`
	}
	tagging struct {
		within
		Body table.Body[tag.Tag] `body:""`
	}
)

// family has the operations on parts of products.
type family struct {
	operations
	shelf     contents.Shelf
	maxUpload int64 // maximum size of a form with a picture, in bytes
}

// of returns the product in a path.
func of(ctx context.Context, r store.Reader, in within) (product.Product, error) {
	return portal.Find(ctx, r, products.Kind, in.ID)
}

// tagOfProduct returns the tag of a product with a name.
func tagOfProduct(ctx context.Context, r store.Reader, p product.Product, name string) (tag.Tag, error) {
	t, err := tags.ByName(ctx, r, name)
	if err == nil && !slices.Contains(p.Tags, t.ID) {
		err = tags.Kind.Absent()
	}
	return t, err
}

func (f family) tags(ctx context.Context, in listing) (out operation.Listing[Attached], err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := of(ctx, r, in.within)
		if err != nil {
			return err
		}
		var all []tag.Tag
		for _, id := range p.Tags {
			t, err := portal.Find(ctx, r, tags.Kind, id.String())
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			all = append(all, t)
		}
		out = portal.Excerpt(all, in.Page, attached)
		return nil
	})
	return out, err
}

func (f family) tag(ctx context.Context, in tagNamed) (out Attached, err error) {
	err = f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		p, err := of(ctx, r, in.within)
		if err != nil {
			return err
		}
		t, err := tagOfProduct(ctx, r, p, in.Name)
		out = attached(t)
		return err
	})
	return out, err
}

// update runs a write on a product: fn returns the new product.
func (f family) update(ctx context.Context, in within, fn func(context.Context, store.Writer, product.Product, crud.Stamp) (product.Product, error)) error {
	at := f.Stamp(in.Scope)
	_, err := f.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		p, err := of(ctx, w, in)
		if err != nil {
			return err
		}
		fresh, err := fn(ctx, w, p, at)
		if err != nil {
			return err
		}
		_, err = portal.Edit(ctx, w, products.Kind, p.ID, at, func(product.Product) (product.Product, error) { return fresh, nil })
		return err
	})
	return err
}

func (f family) attach(ctx context.Context, in tagging) (out Attached, err error) {
	err = f.update(ctx, in.within, func(ctx context.Context, w store.Writer, p product.Product, at crud.Stamp) (product.Product, error) {
		var t tag.Tag
		if err := in.Body.Apply(&t, true, portal.Resolver(ctx, w)); err != nil {
			return p, err
		}
		found, err := tags.ByName(ctx, w, t.Name)
		if fault.KindOf(err) == fault.NotFound {
			found, err = portal.Add(ctx, w, tags.Kind, at, t)
		}
		if err != nil {
			return p, err
		}
		out = attached(found)
		p.Tags, err = with(p.Tags, found.ID)
		return p, err
	})
	return out, err
}

// with adds an element to a list, unless it is in it.
func with(list []table.ID, id table.ID) ([]table.ID, error) {
	if slices.Contains(list, id) {
		return list, nil
	}
	if len(list) >= table.MaxList {
		return list, fault.New(fault.Invalid, table.CodeInvalid, "a product has %d of them at most", table.MaxList)
	}
	return append(slices.Clone(list), id), nil
}

// without removes an element from a list.
func without(list []table.ID, id table.ID) []table.ID {
	return slices.DeleteFunc(slices.Clone(list), func(v table.ID) bool { return v == id })
}

func (f family) detach(ctx context.Context, in tagNamed) (portal.Status, error) {
	return portal.Status{Status: "ok"}, f.update(ctx, in.within, func(ctx context.Context, w store.Writer, p product.Product, _ crud.Stamp) (product.Product, error) {
		t, err := tagOfProduct(ctx, w, p, in.Name)
		p.Tags = without(p.Tags, t.ID)
		return p, err
	})
}

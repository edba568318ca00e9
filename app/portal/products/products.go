// Package products stores and finds the products of the portal, for all other packages.
// The operations on products are in package rows.
package products

import (
	"cmp"
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/catalogues"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// byTag is the index of products by tag, byType that by client type. Both include hidden
// products.
const (
	byTag  = "tag"
	byType = "client-type"
)

// Kind is the kind of products.
var Kind = portal.KindOf(
	providers.ByProvider(func(p product.Product) table.ID { return p.ProviderID }),
	portal.ByScope(product.Product.Claims),
	catalogues.Index(func(p product.Product) []table.ID { return p.Catalogues }),
	related(byTag, func(p product.Product) []table.ID { return p.Tags }),
	related(byType, func(p product.Product) []table.ID { return p.Templates }),
)

// related is an index of products by the records that they name.
func related(name string, of func(product.Product) []table.ID) store.Index[product.Product] {
	return store.Index[product.Product]{Name: name, Values: func(p product.Product) (out []string) {
		for _, id := range of(p) {
			out = append(out, id.Key())
		}
		return out
	}}
}

// Offers are the products in catalogues.
func Offers() catalogues.Offers {
	return catalogues.OffersOf(Kind, func(p product.Product) string { return p.Name }, func(p *product.Product) *[]table.ID { return &p.Catalogues })
}

// Tagged returns the products with a tag, in order of number, including hidden and deleted
// ones.
func Tagged(ctx context.Context, r store.Reader, tag table.ID) (out []product.Product, err error) {
	return Kind.Values(ctx, r, store.Query{Index: byTag, Value: tag.Key()})
}

// Typed returns the products with a client type, in order of number, including hidden and
// deleted ones.
func Typed(ctx context.Context, r store.Reader, id table.ID) (out []product.Product, err error) {
	return Kind.Values(ctx, r, store.Query{Index: byType, Value: id.Key()})
}

// maxPaths bounds the search for a free path.
const maxPaths = 1000

// Addressed returns a product with a path: its own, or one made from its name that no
// other product has.
func Addressed(ctx context.Context, r store.Reader, p product.Product) (product.Product, error) {
	if p.Path != "" {
		return p, nil
	}
	slug := cmp.Or(table.Slug(p.Title()), p.Table().Noun)
	for n := 1; n < maxPaths; n++ {
		path := slug
		if n > 1 {
			path += "-" + table.ID(n).String()
		}
		switch other, err := Kind.ByKey(ctx, r, byPath, store.Indexed(path)); {
		case fault.KindOf(err) == fault.NotFound, err == nil && other.Value.ID == p.ID:
			p.Path = path
			return p, nil
		case err != nil:
			return p, err
		}
	}
	return p, fault.New(fault.Conflict, product.Kind+".path", "Path can't be made of the name: choose one")
}

const byPath = "path"

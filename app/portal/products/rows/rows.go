// Package rows has the operations on products (docs/wire/portal-products.md).
package rows

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/providers"
	"github.com/gatehouse-io/gatehouse/app/portal/synchronise"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/sync"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type (
	catalogueOf = catalogue.Catalogue
	tagOf       = tag.Tag
)

// operations builds the rows of products.
type operations = portal.Operations[product.Product, Listed, Shown]

// Resource defines products as a resource; their policies are at the dashboards of
// providers, and their pictures on a shelf.
func Resource(dashboards synchronise.Providers, shelf contents.Shelf, maxUpload int64) portal.Resource[product.Product, Listed, Shown] {
	return portal.Resource[product.Product, Listed, Shown]{
		Kind: products.Kind, Name: "portal-products", Path: "/products", Param: param, One: "a product", Many: "products",
		List: list, Show: show, Sample: sample, Hooks: hooks(dashboards),
		Labels: []portal.Label[Listed]{{Name: "AuthType", Of: func(l Listed) string { return l.AuthType }}},
		Rows: func(o operations) []operation.Row {
			f := family{o, shelf, maxUpload}
			attached := Attached{1, "Payments"}
			shown := ShownType{ListedType: ListedType{1, "Web application"}, Description: "With a server", GrantType: "authorization_code", OktaAppType: "web", CreatedAt: "2026-01-02 03:04", UpdatedAt: "2026-01-02 03:04"}
			return append([]operation.Row{
				o.ListRow(), o.CreateRow(conflicts), o.GetRow(), o.UpdateRow(conflicts), o.DeleteRow(conflicts),
				operation.GET("list-tags", "/{product_id}/tags", "List the tags of a product", f.tags, operation.Example(nil, operation.Listing[Attached]{Items: []Attached{attached}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
				operation.POST("attach-tag", "/{product_id}/tags", "Attach a tag to a product", f.attach, operation.Status(201), portal.Unprocessable(), operation.Faulting(table.CodeInvalid),
					operation.Example(map[string]any{"Name": "Payments"}, attached), operation.Notes("A tag that does not exist is created.")),
				operation.GET("get-tag", "/{product_id}/tags/{tag_name}", "Fetch a tag of a product", f.tag, operation.Example(nil, attached)),
				operation.DELETE("detach-tag", "/{product_id}/tags/{tag_name}", "Detach a tag from a product", f.detach, operation.Example(nil, portal.Status{Status: "ok"}),
					operation.Notes("The tag itself is not deleted.")),
				operation.GET("list-client-types", "/{product_id}/client_types", "List the client types of a product", f.types,
					operation.Example(nil, operation.Listing[ListedType]{Items: []ListedType{shown.ListedType}, Total: 1, Page: 1, PerPage: portal.DefaultPerPage})),
				operation.POST("attach-client-type", "/{product_id}/client_types", "Attach a client type to a product", f.attachType, operation.Status(201), portal.Unprocessable(),
					operation.Faulting(table.CodeInvalid), operation.Example(map[string]any{"ID": 1}, shown)),
				operation.GET("get-client-type", "/{product_id}/client_types/{client_type_id}", "Fetch a client type of a product", f.oneType, operation.Example(nil, shown)),
				operation.DELETE("detach-client-type", "/{product_id}/client_types/{client_type_id}", "Detach a client type from a product", f.detachType,
					operation.Example(nil, portal.Status{Status: "ok"}), operation.Notes("The client type itself is not deleted.")),
			}, f.imageRows()...)
		},
	}
}

// conflicts are the faults of the dashboard.
var conflicts = operation.Faulting(synchronise.CodeCarry, providers.CodeBusy)

const param = "product_id"

var sample = product.Product{
	ProviderID: 1, Ref: sync.Ref{ObjectID: "6490fd2a1ba6a6000108864d", ID: "portal-2r7p8aUnkzby17hCJk8w2XvK3K6"}, Name: "Payment API", DisplayName: "ACME Payment API",
	APIs: product.Details{{APIID: "3108a5fc970946ef66c1835cf73ba7a5", Description: "Payments", OASUrl: "https://petstore.example/openapi.json",
		Facts: product.Facts{Name: "Payment API", ListenPath: "/payments/", TargetURL: "https://payments.example/", APIType: "authToken", Status: true}}},
	AuthTypes: []string{"authToken"}, AuthTypeMode: product.SelfServe, Description: "Pays.", Content: "<p>Pays.</p>", Path: "acme-payment-api", Scopes: "payments,clients",
}

// Shelf is the storage of products for synchronisation.
func Shelf() providers.Shelf {
	return providers.Kept[product.Product]{
		Of: sync.KindProduct, In: products.Kind, Provider: func(p *product.Product) *table.ID { return &p.ProviderID },
		Complete: func(ctx context.Context, w store.Writer, p *product.Product) (err error) {
			*p, err = products.Addressed(ctx, w, *p)
			return err
		},
		Known: product.Product.Known,
		Gone: func(ctx context.Context, w store.Writer, p product.Product, at crud.Stamp) error {
			return discard(ctx, w, p, at)
		},
	}
}

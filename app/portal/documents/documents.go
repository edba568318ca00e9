// Package documents has the documentation of products: the details of their APIs, the
// specifications of products without APIs, and the documents of both
// (docs/wire/portal-documents.md).
package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	place "github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/graphql"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/yaml"
)

// Config is the configuration of the package.
type Config struct {
	YAML      yaml.Codec
	GraphQL   graphql.Checker // nil: schemas in the definition language are refused
	MaxUpload int64           // maximum size of a form with a file, in bytes
	Shelf     contents.Shelf  // where documents are
}

// byProduct is the index of records by product.
const byProduct = "product"

var sheets = &store.Kind[document.Sheet]{
	Name: document.SheetKind, Noun: "documents",
	ID:      func(s document.Sheet) string { return s.ID },
	Org:     func(s document.Sheet) tenant.ID { return s.Portal },
	Indexes: []store.Index[document.Sheet]{store.Lookup(byProduct, func(s document.Sheet) string { return s.Product.Key() })},
}

var texts = &store.Kind[document.Text]{
	Name: document.TextKind, Noun: "document",
	ID:      func(t document.Text) string { return t.ID },
	Org:     func(t document.Text) tenant.ID { return t.Portal },
	Indexes: []store.Index[document.Text]{contents.Index(func(t document.Text) place.Place { return t.File })},
}

// Texts reports whether a document is stored in a file.
var Texts = contents.Of(texts)

// specs is the kind of specifications.
var specs = portal.KindOf[document.Spec]()

// Resources are the registrations of the package.
func (c Config) Resources() []crud.Registrar {
	apis := crud.Facts[document.Sheet]{Kind: sheets, Sample: func(at crud.Stamp) (document.Sheet, error) {
		return document.Sheet{ID: at.ID, Portal: at.Org, Product: 1}.With(document.OAS), nil
	}}.Registration()
	apis.Operations = c.apis
	return []crud.Registrar{
		apis,
		crud.Facts[document.Text]{Kind: texts, Sample: func(at crud.Stamp) (document.Text, error) {
			return document.Text{ID: at.ID, Portal: at.Org, Product: 1, MediaType: document.YAML, Text: "openapi: 3.0.3\n"}, nil
		}}.Registration(),
		portal.Resource[document.Spec, Spec, Spec]{
			Kind: specs, Name: "portal-specs", Path: "/products/{product_id}/spec-details", Param: "spec_id", One: "a specification", Many: "specifications",
			Above: &portal.Above{Kind: document.ProductKind, Param: "product_id"},
			List:  showSpec, Show: showSpec, Sample: document.Spec{SpecAlias: "payments", Name: "Payments", OASURL: "https://docs.example/payments.json"},
			Begin: func(s *document.Spec, parent table.ID) { s.ProductID = parent },
			Hooks: portal.Hooks[document.Spec]{Before: admit, After: settle},
			Rows:  c.specRows,
		},
	}
}

// owner is an object with documents: an API of a product, or a specification.
type owner struct {
	product table.ID
	sheet   string
}

// sheetOf returns which documents an owner has.
func sheetOf(ctx context.Context, r store.Reader, o owner) (document.Sheet, error) {
	s, err := sheets.Get(ctx, r, o.sheet)
	if fault.KindOf(err) == fault.NotFound {
		return document.Sheet{ID: o.sheet, Product: o.product}, nil
	}
	return s.Value, err
}

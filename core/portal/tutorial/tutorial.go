// Package tutorial models the pages that tell developers how to get started with a
// product (docs/wire/portal-documents.md#tutorials).
package tutorial

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind and OrderKind are the names of the resources in storage.
const (
	Kind      = "portal-tutorial"
	OrderKind = "portal-tutorial-order"
)

// Type is the kind of post that tutorials are.
const Type = "doc"

// Tutorial is one page of a product.
type Tutorial struct {
	table.Base
	ProductID table.ID
	post.Article
}

// Table implements table.Row.
func (Tutorial) Table() *table.Table[Tutorial] { return rows }

var rows = &table.Table[Tutorial]{
	Kind: Kind, Noun: "tutorial",
	Base:   func(t *Tutorial) *table.Base { return &t.Base },
	Parent: func(t Tutorial) table.ID { return t.ProductID },
	Fields: post.ArticleFields(func(t *Tutorial) *post.Article { return &t.Article }, "Part of the page's address. Must be unique among the tutorials of the product."),
	Unique: []table.Unique[Tutorial]{{Name: "path", Taken: "Path has already been taken",
		Of: func(t Tutorial) string { return t.ProductID.Key() + "/" + t.Path }}},
}

// Order is the order in which the tutorials of a product are shown.
type Order struct {
	ID       string     `json:"id"` // of the product, as a key
	Portal   tenant.ID  `json:"org_id"`
	Sequence []table.ID `json:"sequence"`
}

// ProductKind is the kind of records that tutorials belong to.
const ProductKind = document.ProductKind

// CodeOrder is the code of the fault for an order that does not have exactly the tutorials of
// the product.
const CodeOrder = "tutorial.order"

// Rearrange returns the order that a client wants. It must have every tutorial of the product
// once.
func (o Order) Rearrange(want []table.ID) (Order, error) {
	have := map[table.ID]bool{}
	for _, id := range o.Sequence {
		have[id] = true
	}
	for _, id := range want {
		if seen, ours := have[id]; !ours {
			return o, fault.New(fault.Invalid, CodeOrder, "tutorial %d is none of this product", id)
		} else if !seen {
			return o, fault.New(fault.Invalid, CodeOrder, "tutorial %d is there twice", id)
		}
		have[id] = false
	}
	for _, id := range o.Sequence {
		if have[id] {
			return o, fault.New(fault.Invalid, CodeOrder, "tutorial %d is missing: name all tutorials of the product", id)
		}
	}
	o.Sequence = slices.Clone(want)
	return o, nil
}

// Add returns the order with one more tutorial at its end, or a fault if the product already
// has the maximum number.
func (o Order) Add(id table.ID) (Order, error) {
	if len(o.Sequence) >= table.MaxList {
		return o, fault.New(fault.Invalid, CodeOrder, "a product has %d tutorials at most", table.MaxList)
	}
	o.Sequence = append(slices.Clone(o.Sequence), id)
	return o, nil
}

// Remove returns the order without a tutorial.
func (o Order) Remove(id table.ID) Order {
	o.Sequence = slices.DeleteFunc(slices.Clone(o.Sequence), func(other table.ID) bool { return other == id })
	return o
}

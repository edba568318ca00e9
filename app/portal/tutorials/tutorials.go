// Package tutorials has the operations on tutorials: pages that describe how to get
// started with a product (docs/wire/portal-documents.md#tutorials).
package tutorials

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/posts"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tutorial"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// kind is the kind of tutorials, and orders the kind of their order.
var (
	kind   = portal.KindOf[tutorial.Tutorial]()
	orders = &store.Kind[tutorial.Order]{
		Name: tutorial.OrderKind, Noun: "order of tutorials",
		ID:  func(o tutorial.Order) string { return o.ID },
		Org: func(o tutorial.Order) tenant.ID { return o.Portal },
	}
)

// Registrations returns the registrations of the kinds of tutorials.
func Registrations() []crud.Registrar {
	return []crud.Registrar{resource, crud.Facts[tutorial.Order]{Kind: orders, Sample: func(at crud.Stamp) (tutorial.Order, error) {
		return tutorial.Order{ID: at.ID, Portal: at.Org, Sequence: []table.ID{2, 1}}, nil
	}}.Registration()}
}

// Tutorial is the representation of a tutorial.
type Tutorial struct {
	ID              table.ID `json:"ID"`
	CID             string   `json:"CID"`
	Title           string   `json:"Title"`
	Lede            string   `json:"Lede"`
	Content         string   `json:"Content"`
	Path            string   `json:"Path"`
	Status          string   `json:"Status"`
	Type            string   `json:"Type" doc:"doc."`
	MarkdownEnabled bool     `json:"MarkdownEnabled" doc:"true: MarkdownContent is shown; if it is empty, Content is shown."`
	MarkdownContent string   `json:"MarkdownContent"`
	PreviewContent  string   `json:"PreviewContent"`
	Categories      []string `json:"Categories"`
	Tags            []string `json:"Tags"`
	CreatedAt       string   `json:"CreatedAt"`
	UpdatedAt       string   `json:"UpdatedAt"`
}

func show(ctx context.Context, r store.Reader, t tutorial.Tutorial) (Tutorial, error) {
	out := Tutorial{
		ID: t.ID, CID: t.CID, Title: t.Title, Lede: t.Lede, Content: t.Content, Path: t.Path, Status: t.Status, Type: tutorial.Type,
		MarkdownEnabled: t.MarkdownEnabled, MarkdownContent: t.MarkdownContent, PreviewContent: t.PreviewContent,
		CreatedAt: table.Stamp(t.CreatedAt), UpdatedAt: table.Stamp(t.UpdatedAt),
	}
	var err error
	if out.Categories, err = posts.Names(ctx, r, post.ByCategory, t.Categories); err == nil {
		out.Tags, err = posts.Names(ctx, r, post.ByTag, t.Tags)
	}
	return out, err
}

type operations = portal.Operations[tutorial.Tutorial, Tutorial, Tutorial]

var resource = portal.Resource[tutorial.Tutorial, Tutorial, Tutorial]{
	Kind: kind, Name: "portal-tutorials", Path: "/products/{product_id}/docs", Param: "doc_id", One: "a tutorial", Many: "tutorials",
	Above: &portal.Above{Kind: tutorial.ProductKind, Param: "product_id"},
	List:  show, Show: show, Sequence: sequence,
	Sample: tutorial.Tutorial{Article: post.Article{Title: "Get started", Lede: "In five minutes.", Content: "<h1>Get started</h1>", Path: "get-started", Status: "published"}},
	Begin:  func(t *tutorial.Tutorial, parent table.ID) { t.ProductID = parent },
	Hooks:  portal.Hooks[tutorial.Tutorial]{After: place},
	Rows: func(o operations) []operation.Row {
		return []operation.Row{o.ListRow(), o.CreateRow(portal.Unprocessable(), operation.Faulting(table.CodeInvalid, tutorial.CodeOrder)), o.GetRow(), o.UpdateRow(), o.DeleteRow(), reorder(o)}
	},
}

// sequence returns the order of a product's tutorials.
func sequence(ctx context.Context, r store.Reader, product table.ID) ([]table.ID, error) {
	o, err := orders.Get(ctx, r, product.Key())
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return o.Value.Sequence, err
}

// place appends a new tutorial to the order, and removes a deleted one.
func place(ctx context.Context, w store.Writer, c *portal.Change[tutorial.Tutorial]) error {
	switch c.Op {
	case store.Created:
		return arrange(ctx, w, c.New.ProductID, func(o tutorial.Order) (tutorial.Order, error) { return o.Add(c.New.ID) })
	case store.Deleted:
		return arrange(ctx, w, c.Old.ProductID, func(o tutorial.Order) (tutorial.Order, error) { return o.Remove(c.Old.ID), nil })
	}
	return nil
}

// arrange changes the order of a product's tutorials.
func arrange(ctx context.Context, w store.Writer, product table.ID, fn func(tutorial.Order) (tutorial.Order, error)) error {
	have, err := sequence(ctx, w, product)
	if err != nil {
		return err
	}
	o := tutorial.Order{ID: product.Key(), Portal: w.Scope().Org(), Sequence: have}
	fresh, err := fn(o)
	switch {
	case err != nil:
		return err
	case len(fresh.Sequence) == 0:
		if have != nil {
			_, err = orders.Delete(ctx, w, o.ID, nil)
		}
		return err
	case have == nil:
		return orders.Insert(ctx, w, fresh)
	}
	_, err = orders.Edit(ctx, w, o.ID, nil, func(tutorial.Order) (tutorial.Order, error) { return fresh, nil })
	return err
}

// Forget deletes the tutorials of a deleted product.
func Forget(ctx context.Context, w store.Writer, product table.ID, at crud.Stamp) error {
	have, err := sequence(ctx, w, product)
	if err != nil {
		return err
	}
	for _, id := range slices.Clone(have) {
		if err := portal.Remove(ctx, w, kind, id, at); err != nil {
			return err
		}
	}
	return arrange(ctx, w, product, func(o tutorial.Order) (tutorial.Order, error) {
		o.Sequence = nil
		return o, nil
	})
}

// Published returns a product's tutorials that developers see, in order.
func Published(ctx context.Context, r store.Reader, product table.ID) (out []tutorial.Tutorial, err error) {
	ids, err := sequence(ctx, r, product)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		t, err := portal.Find(ctx, r, kind, id.String())
		switch {
		case fault.KindOf(err) == fault.NotFound:
		case err != nil:
			return nil, err
		case t.Status == "published":
			out = append(out, t)
		}
	}
	return out, nil
}

// Touched are the kinds of records that determine Published.
func Touched() []string { return []string{kind.Name, orders.Name} }

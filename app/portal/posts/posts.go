// Package posts has the operations on the posts of the blog, their categories and their
// tags (docs/wire/portal-content.md#posts).
package posts

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of posts and categories.
var (
	Kind       = portal.KindOf(by(post.ByCategory), by(post.ByTag))
	Categories = portal.KindOf[post.Category]()
)

// by is the index of posts by their labels.
func by(l post.Label) store.Index[post.Post] {
	return store.Index[post.Post]{Name: l.Kind, Values: func(p post.Post) (out []string) {
		for _, id := range *l.At(&p) {
			out = append(out, id.Key())
		}
		return out
	}}
}

type operations = portal.Operations[post.Post, Listed, Shown]

// Resources returns the registrations of posts and categories.
func Resources() []crud.Registrar {
	return []crud.Registrar{
		portal.Resource[post.Post, Listed, Shown]{
			Kind: Kind, Name: "portal-posts", Path: "/posts", Param: "post_id", One: "a post", Many: "posts",
			List: list, Show: show,
			Sample: post.Post{Article: post.Article{Title: "Ten tips", Lede: "In five minutes.", Content: "<p>First</p>", Path: "ten-tips", Status: "published"}},
			Hooks: portal.Hooks[post.Post]{Before: func(_ context.Context, _ store.Writer, c *portal.Change[post.Post]) error {
				if c.Op == store.Created {
					c.New.AuthorID, _ = account.OfPrincipal(c.Who.ID)
				}
				return nil
			}},
			Rows: func(o operations) []operation.Row {
				rows := []operation.Row{o.ListRow(), o.CreateRow(), o.GetRow(), o.UpdateRow(), o.DeleteRow()}
				rows = append(rows, labelRows[post.OfCategory](o, words{"category", "categories"}, post.ByCategory, false)...)
				return append(rows, labelRows[post.OfTag](o, words{"tag", "tags"}, post.ByTag, true)...)
			},
		},
		portal.Resource[post.Category, Category, ShownCategory]{
			Kind: Categories, Name: "portal-categories", Path: "/categories", Param: "category_id", One: "a category", Many: "categories",
			List: func(_ context.Context, _ store.Reader, c post.Category) (Category, error) {
				return Category{c.ID, c.CID, c.Name}, nil
			},
			Show: func(_ context.Context, _ store.Reader, c post.Category) (ShownCategory, error) {
				return ShownCategory{Category{c.ID, c.CID, c.Name}, table.Stamp(c.CreatedAt), table.Stamp(c.UpdatedAt)}, nil
			},
			Sample: post.Category{Name: "News"},
			Hooks: portal.Hooks[post.Category]{After: func(ctx context.Context, w store.Writer, c *portal.Change[post.Category]) error {
				if c.Op != store.Deleted {
					return nil
				}
				return Detach(ctx, w, post.ByCategory, c.Old.ID)
			}},
			Rows: func(o portal.Operations[post.Category, Category, ShownCategory]) []operation.Row {
				n := operation.Notes("This operation is an addition of this project.")
				return []operation.Row{o.ListRow(n), o.CreateRow(n), o.GetRow(n), o.UpdateRow(n), o.DeleteRow(n)}
			},
		},
	}
}

// Labelled returns the posts with a label, in order of number.
func Labelled(ctx context.Context, r store.Reader, l post.Label, id table.ID) ([]post.Post, error) {
	return Kind.Values(ctx, r, store.Query{Index: l.Kind, Value: id.Key()})
}

// Detach removes a deleted label from all posts.
func Detach(ctx context.Context, w store.Writer, l post.Label, id table.ID) error {
	all, err := Labelled(ctx, w, l, id)
	for _, p := range all {
		if err == nil {
			_, err = Kind.Edit(ctx, w, Kind.ID(p), nil, func(p post.Post) (post.Post, error) { return l.Detach(p, id), nil })
		}
	}
	return err
}

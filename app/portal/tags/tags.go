// Package tags has the operations on tags.
package tags

import (
	"context"
	"slices"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/posts"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Resource defines tags as a resource.
var Resource = portal.Resource[tag.Tag, Listed, Shown]{
	Kind: Kind, Name: "portal-tags", Path: "/tags", Param: "tag_id", One: "a tag", Many: "tags",
	List:   func(_ context.Context, _ store.Reader, t tag.Tag) (Listed, error) { return listed(t), nil },
	Show:   show,
	Sample: tag.Tag{Name: "Payments"},
	Hooks:  portal.Hooks[tag.Tag]{After: detach},
}

// Kind is the kind of tags.
var Kind = portal.KindOf[tag.Tag]()

// show returns a tag with its posts and products, as far as they are public.
func show(ctx context.Context, r store.Reader, t tag.Tag) (Shown, error) {
	out := Shown{listed(t), []Post{}, []Product{}}
	all, err := products.Tagged(ctx, r, t.ID)
	for _, p := range all {
		if !p.Away() {
			out.Products = append(out.Products, Product{p.ID, p.Name, p.DisplayName, p.Path, p.Ref.ObjectID, p.Feature, p.DCREnabled, p.ProviderID})
		}
	}
	if err != nil {
		return out, err
	}
	written, err := posts.Labelled(ctx, r, post.ByTag, t.ID)
	for _, p := range written {
		out.Posts = append(out.Posts, Post{p.ID, p.Title, p.Lede, p.Status, p.Path, p.AuthorID})
	}
	return out, err
}

// detach removes a deleted tag from posts and products, including hidden ones.
func detach(ctx context.Context, w store.Writer, c *portal.Change[tag.Tag]) error {
	if c.Op != store.Deleted {
		return nil
	}
	all, err := products.Tagged(ctx, w, c.Old.ID)
	for _, p := range all {
		if err == nil {
			_, err = products.Kind.Edit(ctx, w, products.Kind.ID(p), nil, func(p product.Product) (product.Product, error) {
				p.Tags = slices.DeleteFunc(slices.Clone(p.Tags), func(id table.ID) bool { return id == c.Old.ID })
				return p, nil
			})
		}
	}
	if err != nil {
		return err
	}
	return posts.Detach(ctx, w, post.ByTag, c.Old.ID)
}

// ByName returns the tag with a name, or a NotFound fault.
func ByName(ctx context.Context, r store.Reader, name string) (tag.Tag, error) {
	v, err := Kind.ByKey(ctx, r, "name", store.Indexed(name))
	return v.Value, err
}

// Listed is a tag in lists.
type Listed struct {
	ID   table.ID `json:"ID"`
	CID  string   `json:"CID"`
	Name string   `json:"Name"`
}

func listed(t tag.Tag) Listed { return Listed{t.ID, t.CID, t.Name} }

// Shown is the full representation of a tag, with the posts and products that have it.
type Shown struct {
	Listed
	Posts    []Post    `json:"Posts"`
	Products []Product `json:"Products"`
}

// Post is a blog post that has a tag.
type Post struct {
	ID       table.ID `json:"ID"`
	Title    string   `json:"Title"`
	Lede     string   `json:"Lede"`
	Status   string   `json:"Status,omitempty"`
	Path     string   `json:"Path"`
	AuthorID table.ID `json:"AuthorID"`
}

// Product is a product that has a tag.
type Product struct {
	ID          table.ID `json:"ID"`
	Name        string   `json:"Name"`
	DisplayName string   `json:"DisplayName"`
	Path        string   `json:"Path"`
	ReferenceID string   `json:"ReferenceID"`
	Feature     bool     `json:"Feature"`
	DCREnabled  bool     `json:"DCREnabled"`
	ProviderID  table.ID `json:"ProviderID"`
}

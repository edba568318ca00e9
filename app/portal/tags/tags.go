// Package tags holds what there is to tags.
package tags

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Resource is what there is to tags.
var Resource = portal.Resource[tag.Tag, Listed, Shown]{
	Kind: Kind, Name: "portal-tags", Path: "/tags", Param: "tag_id", One: "a tag", Many: "tags",
	List: func(_ context.Context, _ store.Reader, t tag.Tag) (Listed, error) { return listed(t), nil },
	Show: func(_ context.Context, _ store.Reader, t tag.Tag) (Shown, error) {
		return Shown{listed(t), []Post{}, []Product{}}, nil
	},
	Sample: tag.Tag{Name: "Payments"},
}

// Kind is how tags are stored.
var Kind = portal.KindOf[tag.Tag]()

// Listed is a tag in lists.
type Listed struct {
	ID   table.ID `json:"ID"`
	CID  string   `json:"CID"`
	Name string   `json:"Name"`
}

func listed(t tag.Tag) Listed { return Listed{t.ID, t.CID, t.Name} }

// Shown is a tag by itself, with what has it.
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

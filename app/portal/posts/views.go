package posts

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Listed is a post in lists.
type Listed struct {
	ID              table.ID `json:"ID"`
	CID             string   `json:"CID"`
	Title           string   `json:"Title"`
	Lede            string   `json:"Lede"`
	Content         string   `json:"Content"`
	Path            string   `json:"Path"`
	Status          string   `json:"Status,omitempty"`
	Type            string   `json:"Type" doc:"post."`
	MarkdownEnabled bool     `json:"MarkdownEnabled" doc:"true: MarkdownContent is shown; if it is empty, Content is shown."`
	Categories      []string `json:"Categories"`
	Tags            []string `json:"Tags"`
	CreatedAt       string   `json:"CreatedAt"`
	UpdatedAt       string   `json:"UpdatedAt"`
}

// Shown is the full representation of a post.
type Shown struct {
	ID              string  `json:"ID" doc:"The number as a string."`
	CID             string  `json:"CID"`
	Title           string  `json:"Title"`
	Lede            string  `json:"Lede"`
	Content         string  `json:"Content"`
	Path            string  `json:"Path"`
	Status          string  `json:"Status,omitempty"`
	MarkdownEnabled bool    `json:"MarkdownEnabled"`
	MarkdownContent string  `json:"MarkdownContent"`
	PreviewContent  string  `json:"PreviewContent"`
	Categories      []Label `json:"Categories"`
	Tags            []Label `json:"Tags"`
	CreatedAt       string  `json:"CreatedAt"`
	UpdatedAt       string  `json:"UpdatedAt"`
}

// Label is a category or tag of a post.
type Label struct {
	ID        string `json:"ID" doc:"The number as a string."`
	Name      string `json:"Name"`
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

// NumberedLabel is a tag in the list of a post's tags.
type NumberedLabel struct {
	ID        table.ID `json:"ID"`
	Name      string   `json:"Name"`
	CreatedAt string   `json:"CreatedAt"`
	UpdatedAt string   `json:"UpdatedAt"`
}

func label(r record) Label {
	return Label{r.ID.String(), r.Name, table.Stamp(r.CreatedAt), table.Stamp(r.UpdatedAt)}
}

// Category is a category in lists.
type Category struct {
	ID   table.ID `json:"ID"`
	CID  string   `json:"CID"`
	Name string   `json:"Name"`
}

// ShownCategory is the full representation of a category.
type ShownCategory struct {
	Category
	CreatedAt string `json:"CreatedAt"`
	UpdatedAt string `json:"UpdatedAt"`
}

func list(ctx context.Context, r store.Reader, p post.Post) (Listed, error) {
	out := Listed{ID: p.ID, CID: p.CID, Title: p.Title, Lede: p.Lede, Content: p.Content, Path: p.Path, Status: p.Status, Type: post.Type,
		MarkdownEnabled: p.MarkdownEnabled, CreatedAt: table.Stamp(p.CreatedAt), UpdatedAt: table.Stamp(p.UpdatedAt)}
	var err error
	if out.Categories, err = Names(ctx, r, post.ByCategory, p.Categories); err == nil {
		out.Tags, err = Names(ctx, r, post.ByTag, p.Tags)
	}
	return out, err
}

func show(ctx context.Context, r store.Reader, p post.Post) (Shown, error) {
	out := Shown{ID: p.ID.String(), CID: p.CID, Title: p.Title, Lede: p.Lede, Content: p.Content, Path: p.Path, Status: p.Status, MarkdownEnabled: p.MarkdownEnabled,
		MarkdownContent: p.MarkdownContent, PreviewContent: p.PreviewContent, Categories: []Label{}, Tags: []Label{},
		CreatedAt: table.Stamp(p.CreatedAt), UpdatedAt: table.Stamp(p.UpdatedAt)}
	for _, at := range []struct {
		label post.Label
		out   *[]Label
	}{{post.ByCategory, &out.Categories}, {post.ByTag, &out.Tags}} {
		all, err := labelsOf(ctx, r, p, at.label)
		if err != nil {
			return out, err
		}
		for _, v := range all {
			*at.out = append(*at.out, label(v))
		}
	}
	return out, nil
}

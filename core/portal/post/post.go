// Package post models the posts of the blog and their categories
// (docs/wire/portal-content.md#posts).
package post

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/portal/tag"
)

// Kind and CategoryKind are the names of the resources in storage.
const (
	Kind         = "portal-post"
	CategoryKind = "portal-category"
)

// Type is the type of blog posts.
const Type = "post"

// Article is the common members of posts and tutorials.
type Article struct {
	Title           string
	Lede            string `json:",omitempty"`
	Content         string
	Path            string
	Status          string
	MarkdownEnabled bool       `json:",omitempty"`
	MarkdownContent string     `json:",omitempty"`
	PreviewContent  string     `json:",omitempty"`
	Categories      []table.ID `json:",omitempty"`
	Tags            []table.ID `json:",omitempty"`
}

// ArticleFields returns the table fields of records with an Article; path describes its Path.
func ArticleFields[T any](of func(*T) *Article, path string) []table.Field[T] {
	return []table.Field[T]{
		{Name: "Title", At: func(t *T) any { return &of(t).Title }, Required: true, Repeated: true, Max: 255},
		{Name: "Lede", At: func(t *T) any { return &of(t).Lede }, Max: 1000},
		{Name: "Content", At: func(t *T) any { return &of(t).Content }, Required: true, Doc: "HTML. Also shown if MarkdownContent is empty."},
		{Name: "Path", At: func(t *T) any { return &of(t).Path }, Required: true, Max: 255, Valid: func(t T) bool { return table.IsSegment(of(&t).Path) }, Doc: path},
		{Name: "Status", At: func(t *T) any { return &of(t).Status }, Required: true, Repeated: true, Enum: []string{"published", "draft", "review"}},
		{Name: "MarkdownEnabled", At: func(t *T) any { return &of(t).MarkdownEnabled }},
		{Name: "MarkdownContent", At: func(t *T) any { return &of(t).MarkdownContent }},
		{Name: "PreviewContent", At: func(t *T) any { return &of(t).PreviewContent }},
		{Name: "Categories", At: func(t *T) any { return &of(t).Categories }, Target: CategoryKind},
		{Name: "Tags", At: func(t *T) any { return &of(t).Tags }, Target: tag.Kind},
	}
}

// Post is one post.
type Post struct {
	table.Base
	AuthorID table.ID // the admin who created it
	Article
}

// Table implements table.Row.
func (Post) Table() *table.Table[Post] { return posts }

var posts = &table.Table[Post]{
	Kind: Kind, Noun: "post",
	Base:   func(p *Post) *table.Base { return &p.Base },
	Fields: ArticleFields(func(p *Post) *Article { return &p.Article }, "Part of the post's address. Must be unique among posts."),
	Unique: []table.Unique[Post]{{Name: "path", Taken: "Path has already been taken", Of: func(p Post) string { return p.Path }}},
}

// Label is a relation of a post to categories or tags.
type Label struct {
	Name string // of the field
	Kind string // kind of the records: category or tag
	At   func(*Post) *[]table.ID
}

// The labels of posts.
var (
	ByCategory = Label{"Categories", CategoryKind, func(p *Post) *[]table.ID { return &p.Categories }}
	ByTag      = Label{"Tags", tag.Kind, func(p *Post) *[]table.ID { return &p.Tags }}
)

// Attach returns the post with one more label.
func (l Label) Attach(p Post, id table.ID) (Post, error) {
	list := l.At(&p)
	switch {
	case slices.Contains(*list, id):
		return p, fault.New(fault.Invalid, table.CodeInvalid, "ID is one of %s already", l.Name).At("ID")
	case len(*list) >= table.MaxList:
		return p, fault.New(fault.Invalid, table.CodeInvalid, "%s has %d entries at most", l.Name, table.MaxList).At("ID")
	}
	*list = append(slices.Clone(*list), id)
	return p, nil
}

// Detach returns the post without a label.
func (l Label) Detach(p Post, id table.ID) Post {
	list := l.At(&p)
	*list = slices.DeleteFunc(slices.Clone(*list), func(other table.ID) bool { return other == id })
	return p
}

// Category is a category of posts.
type Category struct {
	table.Base
	Name string
}

// Table implements table.Row.
func (Category) Table() *table.Table[Category] { return categories }

var categories = &table.Table[Category]{
	Kind: CategoryKind, Noun: "category",
	Base: func(c *Category) *table.Base { return &c.Base },
	Fields: []table.Field[Category]{
		{Name: "Name", At: func(c *Category) any { return &c.Name }, Required: true, Max: 255},
	},
	Unique: []table.Unique[Category]{{Name: "name", Taken: "Name has already been taken", Of: func(c Category) string { return c.Name }}},
}

// Choice is the request body with the ID of a label.
type Choice[K interface{ Kind() string }] struct {
	table.Base
	Label table.ID
}

// Table implements table.Row.
func (Choice[K]) Table() *table.Table[Choice[K]] {
	var k K
	return &table.Table[Choice[K]]{
		Kind: k.Kind() + "-choice", Noun: strings.TrimPrefix(k.Kind(), "portal-") + " choice",
		Base:   func(c *Choice[K]) *table.Base { return &c.Base },
		Fields: []table.Field[Choice[K]]{{Name: "ID", At: func(c *Choice[K]) any { return &c.Label }, Required: true, Target: k.Kind()}},
	}
}

// OfCategory makes a Choice one of a category.
type OfCategory struct{}

// OfTag makes a Choice one of a tag.
type OfTag struct{}

// Kind returns the kind of the chosen record.
func (OfCategory) Kind() string { return CategoryKind }

// Kind returns the kind of the chosen record.
func (OfTag) Kind() string { return tag.Kind }

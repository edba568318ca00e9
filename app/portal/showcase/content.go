package showcase

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/pages"
	"github.com/gatehouse-io/gatehouse/app/portal/posts"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/page"
	"github.com/gatehouse-io/gatehouse/core/portal/post"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Content is a content page with its blocks.
type Content struct {
	Title    string           `json:"Title"`
	Path     string           `json:"Path"`
	Template string           `json:"Template"`
	Blocks   map[string]Block `json:"Blocks" doc:"Content blocks by name."`
}

// Block is one text of a content page.
type Block struct {
	Content         string `json:"Content"`
	MarkdownContent string `json:"MarkdownContent"`
	MarkdownEnabled bool   `json:"MarkdownEnabled"`
}

type located struct {
	visitor
	Path string `query:"path" doc:"Path of the page."`
}

// content returns a content page; drafts only for admins.
func (s *Service) content(ctx context.Context, in located) (out Content, err error) {
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		v, err := pages.Kind.ByKey(ctx, r, "path", store.Indexed(page.Address(in.Path)))
		if err == nil && (v.Value.Away() || v.Value.Status != page.Published && !now.admin()) {
			err = pages.Kind.Absent()
		}
		if err != nil {
			return err
		}
		out = Content{v.Value.Title, v.Value.Path, v.Value.Template, map[string]Block{}}
		blocks, err := pages.Of(ctx, r, v.Value.ID)
		for _, b := range blocks {
			out.Blocks[b.Name] = Block{b.Content, b.MarkdownContent, b.MarkdownEnabled}
		}
		return err
	})
	return out, err
}

// Post is a post of the blog.
type Post struct {
	ID              table.ID `json:"ID"`
	Title           string   `json:"Title"`
	Lede            string   `json:"Lede"`
	Content         string   `json:"Content" doc:"Content of the post. Empty in lists."`
	MarkdownContent string   `json:"MarkdownContent" doc:"Content of the post. Empty in lists."`
	MarkdownEnabled bool     `json:"MarkdownEnabled"`
	Path            string   `json:"Path"`
	URL             string   `json:"URL" doc:"Address of the post's page."`
	Categories      []string `json:"Categories"`
	Tags            []string `json:"Tags"`
	AuthorID        table.ID `json:"AuthorID"`
	Author          string   `json:"Author" doc:"Name of the author; empty if the account has been deleted."`
	CreatedAt       string   `json:"CreatedAt"`
}

// Posts is a page of the blog.
type Posts struct {
	Posts   []Post `json:"Posts" doc:"Newest first."`
	Total   int    `json:"Total"`
	Page    int    `json:"Page"`
	PerPage int    `json:"PerPage"`
}

type blog struct {
	visitor
	Category string `query:"category" doc:"Name of a category."`
	Number   string `query:"page" doc:"Page number, from 1."`
}

const postsPerPage = 10

// shows reports whether the viewer sees posts of a status.
func (s sight) shows(status string) bool { return s.admin() || status == "published" }

// entry is the part of a post that lists read.
type entry struct {
	id         table.ID
	status     string
	categories []table.ID
	tags       []table.ID
	at         time.Time
}

var entries = store.Column[post.Post, entry]{Kind: posts.Kind, Of: func(p post.Post) entry {
	return entry{p.ID, p.Status, p.Categories, p.Tags, p.CreatedAt}
}}

// entries returns the posts that the viewer sees, of one category if category is not empty,
// newest first.
func (s sight) entries(ctx context.Context, r store.Reader, category string) (out []entry, err error) {
	var of table.ID
	if category != "" {
		c, err := posts.Categories.ByKey(ctx, r, "name", store.Indexed(category))
		if fault.KindOf(err) == fault.NotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		of = c.Value.ID
	}
	for row, err := range entries.All(ctx, r) {
		if err != nil {
			return nil, err
		}
		if e := row.Value; s.shows(e.status) && (of == 0 || slices.Contains(e.categories, of)) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.id, a.id)) })
	return out, nil
}

func (s *Service) blog(ctx context.Context, in blog) (out Posts, err error) {
	out = Posts{Posts: []Post{}, Page: pageOf(in.Number), PerPage: postsPerPage}
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		if !now.rules.BlogEnabled {
			return posts.Kind.Absent()
		}
		all, err := now.entries(ctx, r, in.Category)
		if err != nil {
			return err
		}
		from := min((out.Page-1)*postsPerPage, len(all))
		out.Total = len(all)
		out.Posts, err = listed(ctx, r, all[from:min(from+postsPerPage, len(all))])
		return err
	})
	return out, err
}

// listed returns posts for lists, without their content.
func listed(ctx context.Context, r store.Reader, all []entry) ([]Post, error) {
	out := []Post{}
	for _, e := range all {
		p, err := portal.Find(ctx, r, posts.Kind, e.id.String())
		if err != nil {
			return nil, err
		}
		shown, err := postOf(ctx, r, p)
		if err != nil {
			return nil, err
		}
		shown.Content, shown.MarkdownContent = "", ""
		out = append(out, shown)
	}
	return out, nil
}

// maxRelated is how many posts the page of a product lists.
const maxRelated = 6

// related sets the published posts that share a tag with a product.
func (out *Product) related(ctx context.Context, r store.Reader, now sight, p product.Product) error {
	if !now.rules.BlogEnabled || len(p.Tags) == 0 {
		return nil
	}
	all, err := now.entries(ctx, r, "")
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e entry) bool {
		return e.status != "published" || !slices.ContainsFunc(e.tags, func(id table.ID) bool { return slices.Contains(p.Tags, id) })
	})
	out.Posts, err = listed(ctx, r, all[:min(maxRelated, len(all))])
	return err
}

func postOf(ctx context.Context, r store.Reader, p post.Post) (out Post, err error) {
	out = Post{ID: p.ID, Title: p.Title, Lede: p.Lede, Content: p.Content, MarkdownContent: p.MarkdownContent, MarkdownEnabled: p.MarkdownEnabled, Path: p.Path,
		URL: "/blog/" + p.CreatedAt.UTC().Format("2006/01/02") + "/" + p.Path, AuthorID: p.AuthorID, CreatedAt: table.Stamp(p.CreatedAt)}
	if out.Categories, err = posts.Names(ctx, r, post.ByCategory, p.Categories); err == nil {
		out.Tags, err = posts.Names(ctx, r, post.ByTag, p.Tags)
	}
	if err != nil {
		return out, err
	}
	by, err := portal.Glance[account.User](ctx, r, account.Kind, p.AuthorID)
	out.Author = strings.TrimSpace(by.First + " " + by.Last)
	return out, err
}

type posted struct {
	visitor
	Path string `path:"post_path" doc:"Path of the post."`
}

func (s *Service) post(ctx context.Context, in posted) (out Post, err error) {
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		v, err := posts.Kind.ByKey(ctx, r, "path", store.Indexed(in.Path))
		if err == nil && (!now.rules.BlogEnabled || v.Value.Away() || !now.shows(v.Value.Status)) {
			err = posts.Kind.Absent()
		}
		if err == nil {
			out, err = postOf(ctx, r, v.Value)
		}
		return err
	})
	return out, err
}

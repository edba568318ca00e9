// Package page models the content pages of the portal, and their content blocks, which
// templates show (docs/wire/portal-content.md#pages).
package page

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind and BlockKind are the names of the resources in storage.
const (
	Kind      = "portal-page"
	BlockKind = "portal-content-block"
)

// The states of a page.
const (
	Published = "Published"
	Draft     = "Draft"
)

// Page is one page.
type Page struct {
	table.Base
	Title               string
	Path                string `json:",omitempty"` // as sent by the client
	Status              string
	Template            string `json:",omitempty"` // of the active theme: its value or its name
	AllowFormSubmission bool   `json:",omitempty"`
	PageTypeID          int64  `json:",omitempty"`
}

// Address returns the normalised path: "about" for "/about/", "/" for the start page, "" for a
// page without a path.
func Address(path string) string {
	if trimmed := strings.Trim(path, "/"); trimmed != "" || path == "" {
		return trimmed
	}
	return "/"
}

// isPath reports whether browsers can request a path without escaping it.
func isPath(path string) bool {
	if strings.ContainsAny(path, "?#%\\ \t\r\n") {
		return false
	}
	address := Address(path)
	if address == "/" {
		return true
	}
	for part := range strings.SplitSeq(address, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// Table implements table.Row.
func (Page) Table() *table.Table[Page] { return pages }

var pages = &table.Table[Page]{
	Kind: Kind, Noun: "page",
	Base: func(p *Page) *table.Base { return &p.Base },
	Fields: []table.Field[Page]{
		{Name: "Title", At: func(p *Page) any { return &p.Title }, Required: true, Max: 255},
		{Name: "Path", At: func(p *Page) any { return &p.Path }, Max: 255, Valid: func(p Page) bool { return isPath(p.Path) },
			Doc: "Path of the page below the portal, with or without a leading slash. Must be unique."},
		{Name: "Status", At: func(p *Page) any { return &p.Status }, Required: true, Default: Draft, Enum: []string{Published, Draft}, Doc: "Default: Draft."},
		{Name: "Template", At: func(p *Page) any { return &p.Template }, Max: 255, Doc: "The template or name of an entry in the theme.json of the active theme."},
		{Name: "AllowFormSubmission", At: func(p *Page) any { return &p.AllowFormSubmission }},
		{Name: "PageTypeID", At: func(p *Page) any { return &p.PageTypeID }},
	},
	Unique: []table.Unique[Page]{{Name: "path", Taken: "Path has already been taken", Of: func(p Page) string { return Address(p.Path) }}},
}

// Block is the content of one place in the template of a page.
type Block struct {
	table.Base
	PageID          table.ID
	Name            string // by which the template refers to it
	Content         string `json:",omitempty"`
	MarkdownContent string `json:",omitempty"`
	MarkdownEnabled bool   `json:",omitempty"`
}

// Table implements table.Row.
func (Block) Table() *table.Table[Block] { return blocks }

var blocks = &table.Table[Block]{
	Kind: BlockKind, Noun: "content block",
	Base:   func(b *Block) *table.Base { return &b.Base },
	Parent: func(b Block) table.ID { return b.PageID },
	Fields: []table.Field[Block]{
		{Name: "Name", At: func(b *Block) any { return &b.Name }, Required: true, Max: 255, Doc: "Templates use the block under this name: {{.blocks.Name.Content}}."},
		{Name: "Content", At: func(b *Block) any { return &b.Content }, Doc: "HTML."},
		{Name: "MarkdownContent", At: func(b *Block) any { return &b.MarkdownContent }},
		{Name: "MarkdownEnabled", At: func(b *Block) any { return &b.MarkdownEnabled }, Doc: "true: MarkdownContent is shown instead of Content."},
	},
	Unique: []table.Unique[Block]{{Name: "name", Taken: "Name has already been taken", Of: func(b Block) string { return b.PageID.Key() + "/" + b.Name }}},
}

// Missing returns the names in a template for which the page has no block, as many as the page
// has room for.
func Missing(wanted []string, have []Block) (out []string) {
	known := map[string]bool{}
	for _, b := range have {
		known[b.Name] = true
	}
	for _, name := range wanted {
		if !known[name] && len(have)+len(out) < table.MaxList {
			known[name] = true
			out = append(out, name)
		}
	}
	return out
}

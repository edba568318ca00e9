package showcase

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/search"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Card is a product in the catalogue.
type Card struct {
	ID                  table.ID   `json:"ID"`
	Name                string     `json:"Name"`
	Path                string     `json:"Path"`
	Description         string     `json:"Description"`
	AuthType            string     `json:"AuthType"`
	AuthTypes           []string   `json:"AuthTypes"`
	Feature             bool       `json:"Feature"`
	IsDocumentationOnly bool       `json:"IsDocumentationOnly"`
	Catalogues          []table.ID `json:"Catalogues" doc:"Catalogues with the product that the visitor may see."`
	Preview             string     `json:"Preview" doc:"Address of the card picture: the preview, otherwise the logo; empty if there is none."`
	Match               *Match     `json:"Match,omitempty" doc:"For searches: what matches."`
	APIs                []API      `json:"APIs,omitempty" doc:"APIs of the product, if the request has apis=true."`
}

// Match is a search match, cut into pieces: matching words, and the text between them.
type Match struct {
	Name        []search.Piece `json:"Name"`
	Description []search.Piece `json:"Description"`
	Entries     []Entry        `json:"Entries" doc:"Matching APIs, operations and tutorials, three at most, best match first."`
}

// Entry is a part of a product that matches a search.
type Entry struct {
	Sort   search.Sort    `json:"Sort" doc:"api, operation or tutorial."`
	Title  []search.Piece `json:"Title"`
	Text   []search.Piece `json:"Text"`
	API    string         `json:"API" doc:"API of the product to which the entry belongs."`
	Anchor string         `json:"Anchor" doc:"Anchor of an operation on the page of its API."`
}

// Shelf is a catalogue that a visitor sees.
type Shelf struct {
	ID               table.ID `json:"ID"`
	Name             string   `json:"Name"`
	Slug             string   `json:"Slug"`
	VisibilityStatus string   `json:"VisibilityStatus"`
	Cart             bool     `json:"Cart" doc:"true: the visitor may request access to products of the catalogue."`
}

// Found is a page of the catalogue.
type Found struct {
	Products   []Card  `json:"Products"`
	Catalogues []Shelf `json:"Catalogues"`
	Total      int     `json:"Total"`
	Page       int     `json:"Page"`
	PerPage    int     `json:"PerPage"`
}

type question struct {
	visitor
	Search    string `query:"search" doc:"Words to search for in the texts of a product, the operations of its APIs and its tutorials. All words must match; small typing errors are tolerated."`
	Catalogue string `query:"catalogue" doc:"Number or slug of a catalogue."`
	Featured  string `query:"featured" doc:"true: only products that the home page shows."`
	Product   string `query:"product" doc:"Number of a product. Only this product is listed."`
	APIs      string `query:"apis" doc:"true: the response includes the APIs of each product."`
	Number    string `query:"page" doc:"Page number, from 1."`
}

// perPage is how many products a page has.
const perPage = 24

func (s *Service) products(ctx context.Context, in question) (out Found, err error) {
	if out, err = s.cards(ctx, in); err != nil || in.APIs != "true" {
		return out, err
	}
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		for i := range out.Products {
			c := &out.Products[i]
			p, err := portal.Glance[product.Product](ctx, r, products.Kind.Name, c.ID)
			if err == nil && now.sees(p) { // it may be deleted by now
				c.APIs, err = apisOf(ctx, r, p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// cards returns the products of a page, without their APIs.
func (s *Service) cards(ctx context.Context, in question) (out Found, err error) {
	out = Found{Products: []Card{}, Catalogues: []Shelf{}, Page: pageOf(in.Number), PerPage: perPage}
	var now sight
	var all []*ware
	err = s.look(ctx, in.visitor, func(r store.Reader, seen sight) error {
		now, all = seen, nil
		var chosen []table.ID
		for _, c := range seen.in {
			if in.Catalogue == "" || c.NameWithSlug == in.Catalogue || c.ID.String() == in.Catalogue {
				chosen = append(chosen, c.ID)
			}
		}
		for w, err := range wares.All(ctx, r) {
			if err != nil {
				return err
			}
			if p := &w.Value; !p.away && catalogue.Shows(chosen, p.Catalogues) && (in.Featured != "true" || p.Feature) && (in.Product == "" || p.ID.String() == in.Product) {
				all = append(all, p)
			}
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Catalogues = now.shelves()
	from := (out.Page - 1) * perPage
	if strings.TrimSpace(in.Search) != "" {
		err = s.search(ctx, in.Search, now, all, from, &out)
		return out, err
	}
	slices.SortFunc(all, func(a, b *ware) int { return cmp.Or(strings.Compare(a.order, b.order), cmp.Compare(a.ID, b.ID)) })
	out.Total = len(all)
	for _, p := range part(all, from) {
		out.Products = append(out.Products, now.card(p.Card))
	}
	return out, nil
}

// ware is the part of a product that lists read.
type ware struct {
	Card         // with all catalogues
	order string // sort key of products
	away  bool
}

var wares = store.Column[product.Product, ware]{Kind: products.Kind, Of: func(p product.Product) ware {
	return ware{cardOf(p), strings.ToLower(p.Title()), p.Away()}
}}

// part returns the page of a list that begins at from.
func part[T any](all []T, from int) []T {
	from = min(from, len(all))
	return all[from:min(from+perPage, len(all))]
}

// search finds products by words, among those that the visitor currently sees.
func (s *Service) search(ctx context.Context, query string, now sight, visible []*ware, from int, out *Found) error {
	known := map[int]*ware{}
	for _, p := range visible {
		known[int(p.ID)] = p
	}
	hits, err := s.Finder.Find(ctx, query, func(id int) bool { _, seen := known[id]; return seen })
	out.Total = len(hits)
	for _, h := range part(hits, from) {
		p := known[h.Product]
		card := now.card(p.Card)
		card.Match = &Match{search.Marked(p.Name, query), search.Marked(p.Description, query), []Entry{}}
		for _, e := range h.Entries {
			card.Match.Entries = append(card.Match.Entries, Entry{e.Sort, search.Marked(e.Title, query), search.Marked(e.Text, query), e.API, e.Anchor})
		}
		out.Products = append(out.Products, card)
	}
	return err
}

// pageOf parses a page number. An invalid number counts as 1.
func pageOf(text string) int {
	id, ok := table.ParseID(text)
	if !ok || id < 1 {
		return 1
	}
	return int(min(id, 1<<20))
}

func (s sight) shelves() []Shelf {
	out := []Shelf{}
	for _, c := range s.in {
		out = append(out, Shelf{c.ID, c.Name, c.NameWithSlug, c.VisibilityStatus, s.cart[c.ID]})
	}
	return out
}

func cardOf(p product.Product) Card {
	return Card{p.ID, p.Title(), p.Path, p.Description, p.AuthType(), append([]string{}, p.AuthTypes...), p.Feature, p.IsDocumentationOnly, p.Catalogues, p.Address(product.Preview), nil, nil}
}

// card removes the catalogues that the visitor does not see.
func (s sight) card(of Card) Card {
	all := of.Catalogues
	of.Catalogues = []table.ID{}
	for _, id := range all {
		if catalogue.Has(s.ids, id) {
			of.Catalogues = append(of.Catalogues, id)
		}
	}
	return of
}

// Document is the description of an API or a specification.
type Document struct {
	Product   string `json:"Product" doc:"Name."`
	Name      string `json:"Name"`
	Alias     string `json:"Alias"`
	Form      string `json:"Form" doc:"oas or graphqlSDL."`
	MediaType string `json:"MediaType"`
	Text      string `json:"Text"`
	Tryable   bool   `json:"Tryable" doc:"true: a gateway serves the API, and logged-in users can call it from its page."`
	ServedAt  string `json:"ServedAt" doc:"Address at which a gateway serves the API; otherwise empty."`
}

// Size returns the size of the text in bytes: a large answer reserves memory before it is
// encoded.
func (d Document) Size() int { return len(d.Text) }

type documented struct {
	named
	Alias string `path:"api_alias" doc:"Identifier of an API of the product, or alias of a specification."`
}

func (s *Service) document(ctx context.Context, in documented) (out Document, err error) {
	elsewhere := ""
	text, err := s.Shelf.Open(ctx, func() (kept file.Content, err error) {
		err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
			p, err := find(ctx, r, now, in.Path)
			if err != nil {
				return err
			}
			d, t, err := documents.Read(ctx, r, p, in.Alias)
			out = Document{Product: p.Title(), Name: d.Name, Alias: d.Alias, Form: string(d.Form), MediaType: t.MediaType}
			kept, elsewhere = file.Content{Place: t.File, Data: []byte(t.Text)}, d.Elsewhere()
			if err != nil {
				return err
			}
			out.ServedAt, err = documents.ServedAt(ctx, r, p, d)
			out.Tryable = out.ServedAt != ""
			return err
		})
		return kept, err
	})
	if err == nil && elsewhere != "" {
		text, out.MediaType, err = s.Elsewhere.Read(ctx, elsewhere)
	}
	out.Text = string(text)
	return out, err
}

// lookUp returns the options that the rows share.
func lookUp(more ...operation.Option) []operation.Option {
	return append([]operation.Option{operation.Visited(), operation.Faulting(CodePrivate, CodeHidden)}, more...)
}

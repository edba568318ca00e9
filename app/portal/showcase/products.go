package showcase

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/documents"
	"github.com/gatehouse-io/gatehouse/app/portal/plans"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/app/portal/tutorials"
	"github.com/gatehouse-io/gatehouse/core/portal/catalogue"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/plan"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
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
	Catalogues          []table.ID `json:"Catalogues" doc:"Those that the visitor sees."`
}

// Shelf is a catalogue that a visitor sees.
type Shelf struct {
	ID   table.ID `json:"ID"`
	Name string   `json:"Name"`
	Slug string   `json:"Slug"`
	Cart bool     `json:"Cart" doc:"The visitor may ask for access to what is in it."`
}

// Found is a part of the catalogue.
type Found struct {
	Products   []Card  `json:"Products"`
	Catalogues []Shelf `json:"Catalogues"`
	Total      int     `json:"Total"`
	Page       int     `json:"Page"`
	PerPage    int     `json:"PerPage"`
}

type search struct {
	visitor
	Search    string `query:"search" doc:"Words that all stand in the texts of a product."`
	Catalogue string `query:"catalogue" doc:"Number or slug of a catalogue."`
	Featured  string `query:"featured" doc:"true: only products that the home page shows."`
	Number    string `query:"page" doc:"Page, counted from 1."`
}

// Bounds of searches.
const (
	perPage  = 24
	maxWords = 10
)

func (s *Service) products(ctx context.Context, in search) (out Found, err error) {
	out = Found{Products: []Card{}, Catalogues: []Shelf{}, Page: pageOf(in.Number), PerPage: perPage}
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		out.Catalogues = now.shelves()
		visible := now.ids
		if in.Catalogue != "" {
			visible = nil
			for _, c := range out.Catalogues {
				if c.Slug == in.Catalogue || c.ID.String() == in.Catalogue {
					visible = append(visible, c.ID)
				}
			}
		}
		words := strings.Fields(strings.ToLower(in.Search))
		words = words[:min(len(words), maxWords)]
		var all []product.Product
		for p, err := range portal.All(ctx, r, products.Kind, 0) {
			if err != nil {
				return err
			}
			if catalogue.Shows(visible, p.Catalogues) && (in.Featured != "true" || p.Feature) && says(p, words) {
				all = append(all, p)
			}
		}
		slices.SortFunc(all, func(a, b product.Product) int {
			return cmp.Or(strings.Compare(strings.ToLower(a.Title()), strings.ToLower(b.Title())), cmp.Compare(a.ID, b.ID))
		})
		from := min((out.Page-1)*perPage, len(all))
		for _, p := range all[from:min(from+perPage, len(all))] {
			out.Products = append(out.Products, now.card(p))
		}
		out.Total = len(all)
		return nil
	})
	return out, err
}

// pageOf reads the number of a page. What is none is the first.
func pageOf(text string) int {
	id, ok := table.ParseID(text)
	if !ok || id < 1 {
		return 1
	}
	return int(min(id, 1<<20))
}

// says reports whether all words stand in what a product says.
func says(p product.Product, words []string) bool {
	if len(words) == 0 {
		return true
	}
	texts := []string{p.Title(), p.Description, p.Content}
	for _, d := range p.APIs {
		texts = append(texts, d.Name, d.Description)
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
}

func (s sight) shelves() []Shelf {
	out := []Shelf{}
	for _, c := range s.in {
		out = append(out, Shelf{c.ID, c.Name, c.NameWithSlug, s.cart[c.ID]})
	}
	return out
}

func (s sight) card(p product.Product) Card {
	out := Card{p.ID, p.Title(), p.Path, p.Description, p.AuthType(), append([]string{}, p.AuthTypes...), p.Feature, p.IsDocumentationOnly, []table.ID{}}
	for _, id := range p.Catalogues {
		if slices.Contains(s.ids, id) {
			out.Catalogues = append(out.Catalogues, id)
		}
	}
	return out
}

// Product is a product with what is read about it.
type Product struct {
	Card
	Content    string     `json:"Content"`
	Scopes     string     `json:"Scopes"`
	APIs       []API      `json:"APIs"`
	Plans      []Plan     `json:"Plans"`
	Shelves    []Shelf    `json:"Shelves" doc:"Catalogues that have the product and that the visitor sees."`
	Tutorials  []Tutorial `json:"Tutorials" doc:"Published ones, in order."`
	Requesting bool       `json:"Requesting" doc:"The visitor may ask for access."`
}

// API is an API of a product, or a specification of one that is documentation only.
type API struct {
	Alias       string `json:"Alias" doc:"By which addresses name it."`
	Name        string `json:"Name"`
	Description string `json:"Description"`
	APIType     string `json:"APIType"`
	ListenPath  string `json:"ListenPath"`
	Active      bool   `json:"Active"`
	Document    string `json:"Document" doc:"oas, graphql, or nothing."`
	Address     string `json:"Address" doc:"Where the description is, if it is not kept here."`
}

// Plan is a plan that is offered for a product.
type Plan struct {
	ID                 table.ID   `json:"ID"`
	Name               string     `json:"Name"`
	Description        string     `json:"Description"`
	RateLimit          int64      `json:"RateLimit"`
	Per                float64    `json:"Per" doc:"Seconds."`
	UnlimitedRateLimit bool       `json:"UnlimitedRateLimit"`
	Quota              int64      `json:"Quota"`
	QuotaRenewalRate   int64      `json:"QuotaRenewalRate" doc:"Seconds."`
	UnlimitedQuota     bool       `json:"UnlimitedQuota"`
	AutoApprove        bool       `json:"AutoApproveAccessRequests"`
	Catalogues         []table.ID `json:"Catalogues" doc:"In which it is offered for the product."`
}

// Tutorial tells how to get started with a product.
type Tutorial struct {
	Title           string `json:"Title"`
	Lede            string `json:"Lede"`
	Path            string `json:"Path"`
	Content         string `json:"Content"`
	MarkdownEnabled bool   `json:"MarkdownEnabled"`
	MarkdownContent string `json:"MarkdownContent"`
}

type named struct {
	visitor
	Path string `path:"product_path" doc:"Path of the product."`
}

// find returns a product that the visitor sees. Others are not there.
func find(ctx context.Context, r store.Reader, now sight, path string) (product.Product, error) {
	v, err := products.Kind.ByKey(ctx, r, "path", store.Indexed(path))
	if err == nil && (v.Value.Away() || !catalogue.Shows(now.ids, v.Value.Catalogues)) {
		err = products.Kind.Absent()
	}
	return v.Value, err
}

func (s *Service) product(ctx context.Context, in named) (out Product, err error) {
	err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
		p, err := find(ctx, r, now, in.Path)
		if err != nil {
			return err
		}
		out = Product{Card: now.card(p), Content: p.Content, Scopes: string(p.Scopes), APIs: []API{}, Plans: []Plan{}, Shelves: []Shelf{}, Tutorials: []Tutorial{}}
		for _, c := range now.shelves() {
			if slices.Contains(p.Catalogues, c.ID) {
				out.Shelves = append(out.Shelves, c)
			}
		}
		for _, step := range []func(context.Context, store.Reader, sight, product.Product) error{out.readable, out.offered, out.taught} {
			if err := step(ctx, r, now, p); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (out *Product) readable(ctx context.Context, r store.Reader, _ sight, p product.Product) error {
	all, err := documents.Readables(ctx, r, p)
	for _, d := range all {
		out.APIs = append(out.APIs, API{d.Alias, d.Name, d.Description, d.APIType, d.ListenPath, d.Active, string(d.Form), d.Address})
	}
	return err
}

func (out *Product) offered(ctx context.Context, r store.Reader, now sight, p product.Product) error {
	for v, err := range portal.All(ctx, r, plans.Kind, 0) {
		if err != nil {
			return err
		}
		if catalogue.Offers(now.ids, catalogue.Item{Provider: p.ProviderID, Catalogues: p.Catalogues}, catalogue.Item{Provider: v.ProviderID, Catalogues: v.Catalogues}) {
			out.Plans = append(out.Plans, planOf(v, out.Card.Catalogues))
		}
	}
	method := out.AuthType != "ba" && out.AuthType != "custom"
	out.Requesting = method && !p.IsDocumentationOnly && len(out.Plans) > 0 && slices.ContainsFunc(out.Shelves, func(c Shelf) bool { return c.Cart })
	return nil
}

func planOf(v plan.Plan, in []table.ID) Plan {
	v = v.Settled()
	out := Plan{v.ID, v.Title(), v.Description, v.RateLimit, v.Per, v.UnlimitedRateLimit, v.Quota, v.QuotaRenewalRate, v.UnlimitedQuota, v.AutoApprove, []table.ID{}}
	for _, id := range v.Catalogues {
		if slices.Contains(in, id) {
			out.Catalogues = append(out.Catalogues, id)
		}
	}
	return out
}

func (out *Product) taught(ctx context.Context, r store.Reader, _ sight, p product.Product) error {
	all, err := tutorials.Published(ctx, r, p.ID)
	for _, t := range all {
		out.Tutorials = append(out.Tutorials, Tutorial{t.Title, t.Lede, t.Path, t.Content, t.MarkdownEnabled, t.MarkdownContent})
	}
	return err
}

// Document is what an API or a specification is described by.
type Document struct {
	Product   string `json:"Product" doc:"Its name."`
	Name      string `json:"Name"`
	Alias     string `json:"Alias"`
	Form      string `json:"Form" doc:"oas or graphql."`
	MediaType string `json:"MediaType"`
	Text      string `json:"Text"`
}

type documented struct {
	named
	Alias string `path:"api_alias" doc:"Identifier of an API of the product, or alias of a specification."`
}

func (s *Service) document(ctx context.Context, in documented) (out Document, err error) {
	text, err := s.Shelf.Open(ctx, func() (kept file.Content, err error) {
		err = s.look(ctx, in.visitor, func(r store.Reader, now sight) error {
			p, err := find(ctx, r, now, in.Path)
			if err != nil {
				return err
			}
			d, t, err := documents.Read(ctx, r, p, in.Alias)
			out = Document{Product: p.Title(), Name: d.Name, Alias: d.Alias, Form: string(d.Form), MediaType: t.MediaType}
			kept = file.Content{Place: t.File, Data: []byte(t.Text)}
			return err
		})
		return kept, err
	})
	out.Text = string(text)
	return out, err
}

// lookUp makes the options that the rows share.
func lookUp(more ...operation.Option) []operation.Option {
	return append([]operation.Option{operation.Visited(), operation.Faulting(CodePrivate, CodeHidden)}, more...)
}

package documents

import (
	"context"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/document"
	place "github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Readable is an API of a product, or a specification of a documentation-only product, as
// developers read it.
type Readable struct {
	Alias       string
	Name        string
	Description string
	APIType     string
	ListenPath  string
	Active      bool
	Form        document.Form // form of its description; "": it has none
	Address     string        // address of the description, if it is not stored here
	sheet       document.Sheet
}

// with sets the description of a readable.
func (d Readable) with(ctx context.Context, r store.Reader, o owner) (Readable, error) {
	s, err := sheetOf(ctx, r, o)
	d.sheet, d.Form = s, s.Type(d.Address)
	if d.Form != document.OAS || s.OAS {
		d.Address = ""
	}
	return d, err
}

// Readables returns the readables of a product, in order.
func Readables(ctx context.Context, r store.Reader, p product.Product) (out []Readable, err error) {
	for _, a := range p.APIs {
		d, err := Readable{Alias: a.APIID, Name: a.Name, Description: a.Description, APIType: a.APIType, ListenPath: a.ListenPath, Active: a.Status, Address: a.OASUrl}.with(ctx, r, ofAPI(p.ID, a.APIID))
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	list, err := Specs(ctx, r, p.ID)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		d, err := Readable{Alias: s.SpecAlias, Name: s.Name, Active: true, Address: s.OASURL}.with(ctx, r, ofSpec(s))
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// Read returns a readable of a product and the record of its stored document, whose text may be
// in a file. A description elsewhere has no stored document.
func Read(ctx context.Context, r store.Reader, p product.Product, alias string) (d Readable, t document.Text, err error) {
	all, err := Readables(ctx, r, p)
	if err != nil {
		return d, t, err
	}
	for _, d = range all {
		if d.Alias == alias && d.sheet.Has(d.Form) {
			v, err := open(ctx, r, document.TextID(d.sheet.ID, d.Form))
			return d, v.Value, err
		}
		if d.Alias == alias && d.Elsewhere() != "" {
			return d, t, nil
		}
	}
	return Readable{}, t, texts.Absent()
}

// open reads a document after reserving memory for it: a large one takes several times its size,
// and visitors may request many at once.
func open(ctx context.Context, r store.Reader, name string) (v store.Stored[document.Text], err error) {
	if rec, err := r.Get(ctx, texts.Name, name); err == nil {
		if err := load.Of(ctx).Work(ctx, int64(len(rec.Doc)), 0); err != nil {
			return v, err
		}
	}
	if v, err = texts.Get(ctx, r, name); err != nil {
		return v, err
	}
	return v, load.Of(ctx).Work(ctx, v.Value.File.Size, 0)
}

// Text returns the name of the stored document of a readable; "": there is none.
func (d Readable) Text() string {
	if !d.sheet.Has(d.Form) {
		return ""
	}
	return document.TextID(d.sheet.ID, d.Form)
}

// Revisions returns the revision of each document.
func Revisions(ctx context.Context, r store.Reader) (map[string]store.Revision, error) {
	out := map[string]store.Revision{}
	for rec, err := range r.Scan(ctx, store.Query{Kind: texts.Name}) {
		if err != nil {
			return nil, err
		}
		out[rec.ID] = rec.Rev
	}
	return out, nil
}

// Outline returns the operations in a document, and its size in bytes. A GraphQL schema has no
// operations.
func (c Config) Outline(ctx context.Context, st store.Store, in tenant.Scope, name string) (out []document.Operation, size int, err error) {
	text, err := c.Shelf.Open(ctx, func() (kept place.Content, err error) {
		err = st.View(ctx, in, func(r store.Reader) error {
			v, err := open(ctx, r, name)
			kept = place.Content{Place: v.Value.File, Data: []byte(v.Value.Text)}
			return err
		})
		return kept, err
	})
	if err != nil || !strings.HasSuffix(name, "-"+string(document.OAS)) {
		return nil, len(text), err
	}
	n, _, err := c.tree(ctx, text)
	if err != nil {
		return nil, len(text), err
	}
	return document.Outline(n), len(text), nil
}

// Absent returns the fault for a missing document.
func Absent() error { return texts.Absent() }

// Touched are the kinds of records that determine Readables.
func Touched() []string { return []string{sheets.Name, texts.Name, specs.Name} }

// ServedAt returns where gateways serve an API of a product; "": unknown.
func ServedAt(ctx context.Context, r store.Reader, p product.Product, d Readable) (string, error) {
	if d.sheet.Endpoint != "" && d.Form == document.GraphQL {
		return d.sheet.Endpoint, nil
	}
	for _, a := range p.APIs {
		if a.APIID == d.Alias && a.Status {
			return servedAt(ctx, r, p, a)
		}
	}
	return "", nil
}

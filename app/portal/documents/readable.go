package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Readable is an API of a product, or a specification of one that is documentation only,
// as developers read it.
type Readable struct {
	Alias       string
	Name        string
	Description string
	APIType     string
	ListenPath  string
	Active      bool
	Form        document.Form // of what it is described by; "": nothing
	Address     string        // where that is, if it is not kept here
	sheet       document.Sheet
}

// with notes what a readable is described by.
func (d Readable) with(ctx context.Context, r store.Reader, o owner) (Readable, error) {
	s, err := sheetOf(ctx, r, o)
	d.sheet, d.Form = s, s.Type(d.Address)
	if d.Form != document.OAS || s.OAS {
		d.Address = ""
	}
	return d, err
}

// Readables returns what there is to read about a product, in order.
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

// Read returns the record of the document that is kept of a readable of a product; what it
// says may be in a file.
func Read(ctx context.Context, r store.Reader, p product.Product, alias string) (d Readable, t document.Text, err error) {
	all, err := Readables(ctx, r, p)
	if err != nil {
		return d, t, err
	}
	for _, d = range all {
		if d.Alias == alias && d.sheet.Has(d.Form) {
			v, err := texts.Get(ctx, r, document.TextID(d.sheet.ID, d.Form))
			return d, v.Value, err
		}
	}
	return Readable{}, t, texts.Absent()
}

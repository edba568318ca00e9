package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// save changes a record, or creates it.
func save[T any](ctx context.Context, w store.Writer, k *store.Kind[T], id string, fresh T, fn func(T) T) error {
	_, err := k.Edit(ctx, w, id, nil, func(v T) (T, error) { return fn(v), nil })
	if fault.KindOf(err) == fault.NotFound {
		err = k.Insert(ctx, w, fn(fresh))
	}
	return err
}

// annotate changes the sheet of an owner. An empty sheet is deleted.
func annotate(ctx context.Context, w store.Writer, o owner, fn func(document.Sheet) document.Sheet) error {
	s, err := sheetOf(ctx, w, o)
	if err != nil {
		return err
	}
	was := s.Empty()
	switch s = fn(s); {
	case s.Empty() && was:
		return nil
	case s.Empty():
		_, err = sheets.Delete(ctx, w, o.sheet, nil)
		return err
	}
	s.Portal = w.Scope().Org()
	return save(ctx, w, sheets, o.sheet, s, func(document.Sheet) document.Sheet { return s })
}

// keep stores a document, replacing the one of the same form.
func keep(ctx context.Context, w store.Writer, o owner, f document.Form, d file) error {
	if err := annotate(ctx, w, o, func(s document.Sheet) document.Sheet { return s.With(f) }); err != nil {
		return err
	}
	t := document.Text{ID: document.TextID(o.sheet, f), Portal: w.Scope().Org(), Product: o.product, MediaType: d.mediaType, Text: string(d.kept.Data), File: d.kept.Place}
	return save(ctx, w, texts, t.ID, t, func(document.Text) document.Text { return t })
}

// drop deletes the document of a form, or returns an error if there is none.
func drop(ctx context.Context, w store.Writer, o owner, f document.Form) error {
	if _, err := texts.Delete(ctx, w, document.TextID(o.sheet, f), nil); err != nil {
		return err
	}
	return annotate(ctx, w, o, func(s document.Sheet) document.Sheet { return s.Without(f) })
}

// yield deletes a stored OpenAPI description in favour of one at an address.
func yield(ctx context.Context, w store.Writer, o owner, address string) error {
	if address == "" {
		return nil
	}
	if err := drop(ctx, w, o, document.OAS); fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

// erase deletes all documents of an owner.
func erase(ctx context.Context, w store.Writer, o owner) error {
	s, err := sheetOf(ctx, w, o)
	if err != nil {
		return err
	}
	for _, f := range []document.Form{document.OAS, document.GraphQL} {
		if s.Has(f) {
			if _, err := texts.Delete(ctx, w, document.TextID(o.sheet, f), nil); err != nil {
				return err
			}
		}
	}
	return annotate(ctx, w, o, func(s document.Sheet) document.Sheet { return document.Sheet{ID: s.ID, Product: s.Product} })
}

// Follow updates the documents of a product's APIs after a change of the product:
// documents of removed APIs are deleted, and so are descriptions that got an address
// instead.
func Follow(ctx context.Context, w store.Writer, was, is product.Product) error {
	now := map[string]product.Detail{}
	for _, d := range is.APIs {
		now[d.APIID] = d
	}
	before := map[string]string{}
	for _, d := range was.APIs {
		before[d.APIID] = d.OASUrl
		if _, stays := now[d.APIID]; !stays {
			if err := erase(ctx, w, ofAPI(was.ID, d.APIID)); err != nil {
				return err
			}
		}
	}
	for _, d := range is.APIs {
		if d.OASUrl != before[d.APIID] {
			if err := yield(ctx, w, ofAPI(is.ID, d.APIID), d.OASUrl); err != nil {
				return err
			}
		}
	}
	return nil
}

// Forget deletes the specifications and all documents of a deleted product.
func Forget(ctx context.Context, w store.Writer, id table.ID, at crud.Stamp) error {
	gone, err := Specs(ctx, w, id)
	if err != nil {
		return err
	}
	for _, spec := range gone {
		if err := portal.Remove(ctx, w, specs, spec.ID, at); err != nil {
			return err
		}
	}
	found, err := sheets.Values(ctx, w, store.Query{Index: byProduct, Value: id.Key()})
	if err != nil {
		return err
	}
	for _, s := range found {
		if err := erase(ctx, w, owner{id, s.ID}); err != nil {
			return err
		}
	}
	return nil
}

package documents

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/product"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Declare stores the specifications in the body of a product. Specifications of the
// product are matched by alias, and change as the body says. Others stay, unless the
// body says that there are none.
func Declare(ctx context.Context, w store.Writer, p product.Product, at crud.Stamp) error {
	if p.SpecDetails == nil {
		return nil
	}
	have, err := Specs(ctx, w, p.ID)
	if err != nil {
		return err
	}
	if len(p.SpecDetails) == 0 {
		for _, s := range have {
			if err := remove(ctx, w, s, at); err != nil {
				return err
			}
		}
		return nil
	}
	named, known := map[string]bool{}, map[string]document.Spec{}
	for _, s := range have {
		known[s.SpecAlias] = s
	}
	for _, fields := range p.SpecDetails {
		alias, _ := table.Text(fields["SpecAlias"])
		s, there := known[alias]
		if named[alias] {
			s = document.Spec{} // a second one with the same name, which is invalid
		}
		named[alias] = true
		if !there && (!p.IsDocumentationOnly || len(known) >= table.MaxList) {
			wrong := table.Problems{}
			wrong.Invalid("SpecDetails")
			return wrong.Err()
		}
		if s, err = declare(ctx, w, s, p.ID, fields, at); err != nil {
			return err
		}
		known[s.SpecAlias] = s
	}
	return nil
}

// declare stores one specification, new or changed.
func declare(ctx context.Context, w store.Writer, s document.Spec, id table.ID, fields map[string]any, at crud.Stamp) (document.Spec, error) {
	var body table.Body[document.Spec]
	text, err := json.Marshal(fields)
	if err == nil {
		err = body.UnmarshalJSON(text)
	}
	if err != nil {
		return s, err
	}
	was := s
	s.ProductID = id
	if err := body.Apply(&s, was.ID == 0, portal.Resolver(ctx, w)); err != nil {
		return s, err
	}
	switch {
	case was.ID == 0:
		return portal.Add(ctx, w, specs, at, s)
	case was == s:
		return s, nil
	}
	if s, err = portal.Edit(ctx, w, specs, s.ID, at, func(document.Spec) (document.Spec, error) { return s, nil }); err != nil {
		return s, err
	}
	return s, yield(ctx, w, ofSpec(s), s.OASURL)
}

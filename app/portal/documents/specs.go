package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// CodeRegular is the fault code for a specification of a product that has APIs, and
// CodeMany for too many specifications.
const (
	CodeRegular = "portal_spec.product"
	CodeMany    = "portal_spec.many"
)

// Spec is a specification as clients read it.
type Spec struct {
	ID                table.ID `json:"ID"`
	CID               string   `json:"CID"`
	SpecAlias         string   `json:"SpecAlias"`
	Name              string   `json:"Name"`
	OASUrl            string   `json:"OASUrl"`
	DocumentationType string   `json:"DocumentationType" doc:"Kind of document that developers see: oas, graphqlSDL or empty."`
}

func showSpec(ctx context.Context, r store.Reader, s document.Spec) (Spec, error) {
	sheet, err := sheetOf(ctx, r, ofSpec(s))
	return Spec{s.ID, s.CID, s.SpecAlias, s.Name, s.OASURL, string(sheet.Type(s.OASURL))}, err
}

func ofSpec(s document.Spec) owner { return owner{s.ProductID, document.OfSpec(s.ProductID, s.ID)} }

// Specs returns the specifications of a product, in order.
func Specs(ctx context.Context, r store.Reader, id table.ID) ([]document.Spec, error) {
	return store.Collect(portal.All(ctx, r, specs, id))
}

type specOperations = portal.Operations[document.Spec, Spec, Spec]

// admit refuses specifications of products with APIs, and more of them than a product
// may have.
func admit(ctx context.Context, w store.Writer, c *portal.Change[document.Spec]) error {
	if c.Op != store.Created {
		return nil
	}
	p, err := portal.Find(ctx, w, products.Kind, c.New.ProductID.String())
	if err != nil {
		return err
	}
	if !p.IsDocumentationOnly {
		return regular
	}
	n, err := portal.Count(ctx, w, specs, p.ID)
	if err == nil && n >= table.MaxList {
		return fault.New(fault.Conflict, CodeMany, "a product has %d specifications at most", table.MaxList)
	}
	return err
}

var regular error = fault.New(fault.Invalid, CodeRegular, "product is not documentation-only")

// settle updates the documents of a specification after it has changed.
func settle(ctx context.Context, w store.Writer, c *portal.Change[document.Spec]) error {
	if c.Op == store.Deleted {
		return erase(ctx, w, ofSpec(c.Old))
	}
	return yield(ctx, w, ofSpec(c.New), c.New.OASURL)
}

// specRows are the operations on specifications and their documents.
func (c Config) specRows(o specOperations) []operation.Row {
	f := family{Config: c, Tools: o.Tools, param: "spec_id", one: "a specification", unlink: unlinkSpec, find: func(ctx context.Context, r store.Reader, in at) (owner, error) {
		s, err := specAt(ctx, r, in)
		return ofSpec(s), err
	}}
	sdl := map[string]operation.Answer{"invalid": asText, document.CodeSDL: {Status: 422}, CodeRegular: asList}
	rows := append([]operation.Row{
		o.ListRow(), o.CreateRow(operation.Answers(map[string]operation.Answer{CodeRegular: asList, "not_found": {Status: 422, Text: "record not found"}}), operation.Faulting(table.CodeInvalid, CodeRegular, CodeMany)),
		o.GetRow(), o.UpdateRow(operation.Answers(map[string]operation.Answer{})), o.DeleteRow(),
	}, f.oas()...)
	return append(rows,
		f.fetchSchema(),
		operation.PUT("upload-schema", f.schemaPath(), "Upload the GraphQL schema of a specification", f.takeSchema, f.schemaOptions(sdl)...),
		operation.DELETE("delete-schema", f.schemaPath(), "Delete a specification that has a GraphQL schema", f.deleteSpec, f.options(
			operation.Notes("The whole specification is deleted, not only its schema."), operation.Example(nil, portal.Status{Status: "ok"}))...),
		c.fromSchema(o, f),
	)
}

func specAt(ctx context.Context, r store.Reader, in at) (document.Spec, error) {
	p, err := portal.Find(ctx, r, products.Kind, in.Product)
	if err != nil {
		return document.Spec{}, err
	}
	s, err := portal.Find(ctx, r, specs, in.Owner)
	if err == nil && s.ProductID != p.ID {
		err = specs.Absent()
	}
	return s, err
}

// unlinkSpec removes the address of a specification's description.
func unlinkSpec(ctx context.Context, w store.Writer, in at, stamp crud.Stamp) error {
	s, err := specAt(ctx, w, in)
	if err != nil || s.OASURL == "" {
		return err
	}
	_, err = portal.Edit(ctx, w, specs, s.ID, stamp, func(s document.Spec) (document.Spec, error) {
		s.OASURL = ""
		return s, nil
	})
	return err
}

// deleteSpec deletes a specification that has a schema.
func (f family) deleteSpec(ctx context.Context, in at) (portal.Status, error) {
	_, err := f.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		s, err := specAt(ctx, w, in)
		if err != nil {
			return err
		}
		sheet, err := sheetOf(ctx, w, ofSpec(s))
		if err != nil {
			return err
		}
		if !sheet.GraphQL {
			return specs.Absent()
		}
		return remove(ctx, w, s, f.Stamp(in.Scope))
	})
	return portal.Status{Status: "ok"}, err
}

// remove deletes a specification and its document.
func remove(ctx context.Context, w store.Writer, s document.Spec, at crud.Stamp) error {
	if err := erase(ctx, w, ofSpec(s)); err != nil {
		return err
	}
	return portal.Remove(ctx, w, specs, s.ID, at)
}

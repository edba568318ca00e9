package documents

import (
	"context"
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/products"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// newSpec is the input of the operation that makes a specification from a file.
type newSpec struct {
	Scope   tenant.Scope
	Product string               `path:"^"`
	DryRun  bool                 `query:"dry_run" doc:"true: the file is checked and not stored."`
	Body    operation.Attachment `body:""`
}

// Uploaded is the specification made from a file, or, if the file was only validated,
// the message that it is valid.
type Uploaded struct{ made *Spec }

// MarshalJSON implements json.Marshaler.
func (u Uploaded) MarshalJSON() ([]byte, error) {
	if u.made == nil {
		return json.Marshal(portal.Status{Status: "ok"})
	}
	return json.Marshal(u.made)
}

// Schema describes the answer.
func (Uploaded) Schema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "properties": map[string]any{
		"ID": map[string]any{"type": "integer"}, "CID": text, "SpecAlias": text, "Name": text, "OASUrl": text, "DocumentationType": text,
		"status": map[string]any{"const": "ok", "description": "For a file that was only checked."},
	}}
}

// fromSchema is the row that makes a specification from a file.
func (c Config) fromSchema(o specOperations, f family) operation.Row {
	return operation.POST("create-from-schema", "/graphql/schema", "Create a specification from a GraphQL schema", func(ctx context.Context, in newSpec) (out Uploaded, err error) {
		if err := o.Store.View(ctx, in.Scope, func(r store.Reader) error {
			p, err := portal.Find(ctx, r, products.Kind, in.Product)
			if err == nil && !p.IsDocumentationOnly {
				err = regular
			}
			return err
		}); err != nil {
			return out, err
		}
		d, err := f.readSchema(ctx, in.Body)
		if err != nil || in.DryRun {
			return out, err
		}
		if d, err = f.shelve(ctx, in.Scope, d); err != nil {
			return out, err
		}
		stamp := f.Stamp(in.Scope)
		_, err = o.Store.Update(ctx, in.Scope, func(w store.Writer) error {
			made, err := makeSpec(ctx, w, in, d, stamp)
			out.made = &made
			return err
		})
		return out, err
	}, operation.Above("product_id", "Number or CID of the product."), operation.Limits(c.MaxUpload, 0),
		operation.Answers(map[string]operation.Answer{"invalid": asList, document.CodeSDL: {Status: 422}, table.CodeInvalid: {Status: 422}, codeLarge: tooMuch}),
		operation.Faulting(document.CodeSDL, document.CodeJSON, document.CodeExtension, codeLarge, codeUnchecked, files.CodeAway, CodeRegular, CodeMany),
		operation.Example(map[string]any{"file": "orders.graphql"}, Uploaded{&Spec{ID: 7, CID: "37gS9SRLtGaYzHWP4ZtBVF39JAi", SpecAlias: "orders", DocumentationType: string(document.GraphQL)}}),
		operation.Notes("The name of the file becomes the alias. Its extension determines the format: .graphql, .graphqls and .gql for the schema definition language, .json for the result of an introspection query."))
}

// makeSpec stores a specification and its schema.
func makeSpec(ctx context.Context, w store.Writer, in newSpec, d file, stamp crud.Stamp) (Spec, error) {
	p, err := portal.Find(ctx, w, products.Kind, in.Product)
	if err != nil {
		return Spec{}, err
	}
	c := &portal.Change[document.Spec]{Op: store.Created, New: document.Spec{ProductID: p.ID, SpecAlias: document.Alias(in.Body.Name)}}
	if err := admit(ctx, w, c); err != nil {
		return Spec{}, err
	}
	s, err := portal.Add(ctx, w, specs, stamp, c.New)
	if err != nil {
		return Spec{}, err
	}
	if err := keep(ctx, w, ofSpec(s), document.GraphQL, d); err != nil {
		return Spec{}, err
	}
	return showSpec(ctx, w, s)
}

package documents

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/document"
	place "github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// at is the input of an operation on the documents of an owner.
type at struct {
	Scope   tenant.Scope
	Product string `path:"^"`
	Owner   string `path:""`
}

// upload is the input of an operation that receives a document.
type upload struct {
	at
	Body operation.Attachment `body:""`
}

// trial is upload for operations that can also only validate the document.
type trial struct {
	upload
	DryRun bool `query:"dry_run" doc:"true: the file is checked and not stored."`
}

// family makes the operations on the documents of one kind of owner.
type family struct {
	Config
	crud.Tools
	param, one string // of the owner, in paths and summaries
	// find returns the owner in a path.
	find func(ctx context.Context, r store.Reader, in at) (owner, error)
	// unlink removes the address of the owner's OpenAPI description, if it has one.
	unlink func(ctx context.Context, w store.Writer, in at, stamp crud.Stamp) error
}

// forms of errors.
var (
	asText  = operation.Answer{Status: 400, Form: operation.FailureText}
	asList  = operation.Answer{Status: 400}
	tooMuch = operation.Answer{Status: 413}
	unknown = operation.Answer{Status: 422, Text: "record not found"}
)

// options are the options of all rows of the family.
func (f family) options(more ...operation.Option) []operation.Option {
	return append([]operation.Option{
		operation.Identifier(f.param, "Identifier of "+f.one+"."), operation.Above("product_id", "Number or CID of the product."),
	}, more...)
}

// oas are the rows of OpenAPI descriptions.
func (f family) oas() []operation.Row {
	path := "/{" + f.param + "}/oas"
	return []operation.Row{
		operation.GET("get-oas", path, "Fetch the OpenAPI description of "+f.one, f.fetch(document.OAS, CodeNoOAS, "no oas specified"), f.options(
			operation.Answers(map[string]operation.Answer{"not_found": {Status: 422, Text: "record not found", Form: operation.FailureText}, CodeNoOAS: {Status: 422, Form: operation.FailureText}}),
			operation.Faulting(CodeNoOAS), operation.Example(nil, Download{document.YAML, "openapi: 3.0.3\n"}))...),
		operation.POST("upload-oas", path, "Upload the OpenAPI description of "+f.one, func(ctx context.Context, in upload) (portal.Status, error) {
			return f.receive(ctx, trial{upload: in}, document.OAS, f.readOAS, f.unlink)
		}, f.options(operation.Limits(f.MaxUpload, 0), operation.Answers(map[string]operation.Answer{"invalid": asList, "not_found": unknown, codeLarge: tooMuch}),
			operation.Faulting(document.CodeOAS, codeLarge, files.CodeAway), operation.Example(map[string]any{"file": "openapi.yaml"}, portal.Status{Status: "ok"}),
			operation.Notes("The file is OpenAPI 2 or 3, in JSON or YAML. It replaces the previous description, and an address in OASUrl."))...),
		operation.DELETE("delete-oas", path, "Delete the OpenAPI description of "+f.one, f.remove(document.OAS), f.options(operation.Example(nil, portal.Status{Status: "ok"}))...),
	}
}

// fetchSchema is the row that returns a GraphQL schema.
func (f family) fetchSchema() operation.Row {
	return operation.GET("get-schema", f.schemaPath(), "Fetch the GraphQL schema of "+f.one, f.fetch(document.GraphQL, CodeNoSchema, "no graphql schema specified"), f.options(
		operation.Answers(map[string]operation.Answer{"not_found": {Status: 422, Text: "record not found", Form: operation.FailureText}, CodeNoSchema: {Status: 422, Form: operation.FailureText}}),
		operation.Faulting(CodeNoSchema), operation.Example(nil, Download{document.SDL, "type Query { hello: String }\n"}))...)
}

func (f family) schemaPath() string { return "/{" + f.param + "}/graphql/schema" }

// takeSchema handles the upload of a GraphQL schema.
func (f family) takeSchema(ctx context.Context, in trial) (portal.Status, error) {
	return f.receive(ctx, in, document.GraphQL, f.readSchema, nil)
}

// schemaOptions are the additional options of rows that accept a GraphQL schema.
func (f family) schemaOptions(answers map[string]operation.Answer) []operation.Option {
	answers["not_found"], answers[codeLarge] = unknown, tooMuch
	return f.options(operation.Limits(f.MaxUpload, 0), operation.Answers(answers), operation.Faulting(document.CodeSDL, document.CodeJSON, document.CodeExtension, codeLarge, codeUnchecked, files.CodeAway),
		operation.Example(map[string]any{"file": "schema.graphql"}, portal.Status{Status: "ok"}),
		operation.Notes("The extension of the file determines the format: .graphql, .graphqls and .gql for the schema definition language, .json for the result of an introspection query."))
}

// Fault codes for missing documents.
const (
	CodeNoOAS    = "document.no_oas"
	CodeNoSchema = "document.no_schema"
)

// fetch returns the handler that answers the document of a form.
func (f family) fetch(form document.Form, code, none string) func(context.Context, at) (Download, error) {
	return func(ctx context.Context, in at) (Download, error) {
		var t store.Stored[document.Text]
		text, err := f.Shelf.Open(ctx, func() (place.Content, error) {
			err := f.Store.View(ctx, in.Scope, func(r store.Reader) error {
				o, err := f.find(ctx, r, in)
				if err != nil {
					return err
				}
				t, err = open(ctx, r, document.TextID(o.sheet, form))
				if fault.KindOf(err) == fault.NotFound {
					err = fault.New(fault.NotFound, code, "%s", none)
				}
				return err
			})
			return place.Content{Place: t.Value.File, Data: []byte(t.Value.Text)}, err
		})
		return Download{t.Value.MediaType, string(text)}, err
	}
}

// receive validates a document and stores it. It looks up the owner first, so that a
// document for an unknown owner costs little.
func (f family) receive(ctx context.Context, in trial, form document.Form, read reader, before func(context.Context, store.Writer, at, crud.Stamp) error) (portal.Status, error) {
	done := portal.Status{Status: "ok"}
	if err := f.Store.View(ctx, in.Scope, func(r store.Reader) error {
		_, err := f.find(ctx, r, in.at)
		return err
	}); err != nil {
		return done, err
	}
	d, err := read(ctx, in.Body)
	if err != nil || in.DryRun {
		return done, err
	}
	if d, err = f.shelve(ctx, in.Scope, d); err != nil {
		return done, err
	}
	_, err = f.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		o, err := f.find(ctx, w, in.at)
		if err != nil {
			return err
		}
		if before != nil {
			if err := before(ctx, w, in.at, f.Stamp(in.Scope)); err != nil {
				return err
			}
		}
		return keep(ctx, w, o, form, d)
	})
	return done, err
}

// remove returns the handler that deletes the document of a form.
func (f family) remove(form document.Form) func(context.Context, at) (portal.Status, error) {
	return func(ctx context.Context, in at) (portal.Status, error) {
		_, err := f.Store.Update(ctx, in.Scope, func(w store.Writer) error {
			o, err := f.find(ctx, w, in)
			if err != nil {
				return err
			}
			return drop(ctx, w, o, form)
		})
		return portal.Status{Status: "ok"}, err
	}
}

// Download is a document as it was uploaded.
type Download struct{ mediaType, text string }

// Stream implements operation.Stream.
func (d Download) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return d.mediaType, "", [][]byte{[]byte(d.text)}, nil
}

// MediaTypes implements operation.Varied.
func (d Download) MediaTypes() []string { return []string{d.mediaType, document.JSON} }

// Schema describes the answer.
func (Download) Schema() map[string]any { return map[string]any{"type": "string"} }

package openapi

import (
	"errors"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// errElsewhere refuses to follow a reference out of the document.
var errElsewhere = errors.New("references to other documents are not followed")

// values validates examples and defaults against their schemas
// (docs/wire/oas-apis.md#create-replace-patch-import). It parses the document a second time, which
// is why it is done on demand.
// ¶ The relations of the parts of a document are not checked again: the library would walk the
// whole target of a reference for each reference.
func values(document doc.Object, o port.Options) (found []port.Problem) {
	// The library walks its input without checks; a document that makes it panic is the client's
	// mistake and must not end the process.
	defer func() {
		if r := recover(); r != nil {
			found = one("", "cannot be read as an OpenAPI document")
		}
	}()
	d, err := load(document)
	if err != nil {
		return one("", "cannot be read as an OpenAPI document: "+brief(err))
	}
	f := fitting{o: o, left: maxEffort, known: map[*openapi3.Operation]bool{}}
	// Components, paths and webhooks, each in order of name.
	if c := d.Components; c != nil {
		each(c.Schemas, func(name string, r *openapi3.SchemaRef) { f.schema("components.schema."+name, r) })
		each(c.Parameters, func(name string, r *openapi3.ParameterRef) { f.parameter("components.parameter."+name, r) })
		each(c.RequestBodies, func(name string, r *openapi3.RequestBodyRef) { f.body("components.request body."+name, r) })
		each(c.Responses, func(name string, r *openapi3.ResponseRef) { f.response("components.response."+name, r) })
		each(c.Headers, func(name string, r *openapi3.HeaderRef) { f.header("components.header."+name, r) })
		// The library does not look at callbacks of operations either.
		each(c.Callbacks, func(name string, r *openapi3.CallbackRef) {
			if r != nil && r.Ref == "" && r.Value != nil {
				each(r.Value.Map(), func(_ string, item *openapi3.PathItem) { f.path("components.callback."+name, item) })
			}
		})
	}
	each(d.Paths.Map(), func(path string, item *openapi3.PathItem) { f.path("paths."+path, item) })
	each(d.Webhooks, func(name string, item *openapi3.PathItem) { f.path("webhooks."+name, item) })
	return f.found
}

// load parses a document without the members of gateways, which OpenAPI does not define.
func load(document doc.Object) (*openapi3.T, error) {
	e := document.Edit()
	for _, name := range []string{extension, toolView, streaming} {
		e.Delete(name)
	}
	text, err := e.Object().AppendJSON(nil)
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(*openapi3.Loader, *url.URL) ([]byte, error) { return nil, errElsewhere }
	return loader.LoadFromData(text)
}

// brief returns the first line of an error's text.
func brief(err error) string {
	const most = 300
	text, _, _ := strings.Cut(err.Error(), "\n")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

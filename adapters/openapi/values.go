package openapi

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// errElsewhere refuses to follow a reference out of the document.
var errElsewhere = errors.New("references to other documents are not followed")

// values checks examples and defaults against their schemas
// (docs/wire/oas-apis.md#create-replace-patch-import). It reads the document a second time, which is why it is done on demand.
func values(document doc.Object, o port.Options) (found []port.Problem) {
	// The library walks whatever it is given; a document that trips it up is the
	// client's mistake and must not end the process.
	defer func() {
		if r := recover(); r != nil {
			found = one("", "cannot be read as an OpenAPI document")
		}
	}()
	d, err := load(document)
	if err != nil {
		return one("", "cannot be read as an OpenAPI document: "+brief(err))
	}
	return failures(d.Validate(context.Background(), options(o)...))
}

// load reads a document without what belongs to gateways, which OpenAPI says
// nothing about.
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

// options turns checks off that were not asked for. Patterns are not compiled here:
// the schema has seen to them, and the library would keep each of them for good.
func options(o port.Options) []openapi3.ValidationOption {
	list := []openapi3.ValidationOption{openapi3.EnableMultiError(), openapi3.DisableSchemaPatternValidation()}
	if !o.Examples {
		list = append(list, openapi3.DisableExamplesValidation())
	}
	if !o.Defaults {
		list = append(list, openapi3.DisableSchemaDefaultsValidation())
	}
	return list
}

// failures lists what the library found.
func failures(err error) []port.Problem {
	var list openapi3.MultiError
	if !errors.As(err, &list) && err != nil {
		list = openapi3.MultiError{err}
	}
	var out []port.Problem
	for _, err := range list {
		// Gateways look at the root requirements only, which is a rule of its own.
		if _, undefined := errors.AsType[*openapi3.SecurityRequirementSchemeUndefinedError](err); !undefined {
			at, message := location(err)
			if p := (port.Problem{Field: strings.Join(at, "."), Message: message}); len(out) < maxProblems && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// location unwraps the context of a failure into the place it is about.
func location(err error) ([]string, string) {
	var path []string
	for {
		switch e := err.(type) { //nolint:errorlint // each layer is looked at by itself
		case *openapi3.SectionValidationError:
			path = append(path, strings.ReplaceAll(e.Section, "external docs", "externalDocs"))
		case *openapi3.PathValidationError:
			path = append(path, e.Path)
		case *openapi3.OperationValidationError:
			path = append(path, strings.ToLower(e.Method))
		case *openapi3.ComponentValidationError:
			path = append(path, e.Section, e.Name)
		default:
			return path, brief(err)
		}
		err = errors.Unwrap(err)
	}
}

// brief is the first line of an error's text: the library adds schemas and values.
func brief(err error) string {
	const most = 300
	text, _, _ := strings.Cut(err.Error(), "\n")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

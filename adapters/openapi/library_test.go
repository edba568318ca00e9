package openapi

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// relations returns the library's findings about the relations of a document's parts, without
// examples and defaults.
func relations(d *openapi3.T) []port.Problem {
	return failures(d.Validate(context.Background(), openapi3.EnableMultiError(), openapi3.DisableSchemaPatternValidation(),
		openapi3.DisableExamplesValidation(), openapi3.DisableSchemaDefaultsValidation()))
}

// failures lists the library's findings.
func failures(err error) []port.Problem {
	var list openapi3.MultiError
	if !errors.As(err, &list) && err != nil {
		list = openapi3.MultiError{err}
	}
	var out []port.Problem
	for _, err := range list {
		// Gateways only check the root requirements, for which there is a separate rule.
		if _, undefined := errors.AsType[*openapi3.SecurityRequirementSchemeUndefinedError](err); !undefined {
			at, message := location(err)
			if p := (port.Problem{Field: strings.Join(at, "."), Message: message}); len(out) < maxProblems && !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	return out
}

// location unwraps the context of a finding into its location.
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

package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// fitting validates the examples and defaults of a document against their schemas, each of
// them once, where it is defined: the target of a reference is validated at its own
// location.
type fitting struct {
	o     port.Options
	left  effort
	known map[*openapi3.Operation]bool // paths may share them
	found []port.Problem
}

func each[V any](m map[string]V, visit func(name string, v V)) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		visit(name, m[name])
	}
}

func (f *fitting) path(at string, item *openapi3.PathItem) {
	if item == nil {
		return
	}
	for _, p := range item.Parameters {
		f.parameter(at, p)
	}
	each(item.Operations(), func(method string, o *openapi3.Operation) {
		if o == nil || f.known[o] {
			return
		}
		f.known[o] = true
		at := at + "." + strings.ToLower(method)
		for _, p := range o.Parameters {
			f.parameter(at, p)
		}
		f.body(at, o.RequestBody)
		each(o.Responses.Map(), func(_ string, r *openapi3.ResponseRef) { f.response(at, r) })
	})
}

func (f *fitting) body(at string, r *openapi3.RequestBodyRef) {
	if r != nil && r.Ref == "" && r.Value != nil {
		f.content(at, r.Value.Content)
	}
}

func (f *fitting) response(at string, r *openapi3.ResponseRef) {
	if r != nil && r.Ref == "" && r.Value != nil {
		f.content(at, r.Value.Content)
		each(r.Value.Headers, func(_ string, h *openapi3.HeaderRef) { f.header(at, h) })
	}
}

func (f *fitting) header(at string, r *openapi3.HeaderRef) {
	if r != nil && r.Ref == "" && r.Value != nil {
		f.schema(at, r.Value.Schema) // the library does not validate examples beside it
		f.content(at, r.Value.Content)
	}
}

func (f *fitting) parameter(at string, r *openapi3.ParameterRef) {
	if r == nil || r.Ref != "" || r.Value == nil {
		return
	}
	f.content(at, r.Value.Content)
	f.schema(at, r.Value.Schema)
	f.examples(at, r.Value.Schema, r.Value.Example, r.Value.Examples)
}

func (f *fitting) content(at string, c openapi3.Content) {
	each(c, func(_ string, m *openapi3.MediaType) {
		if m != nil {
			f.schema(at, m.Schema)
			f.examples(at, m.Schema, m.Example, m.Examples)
			each(m.Encoding, func(_ string, e *openapi3.Encoding) {
				each(e.Headers, func(_ string, h *openapi3.HeaderRef) { f.header(at, h) })
			})
		}
	})
}

// examples validates the examples beside a schema.
func (f *fitting) examples(at string, schema *openapi3.SchemaRef, one any, more openapi3.Examples) {
	if !f.o.Examples || schema == nil {
		return
	}
	if one != nil {
		f.fit(at, schema.Value, one)
	}
	each(more, func(_ string, r *openapi3.ExampleRef) {
		if r != nil && r.Value != nil && r.Value.Value != nil {
			f.fit(at, schema.Value, r.Value.Value)
		}
	})
}

// schema validates the example and the default of a schema, and of the schemas inside it.
func (f *fitting) schema(at string, r *openapi3.SchemaRef) {
	if r == nil || r.Ref != "" || r.Value == nil {
		return
	}
	s := r.Value
	if f.o.Defaults && s.Default != nil {
		f.fit(at, s, s.Default)
	}
	if f.o.Examples && s.Example != nil {
		f.fit(at, s, s.Example)
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf, s.PrefixItems, {
		s.Not, s.Items, s.AdditionalProperties.Schema, s.Contains, s.PropertyNames, s.UnevaluatedItems.Schema, s.UnevaluatedProperties.Schema,
		s.If, s.Then, s.Else, s.ContentSchema,
	}} {
		for _, inside := range list {
			f.schema(at, inside)
		}
	}
	for _, named := range []openapi3.Schemas{s.Properties, s.PatternProperties, s.DependentSchemas, s.Defs} {
		each(named, func(_ string, inside *openapi3.SchemaRef) { f.schema(at, inside) })
	}
}

// fit validates a value against a schema, unless that would take too long.
func (f *fitting) fit(at string, s *openapi3.Schema, value any) {
	if s == nil || len(f.found) >= maxProblems {
		return
	}
	if f.left.spend(s, value, nil); f.left < 0 {
		f.found = one(at, "to hold the examples and defaults of the document against their schemas takes too long")
		f.o = port.Options{}
		return
	}
	err := s.VisitJSON(value, openapi3.DisableSchemaErrorDetails(), openapi3.SetSchemaRegexCompiler(matcher))
	if err == nil {
		return
	}
	if p := (port.Problem{Field: at, Message: brief(err)}); !slices.Contains(f.found, p) {
		f.found = append(f.found, p)
	}
}

package http

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// schemas makes JSON schemas out of Go types. Structs, and types that describe
// themselves, become components under their Go names.
type schemas struct {
	all   object
	names map[reflect.Type]string
}

// errorSchemas describe the bodies of errors, by surface or in the format of RFC 9457.
var errorSchemas = object{
	"Error":     errorSchema("Meta", object{"type": "null"}),
	"NodeError": errorSchema("Nonce", object{"const": ""}),
	"PortalError": object{"type": "object", "anyOf": []any{object{"required": []string{"errors"}}, object{"required": []string{"message"}}}, "properties": object{
		"status":  object{"const": "error", "description": "In responses to actions that were not carried out."},
		"errors":  object{"type": "array", "minItems": 1, "items": object{"type": "string"}},
		"message": object{"type": "string", "description": "In responses of probes, instead of errors."},
	}},
	"Problem": object{
		"type": "object", "description": "RFC 9457", "required": []string{"type", "title", "status", "detail", "instance", "code", "request_id"},
		"properties": object{
			"type": object{"const": "about:blank"}, "title": object{"type": "string"}, "status": object{"type": "integer"},
			"detail": object{"type": "string"}, "instance": object{"type": "string"},
			"code":       object{"type": "string", "description": "Stable code of the error, which programs may compare."},
			"field":      object{"type": "string", "description": "Place in the request that caused the error."},
			"request_id": object{"type": "string"},
		},
	},
}

func errorSchema(last string, schema object) object {
	return object{"type": "object", "required": []string{"Status", "Message", last}, "properties": object{
		"Status": object{"const": "Error"}, "Message": object{"type": "string"}, last: schema}}
}

// describing is a type that returns its own schema.
type describing interface{ Schema() map[string]any }

// wellKnown are types that neither tags nor methods describe.
var wellKnown = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[json.Number]():        {"type": "number"},
	reflect.TypeFor[json.RawMessage]():    {},
	reflect.TypeFor[doc.Object]():         {"type": "object"},
	reflect.TypeFor[*doc.Node]().Elem():   {},
	reflect.TypeFor[operation.Document](): {"type": "object"},
	reflect.TypeFor[operation.Patch]():    {"type": "object", "description": "A merge patch (RFC 7386)."},
	reflect.TypeFor[doc.Patch]():          {"type": "object", "description": "A merge patch (RFC 7386)."},
}

// of returns the schema of a type, or a reference to it.
func (s *schemas) of(t reflect.Type) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if schema, ok := wellKnown[t]; ok {
		return schema
	}
	if d, ok := reflect.New(t).Interface().(describing); ok {
		return s.component(t, func() object { return d.Schema() })
	}
	switch {
	case t.Kind() == reflect.Struct && tagged(t):
		return s.component(t, func() object { return s.structure(t) })
	case implements[json.Marshaler](t):
		return object{}
	case implements[encoding.TextMarshaler](t):
		return object{"type": "string"}
	case t.Kind() == reflect.Struct:
		return s.component(t, func() object { return s.structure(t) })
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	}
	return object{} // an interface: anything
}

func implements[I any](t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[I]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[I]())
}

// tagged reports whether a struct has tags with the names of its members.
func tagged(t reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "" {
			return true
		}
	}
	return false
}

// component adds the schema of a type as a component, once.
func (s *schemas) component(t reflect.Type, schema func() object) object {
	if t.Name() == "" {
		return schema()
	}
	name, ok := s.names[t]
	if !ok {
		name = s.free(t)
		s.names[t], s.all[name] = name, nil // before calling schema, for types that contain themselves
		s.all[name] = schema()
	}
	return ref("schemas", name)
}

// free returns an unused component name for a type.
func (s *schemas) free(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	if n, ok := reflect.New(t).Interface().(interface{ SchemaName() string }); ok {
		name = n.SchemaName()
	}
	pkg := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:]
	for n, try := 2, capital(name); ; n++ {
		if _, taken := s.all[try]; !taken {
			return try
		}
		if try = capital(pkg) + capital(name); n > 2 {
			try += strconv.Itoa(n)
		}
	}
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (s *schemas) structure(t reflect.Type) object {
	properties, required := doc.Fields{}, []string{}
	s.members(t, nil, &properties, &required)
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = required
	}
	return schema
}

// members collects the members of a struct in the order of declaration. Members of the
// outer struct hide those of embedded structs.
func (s *schemas) members(t reflect.Type, hidden []string, properties *doc.Fields, required *[]string) {
	own := slices.Clone(hidden)
	for i := range t.NumField() {
		if f := t.Field(i); embedded(f) == nil {
			own = append(own, memberName(f))
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if inner := embedded(f); inner != nil {
			s.members(inner, own, properties, required)
			*required = append(*required, operation.Words(f.Tag, "needs")...)
			continue
		}
		name := memberName(f)
		if name == "" || slices.Contains(hidden, name) || properties.Get(name) != nil {
			continue
		}
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		schema := s.of(f.Type)
		switch {
		case slices.Contains(strings.Split(options, ","), "string"):
			schema = object{"type": "string"}
		case f.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit"):
			schema = object{"anyOf": []any{schema, object{"type": "null"}}}
		}
		if values := operation.Words(f.Tag, "oneof"); len(values) > 0 {
			schema = maps.Clone(schema)
			schema["enum"] = values
		}
		if text := f.Tag.Get("doc"); text != "" {
			schema = maps.Clone(schema)
			schema["description"] = text
		}
		*properties = append(*properties, doc.Field{Name: name, Value: schema})
		if f.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// embedded returns the embedded struct whose members belong to the outer one, or nil.
func embedded(f reflect.StructField) reflect.Type {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !f.Anonymous || name != "" || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// memberName returns the JSON name of a field, or "" if the field is not encoded.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || f.Tag.Get("json") == "-":
		return ""
	case name == "":
		return f.Name
	}
	return name
}

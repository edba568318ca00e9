package mcp

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// maxSchemas is the maximum number of schemas in one tool; further ones become {}, because
// references can multiply without limit.
const maxSchemas = 5000

// maxRoom is the approximate maximum size in bytes of the schemas of all tools of an API,
// because every operation may refer to the same large schema. Schemas beyond it become {}.
const maxRoom = 16 << 20

// schemas translates schemas of a document for one tool.
type schemas struct {
	document *doc.Node
	left     int
	room     *int     // left for all tools
	active   []string // references that are being resolved
}

// described are the keywords that describe a value. Limits of values are left out: the gateway
// checks them on every call.
var described = []string{"type", "description", "format", "enum", "const", "default"}

// translate returns a schema without references and limits. A reference that dangles or is
// circular becomes {}.
func (s *schemas) translate(schema *doc.Node) *doc.Node {
	out := doc.NewObject()
	if s.left--; s.left < 0 || len(s.active) > 64 || *s.room <= 0 {
		return out
	}
	*s.room -= out.Weight(1)
	ref := schema.Get("$ref").Text()
	if ref != "" && slices.Contains(s.active, ref) {
		return out
	}
	s.active = append(s.active, ref)
	defer func() { s.active = s.active[:len(s.active)-1] }()
	schema = oas.Resolve(s.document, schema)
	for _, name := range described {
		if v := schema.Get(name); v != nil && s.fits(v) {
			out.Set(name, v.Clone())
		}
	}
	s.members(schema, out)
	return out
}

// fits takes the room for a copy of v, and reports whether there was enough.
func (s *schemas) fits(v *doc.Node) bool {
	*s.room -= v.Weight(*s.room)
	return *s.room > 0
}

// members translates the subschemas of a schema.
func (s *schemas) members(schema, out *doc.Node) {
	if list := schema.Get("properties"); list.Is(doc.TypeObject) {
		properties := doc.NewObject()
		for name, v := range list.Members() {
			if *s.room -= len(name); *s.room <= 0 {
				break
			}
			properties.Set(name, s.translate(v))
		}
		out.Set("properties", properties)
	}
	if required := schema.Get("required"); required.Is(doc.TypeArray) && s.fits(required) {
		out.Set("required", required.Clone())
	}
	for _, name := range []string{"items", "additionalProperties"} {
		switch v := schema.Get(name); {
		case v.Is(doc.TypeObject):
			out.Set(name, s.translate(v))
		case v.Is(doc.TypeBool):
			out.Set(name, v.Clone())
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if list := schema.Get(name); list.Is(doc.TypeArray) {
			all := doc.NewArray()
			for _, v := range list.Items() {
				all.Append(s.translate(v))
			}
			out.Set(name, all)
		}
	}
}

// mediaType chooses a content type of a body or response: JSON, then a type that contains
// json, then a form if forms is true.
func mediaType(content *doc.Node, forms bool) string {
	if content.Get("application/json") != nil {
		return "application/json"
	}
	names := content.Names()
	slices.Sort(names)
	for _, name := range names {
		if strings.Contains(name, "json") {
			return name
		}
	}
	if form := "application/x-www-form-urlencoded"; forms && content.Get(form) != nil {
		return form
	}
	return ""
}

// output returns the schema of the first successful JSON response, or nil. A value that is not
// an object is wrapped in a member result.
func (s *schemas) output(o oas.Operation) *doc.Node {
	codes := o.Node.Get("responses").Names()
	slices.Sort(codes)
	for _, code := range codes {
		if len(code) != 3 || code[0] != '2' {
			continue
		}
		content := oas.Resolve(s.document, o.Node.Get("responses", code)).Get("content")
		schema := content.Get(mediaType(content, false), "schema")
		if !schema.Is(doc.TypeObject) {
			continue
		}
		out := s.translate(schema)
		if out.Get("type").Text() == "object" {
			return out
		}
		wrapped := doc.NewObject()
		wrapped.Set("type", doc.NewString("object"))
		wrapped.Put(out, "properties", "result")
		return wrapped
	}
	return nil
}

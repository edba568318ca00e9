package mcp

import (
	"cmp"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// field is one input of a tool.
type field struct {
	name     string // as exposed
	source   string // name in the request
	location string // path, query, header, body, or body.<name>
	schema   *doc.Node
	required bool

	parameter  bool
	style      string
	explode    bool
	schemaType string
}

// inputs returns the inputs of an operation, parameters before the body, and the content type
// of the body.
func (s *schemas) inputs(o oas.Operation) ([]field, string) {
	// Parameters of the operation win over those of the path item. Cookies are not for tools.
	var parameters []*doc.Node
	at := map[[2]string]int{} // by place and name
	for _, list := range []*doc.Node{o.Item.Get("parameters"), o.Node.Get("parameters")} {
		for _, v := range list.Items() {
			p := oas.Resolve(s.document, v)
			which := [2]string{p.Get("in").Text(), p.Get("name").Text()}
			if in := which[0]; in != "path" && in != "query" && in != "header" || which[1] == "" {
				continue
			}
			if i, same := at[which]; same {
				parameters[i] = p
				continue
			}
			at[which] = len(parameters)
			parameters = append(parameters, p)
		}
	}
	var fields []field
	for _, p := range parameters {
		fields = append(fields, s.parameter(p))
	}
	body, media := s.body(o)
	fields = append(fields, body...)
	// Parameters with a name that occurs more than once get their location in the name.
	count, taken := map[string]int{}, map[string]bool{}
	for _, f := range fields {
		count[f.source]++
	}
	for i := range fields {
		f := &fields[i]
		if f.name = f.source; f.parameter && count[f.source] > 1 {
			f.name = f.location + "_" + f.source
		}
		for taken[f.name] {
			f.name += "_"
		}
		taken[f.name] = true
	}
	return fields, media
}

func (s *schemas) parameter(p *doc.Node) field {
	in, schema := p.Get("in").Text(), p.Get("schema")
	if content := p.Get("content"); schema == nil && content.Len() > 0 && content.Is(doc.TypeObject) {
		schema = content.Get(content.Names()[0], "schema")
	}
	f := field{
		source: p.Get("name").Text(), location: in, schema: s.translate(schema), parameter: true,
		required: in == "path" || p.Get("required").True(), style: p.Get("style").Text(),
	}
	f.schemaType = schemaType(f.schema)
	if text := p.Get("description"); text.Text() != "" {
		f.schema.Set("description", text.Clone())
	}
	if f.style == "" {
		f.style = "simple"
		if in == "query" {
			f.style = "form"
		}
	}
	f.explode = f.style == "form"
	if explode := p.Get("explode"); explode.Is(doc.TypeBool) {
		f.explode = explode.True()
	}
	return f
}

// schemaType returns the type of a schema; of several types the first one that is not null.
func schemaType(schema *doc.Node) string {
	kinds := append(schema.Get("type").Texts(), schema.Get("type").Text())
	return kinds[max(0, slices.IndexFunc(kinds, func(k string) bool { return k != "null" }))]
}

// body returns the properties of an object body as fields, or another body as one field.
func (s *schemas) body(o oas.Operation) ([]field, string) {
	body := oas.Resolve(s.document, o.Node.Get("requestBody"))
	media := mediaType(body.Get("content"), true)
	if media == "" {
		return nil, ""
	}
	schema, needed := s.translate(body.Get("content", media, "schema")), body.Get("required").True()
	kind, properties := schemaType(schema), schema.Get("properties")
	if kind != "object" && kind != "" || properties.Len() == 0 {
		return []field{{source: "body", location: "body", schema: schema, required: needed}}, media
	}
	required := map[string]bool{}
	for _, name := range schema.Get("required").Texts() {
		required[name] = true
	}
	var out []field
	for name, v := range properties.Members() {
		out = append(out, field{
			source: name, location: "body." + name, schema: v, required: needed && required[name],
		})
	}
	slices.SortFunc(out, func(a, b field) int { return cmp.Compare(a.source, b.source) })
	return out, media
}

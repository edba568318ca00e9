package datagraph

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// componentPrefix is the prefix of references to the named schemas of a document.
const componentPrefix = "#/components/schemas/"

// Limits of the chain from one schema to another.
const (
	maxReferences = 16 // in one chain
	maxNesting    = 16 // nested lists and alternatives
)

// use is a place where a schema is used.
type use struct {
	place string // in the document
	hint  string // name for a type without its own name
	part  string // the name reserved for a schema of the document, or ""
	input bool   // the type is for inputs
	flat  bool   // values are part of a URL: scalars, and lists of them
}

// key identifies a schema in one direction.
type key struct {
	schema *doc.Node
	input  bool
}

// pending is a type without its fields.
type pending struct {
	t       *typ
	members []member
	u       use
}

// member is a property of an object.
type member struct {
	name     string
	schema   *doc.Node
	required bool
}

// typeOf returns the type for a schema, and whether null is a valid value.
func (b *builder) typeOf(schema *doc.Node, u use, depth int) (name string, null bool) {
	schema, u = b.follow(schema, u)
	b.look(u.place, schema.Get("enum").Len()+schema.Get("oneOf").Len()+schema.Get("anyOf").Len()+schema.Get("type").Len())
	if b.err != nil {
		return scalarJSON, true
	}
	// OpenAPI 3.0 and JSON Schema declare null in different ways.
	isNull := func(n *doc.Node) bool { return n.Is(doc.TypeNull) || n.Get("type").Text() == "null" }
	null = schema.Get("nullable").True() || schema.Get("type").Text() == "null" || slices.Contains(schema.Get("type").Texts(), "null") ||
		slices.ContainsFunc(schema.Get("enum").Items(), isNull) ||
		slices.ContainsFunc(schema.Get("oneOf").Items(), isNull) || slices.ContainsFunc(schema.Get("anyOf").Items(), isNull)
	if depth >= maxNesting {
		return b.anything(u), null
	}
	var alternatives []*doc.Node // without null; or the parts of a schema with a single part
	for _, name := range []string{"oneOf", "anyOf"} {
		for _, alternative := range schema.Get(name).Items() {
			if alternative.Get("type").Text() != "null" {
				alternatives = append(alternatives, alternative)
			}
		}
	}
	if all := schema.Get("allOf").Items(); len(alternatives) == 0 && len(all) == 1 {
		alternatives = all
	}
	if len(alternatives) == 1 && schema.Get("properties") == nil {
		name, more := b.typeOf(alternatives[0], u, depth+1)
		return name, null || more
	}
	switch kind := kindOf(schema); {
	case kind == "string":
		return b.text(schema, u), null
	case scalars[kind] != "":
		return scalars[kind], null
	case kind == "array":
		item, more := b.typeOf(schema.Get("items"), u.within("items", "Item"), depth+1)
		return "[" + nonNull(item, more) + "]", null
	case kind == "object" && !u.flat && (len(alternatives) <= 1 || !u.input):
		return b.object(schema, u), null
	}
	return b.anything(u), true
}

// scalars maps types of JSON Schema to GraphQL. Whole numbers are Int of any size, because
// gateways pass them on digit by digit.
var scalars = map[string]string{"integer": "Int", "number": "Float", "boolean": "Boolean"}

// nonNull marks a type as non-null if null is not a valid value.
func nonNull(name string, null bool) string {
	if null {
		return name
	}
	return name + "!"
}

// anything returns the type for values that GraphQL cannot describe.
func (b *builder) anything(u use) string {
	if u.flat {
		return "String"
	}
	b.json = true
	return scalarJSON
}

func (u use) within(place, hint string) use {
	return use{place: below(u.place, place), hint: camel(u.hint, hint), input: u.input, flat: u.flat}
}

// follow resolves references; the last one names the schema.
func (b *builder) follow(schema *doc.Node, u use) (*doc.Node, use) {
	for range maxReferences {
		ref := schema.Get("$ref")
		if !ref.Is(doc.TypeString) {
			return schema, u
		}
		b.look(u.place, 1+len(ref.Text())/16)
		if b.err != nil {
			return nil, u
		}
		u.part = b.parts[ref.Text()]
		u.hint = valid(ref.Text()[strings.LastIndexByte(ref.Text(), '/')+1:])
		if schema = oas.Follow(b.document, ref.Text()); schema == nil {
			b.fail(u.place, "the reference %q leads nowhere within the document", ref.Text())
		}
	}
	b.fail(u.place, "the references lead in a circle")
	return nil, u
}

// kindOf returns the JSON type of a schema's values, or "" for several.
func kindOf(schema *doc.Node) string {
	t := schema.Get("type")
	if t.Is(doc.TypeString) {
		return t.Text()
	}
	if list := slices.DeleteFunc(t.Texts(), func(s string) bool { return s == "null" }); len(list) > 0 {
		if len(list) == 1 {
			return list[0]
		}
		return ""
	}
	switch {
	case schema.Get("properties").Is(doc.TypeObject) || schema.Get("allOf").Len() > 0:
		return "object"
	case schema.Get("items").Is(doc.TypeObject):
		return "array"
	}
	if values := schema.Get("enum").Items(); len(values) > 0 && !slices.ContainsFunc(values, func(n *doc.Node) bool { return !n.Is(doc.TypeString, doc.TypeNull) }) {
		return "string"
	}
	return ""
}

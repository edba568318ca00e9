package openapi

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// speller finds members that a gateway, which ignores the case of names, would
// take for members of the extensions although no schema looks at them: they could
// override what was checked, or be of a type that makes it drop the API.
type speller struct {
	definitions object
	found       []port.Problem
}

// misspelt checks the extensions of a document against the schema that they have.
func misspelt(d *doc.Node, schema object) []port.Problem {
	s := &speller{}
	for _, container := range []string{"definitions", "$defs"} {
		if definitions, ok := schema[container].(object); ok {
			s.definitions = definitions
		}
	}
	properties, _ := schema["properties"].(object)
	for _, name := range []string{extension, toolView, streaming} {
		for _, have := range d.Names() {
			if have != name && strings.EqualFold(have, name) {
				s.found = append(s.found, port.Problem{Field: have, Message: fmt.Sprintf("must be spelled %q", name)})
			}
		}
		if member, ok := properties[name].(object); ok {
			s.check(d.Get(name), member, name)
		}
	}
	return s.found
}

// check looks at a value that a schema describes.
func (s *speller) check(n *doc.Node, schema object, at string) {
	schema = s.resolve(schema)
	switch n.Type() {
	case doc.TypeObject:
		s.members(n, schema, at)
	case doc.TypeArray:
		if items, ok := schema["items"].(object); ok {
			for i, item := range n.Items() {
				s.check(item, items, fmt.Sprintf("%s.%d", at, i))
			}
		}
	}
}

// members looks at the members of an object: a known one by its own schema, any
// other by that of the map it belongs to.
func (s *speller) members(n *doc.Node, schema object, at string) {
	for name, v := range n.Members() {
		here := at + "." + name
		known, like := s.known(schema, name)
		if known != nil {
			s.check(v, known, here)
			continue
		}
		if like != "" {
			s.found = append(s.found, port.Problem{Field: here, Message: fmt.Sprintf("must be spelled %q", like)})
			continue
		}
		if rest, ok := schema["additionalProperties"].(object); ok {
			s.check(v, rest, here)
		}
		if patterns, ok := schema["patternProperties"].(object); ok {
			for _, of := range patterns {
				if of, ok := of.(object); ok {
					s.check(v, of, here)
				}
			}
		}
	}
}

// known returns the schema of a known member, or the one that differs from its name in case
// only, or neither. Of alternatives the first that knows it counts.
func (s *speller) known(schema object, name string) (member object, like string) {
	choices, _ := schema["anyOf"].([]any)
	for _, a := range append([]any{schema}, choices...) {
		o, _ := a.(object)
		properties, _ := s.resolve(o)["properties"].(object)
		if member, ok := properties[name].(object); ok {
			return member, ""
		}
		for other := range properties {
			if like == "" && strings.EqualFold(other, name) {
				like = other
			}
		}
	}
	return nil, like
}

func (s *speller) resolve(schema object) object {
	for {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		schema, ok = s.definitions[ref[strings.LastIndexByte(ref, '/')+1:]].(object)
		if !ok {
			return object{}
		}
	}
}

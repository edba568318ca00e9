package openapi

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// speller finds misspelt members. A gateway ignores the case of names: it would read such a
// member as a member of the extensions although no schema validates it. The member could
// override a validated one, or have a type that makes the gateway drop the API.
type speller struct {
	definitions object
	found       []port.Problem
}

// misspelt checks the names in the extensions of a document against their schema.
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

// check checks the names in a value that a schema describes.
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

// members checks the members of an object: a known member by its own schema, another member
// by the schema of the map it belongs to.
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

// known returns the schema of a known member; or, as like, the known name that differs from
// name only in case; or neither. The first alternative that knows the member counts.
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

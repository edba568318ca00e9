package openapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
)

//go:embed outlines/*.outline
var outlines embed.FS

// object is a JSON object under construction.
type object = map[string]any

// outline turns files in the notation below into the definitions of a JSON schema.
//
//	Name [< Base] [open|closed|x] [-- description]   an object with the members of Base, too
//	  member[!] type                                 "!": required
//	  /pattern/ type                                 members whose names match
//	  * type                                         members of any other name
//	  + {…}                                          merged into the schema; "#Name" refers to a definition
//	Name : type                                      anything that is no object
//
// An open object may have unknown members, a closed one may not, one marked x only
// those that begin with "x-"; without a mark it is closed in the strict form. Types:
//
//	string bool int number object any uint text port share uri …   see primitives
//	Name          a definition          Name&     it, or a reference to it
//	A/B           one or the other      a|b       primitives: one or the other
//	=a|b          these texts           /…/       texts that match
//	[T] {T} <T>   array, map, map by component name; [T] takes ? (or null), + (not empty), * (unique)
type outline struct {
	prefix      string // of the names of definitions
	container   string // where definitions are: "definitions", "$defs"
	strict      bool
	definitions object
}

// read adds the definitions of a file. A definition replaces an earlier one of the same name.
func (s *outline) read(file string) error {
	text, err := outlines.ReadFile("outlines/" + file + ".outline")
	if err != nil {
		return fmt.Errorf("openapi: outlines: %w", err)
	}
	var current object
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			current, err = s.header(line)
		default:
			err = s.line(current, strings.TrimSpace(line))
		}
		if err != nil {
			return fmt.Errorf("openapi: outline %s: %q: %w", file, line, err)
		}
	}
	return nil
}

func (s *outline) header(line string) (d object, err error) {
	line, description, _ := strings.Cut(line, " -- ")
	words := strings.Fields(line)
	name, words := words[0], words[1:]
	if len(words) == 2 && words[0] == ":" {
		d, err = s.typ(words[1])
	} else {
		d, err = s.objectOf(words)
	}
	if description != "" {
		d["description"] = description
	}
	s.definitions[s.prefix+name] = d
	return d, err
}

// define adds a definition of the extension.
func (s *outline) define(of oas.Definition) (err error) {
	var d object
	switch {
	case of.Type != "":
		d, err = s.typ(of.Type)
	case of.Open:
		d, err = s.objectOf([]string{"open"})
	default:
		d, err = s.objectOf(nil)
	}
	for _, m := range of.Members {
		if err == nil {
			err = s.member(d, m.Name, m.Type, m.Required)
		}
	}
	if of.Also != "" && err == nil {
		err = s.merge(d, of.Also)
	}
	if of.About != "" && err == nil {
		d["description"] = of.About
	}
	s.definitions[s.prefix+of.Name] = d
	return err
}

// objectOf makes an object from the words after its name.
func (s *outline) objectOf(words []string) (object, error) {
	d := object{"type": "object", "properties": object{}}
	if len(words) > 1 && words[0] == "<" {
		base, ok := s.definitions[s.prefix+words[1]].(object)
		if !ok {
			return d, fmt.Errorf("no definition %s so far", words[1])
		}
		maps.Copy(d["properties"].(object), base["properties"].(object))
		if required, ok := base["required"].([]any); ok {
			d["required"] = append([]any{}, required...)
		}
		words = words[2:]
	}
	switch strings.Join(words, " ") {
	case "open":
	case "closed":
		d["additionalProperties"] = false
	case "x":
		d["additionalProperties"] = false
		d["patternProperties"] = object{"^x-": object{}}
	case "":
		if s.strict {
			d["additionalProperties"] = false
		}
	default:
		return d, fmt.Errorf("unknown mark %q", words)
	}
	return d, nil
}

// line adds a line of the notation to its object.
func (s *outline) line(d object, line string) error {
	name, rest, ok := strings.Cut(line, " ")
	if !ok || d == nil {
		return fmt.Errorf("a member needs an object and a type")
	}
	if name == "+" {
		return s.merge(d, rest)
	}
	name, required := strings.CutSuffix(name, "!")
	return s.member(d, name, strings.TrimSpace(rest), required)
}

func (s *outline) member(d object, name, typ string, required bool) error {
	t, err := s.typ(typ)
	switch {
	case err != nil:
		return err
	case name == "*":
		d["additionalProperties"] = t
	case name[0] == '/':
		patterns, ok := d["patternProperties"].(object)
		if !ok {
			patterns = object{}
			d["patternProperties"] = patterns
		}
		patterns[name[1:len(name)-1]] = t
	default:
		d["properties"].(object)[name] = t
		if list, _ := d["required"].([]any); required {
			d["required"] = append(list, name)
		}
	}
	return nil
}

func (s *outline) merge(d object, text string) error {
	var extra object
	if err := json.Unmarshal([]byte(text), &extra); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	s.resolve(extra)
	maps.Copy(d, extra)
	return nil
}

// resolve expands references to definitions.
func (s *outline) resolve(v any) {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			if text, ok := member.(string); ok && name == "$ref" {
				v[name] = s.ref(strings.TrimPrefix(text, "#"))["$ref"]
				continue
			}
			s.resolve(member)
		}
	case []any:
		for _, item := range v {
			s.resolve(item)
		}
	}
}

func (s *outline) ref(name string) object {
	return object{"$ref": "#/" + s.container + "/" + s.prefix + name}
}

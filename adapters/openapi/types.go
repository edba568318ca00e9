package openapi

import (
	"fmt"
	"strings"
)

// Durations as the schema accepts them, which is stricter than gateways
// (docs/wire/conversion.md#validation).
const (
	secondsPattern  = `^(\d+h)?(\d+m)?(\d+s)?$`
	zeroPattern     = `^(0h)?(0m)?(0s)?$`
	timeoutPattern  = `^(\d+(?:\.\d+)?m)?(\d+(?:\.\d+)?s)?(\d+(?:\.\d+)?ms)?$`
	durationPattern = `^(\d+h)?(\d+m)?(\d+s)?(\d+ms)?(\d+µs)?(\d+ns)?$`
	textPattern     = `\S+`
	domainPattern   = `^([*a-zA-Z0-9-]+(\.[*a-zA-Z0-9-]+)*)(:\d+)?$`
	toolPattern     = `^[A-Za-z0-9_.-]{1,128}$`
	namePattern     = `^[a-zA-Z0-9._-]+$`
)

// primitives are the basic types of outlines.
var primitives = map[string]func() object{
	"any":      func() object { return object{} },
	"string":   func() object { return object{"type": "string"} },
	"bool":     func() object { return object{"type": "boolean"} },
	"int":      func() object { return object{"type": "integer"} },
	"number":   func() object { return object{"type": "number"} },
	"object":   func() object { return object{"type": "object"} },
	"hex":      func() object { return object{"type": "string"} },
	"span":     func() object { return object{"type": "string"} },
	"whole":    func() object { return object{"type": "number"} },
	"count":    func() object { return object{"type": "integer", "minimum": 0} },
	"uint":     func() object { return object{"type": "integer", "minimum": 0} },
	"port":     func() object { return object{"type": "integer", "minimum": 1, "maximum": 65535} },
	"share":    func() object { return object{"type": "number", "minimum": 0, "maximum": 1} },
	"uri":      func() object { return object{"type": "string", "format": "uri"} },
	"uriref":   func() object { return object{"type": "string", "format": "uri-reference"} },
	"email":    func() object { return object{"type": "string", "format": "email"} },
	"regex":    func() object { return object{"type": "string", "format": "regex"} },
	"text":     func() object { return matching(textPattern) },
	"seconds":  func() object { return matching(secondsPattern) },
	"timeout":  func() object { return matching(timeoutPattern) },
	"duration": func() object { return matching(durationPattern) },
	"domain":   func() object { return matching(domainPattern) },
	"toolname": func() object { return matching(toolPattern) },
	"lifetime": func() object {
		return object{"type": "string", "pattern": secondsPattern, "not": object{"pattern": zeroPattern}}
	},
}

func matching(pattern string) object { return object{"type": "string", "pattern": pattern} }

// typ parses a type in the notation of outlines.
func (s *outline) typ(t string) (object, error) {
	if t == "" {
		return nil, fmt.Errorf("no type")
	}
	switch t[0] {
	case '=':
		values := []any{}
		for text := range strings.SplitSeq(t[1:], "|") {
			values = append(values, text)
		}
		return object{"type": "string", "enum": values}, nil
	case '/':
		return matching(t[1 : len(t)-1]), nil
	case '[':
		return s.array(t)
	case '{', '<':
		item, err := s.typ(t[1 : len(t)-1])
		if t[0] == '{' {
			return object{"type": "object", "additionalProperties": item}, err
		}
		return object{"type": "object", "patternProperties": object{namePattern: item}, "additionalProperties": false}, err
	}
	if names := strings.Split(t, "/"); len(names) > 1 {
		return s.either(names), nil
	}
	if name, ok := strings.CutSuffix(t, "&"); ok {
		return s.either([]string{name, "Reference"}), nil
	}
	if t[0] >= 'A' && t[0] <= 'Z' {
		return s.ref(t), nil
	}
	names := strings.Split(t, "|")
	types := make([]any, len(names))
	for i, name := range names {
		make, ok := primitives[name]
		if !ok {
			return nil, fmt.Errorf("unknown type %q", name)
		}
		if len(names) == 1 {
			return make(), nil
		}
		types[i] = make()["type"]
	}
	return object{"type": types}, nil
}

func (s *outline) array(t string) (object, error) {
	end := strings.LastIndexByte(t, ']')
	item, err := s.typ(t[1:end])
	a := object{"type": "array", "items": item}
	for _, mark := range t[end+1:] {
		switch mark {
		case '?':
			a["type"] = []any{"array", "null"}
		case '+':
			a["minItems"] = 1
		case '*':
			a["uniqueItems"] = true
		}
	}
	return a, err
}

func (s *outline) either(names []string) object {
	of := make([]any, len(names))
	for i, name := range names {
		of[i] = s.ref(name)
	}
	return object{"anyOf": of}
}

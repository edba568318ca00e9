package gatewaysim

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

//go:embed fields/api.txt
var apiFields string

//go:embed fields/policy.txt
var policyFields string

//go:embed fields/session.txt
var sessionFields string

var (
	apiShape     = parseShape(apiFields)
	policyShape  = parseShape(policyFields)
	sessionShape = parseShape(sessionFields)
)

// shape is the required type of a JSON value: one of fields, values and items is set,
// or kind names a plain type.
type shape struct {
	kind   string            // string, bool, integer, number, any, id, duration, time
	fields map[string]*shape // by lower-case name: names match in any case
	values *shape            // of an object with free keys
	items  *shape            // of a list
}

// parseShape parses lines such as "proxy.target_list[] string".
func parseShape(table string) *shape {
	root := &shape{}
	for line := range strings.Lines(table) {
		path, kind, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(path, "#") {
			continue
		}
		at := root
		for part := range strings.SplitSeq(path, ".") {
			name := strings.TrimRight(part, "[]")
			at = at.child(name)
			for range strings.Count(part, "[]") {
				at = orNew(&at.items)
			}
		}
		at.kind = kind
	}
	return root
}

func (s *shape) child(name string) *shape {
	if name == "{}" {
		return orNew(&s.values)
	}
	if s.fields == nil {
		s.fields = map[string]*shape{}
	}
	next := s.fields[strings.ToLower(name)]
	s.fields[strings.ToLower(name)] = orNew(&next)
	return next
}

func orNew(s **shape) *shape {
	if *s == nil {
		*s = &shape{}
	}
	return *s
}

// check returns an error for the first place where a JSON text differs from the shape.
// Unknown members are ignored.
func (s *shape) check(raw json.RawMessage) error {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return s.match(v, "")
}

// match accepts null as the zero value of every type except durations, for which
// docs/wire/classic-definition.md#types refuses it.
func (s *shape) match(v any, path string) error {
	if v == nil && s.kind != "duration" {
		return nil
	}
	switch {
	case s.items != nil:
		list, ok := v.([]any)
		if !ok {
			return mismatch(path, "a list")
		}
		for i, item := range list {
			if err := s.items.match(item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		return nil
	case s.kind == "":
		return s.matchObject(v, path)
	case !isKind(v, s.kind):
		return mismatch(path, s.kind)
	}
	return nil
}

func (s *shape) matchObject(v any, path string) error {
	object, ok := v.(map[string]any)
	if !ok {
		return mismatch(path, "an object")
	}
	for name, member := range object {
		next := s.values
		if next == nil {
			next = s.fields[strings.ToLower(name)]
		}
		if next == nil {
			continue
		}
		if err := next.match(member, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func mismatch(path, want string) error {
	return fmt.Errorf("%s must be %s", strings.TrimPrefix(path, "."), want)
}

func isKind(v any, kind string) bool {
	switch kind {
	case "any":
		return true
	case "object": // with members that are not read
		_, ok := v.(map[string]any)
		return ok
	case "bool":
		_, ok := v.(bool)
		return ok
	case "integer", "number":
		n, ok := v.(json.Number)
		return ok && isNumber(n, kind)
	}
	text, ok := v.(string)
	switch kind {
	case "id":
		return ok && isObjectID(text)
	case "time":
		_, err := time.Parse(time.RFC3339, text)
		return ok && err == nil
	}
	return ok // strings, and durations: even unparsable text is accepted
}

func isNumber(n json.Number, kind string) bool {
	if kind == "integer" {
		_, err := n.Int64()
		return err == nil
	}
	_, err := n.Float64()
	return err == nil
}

// isObjectID accepts 24 hexadecimal digits or nothing (sections 3.2 and 4.2).
func isObjectID(text string) bool {
	id, err := hex.DecodeString(text)
	return err == nil && (len(id) == 12 || text == "")
}

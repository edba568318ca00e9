package registry

import (
	"encoding/json"
	"iter"
	"maps"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Mapping says which policy each token scope grants on one API. Its scopes keep
// the order they were given in; the zero Mapping grants nothing.
type Mapping struct{ scopes doc.Object }

// NewMapping makes a mapping of scope-policy pairs.
func NewMapping(pairs ...[2]string) Mapping {
	e := doc.Object{}.Edit()
	for _, p := range pairs {
		e.Set(p[0], doc.AppendString(nil, p[1]))
	}
	return Mapping{e.Object()}
}

// Policy returns the policy a scope grants.
func (m Mapping) Policy(scope string) (string, bool) {
	raw, ok := m.scopes.Get(scope)
	if !ok {
		return "", false
	}
	policy, err := doc.Unquote(raw)
	return policy, err == nil
}

// All yields scope and policy.
func (m Mapping) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for scope, raw := range m.scopes.All() {
			if policy, err := doc.Unquote(raw); err != nil || !yield(scope, policy) {
				return
			}
		}
	}
}

// Equal reports whether m and n grant the same policies, in whatever order.
func (m Mapping) Equal(n Mapping) bool {
	return maps.Equal(maps.Collect(m.All()), maps.Collect(n.All()))
}

// AppendJSON implements doc.Appender.
func (m Mapping) AppendJSON(b []byte) ([]byte, error) {
	b, err := m.scopes.AppendJSON(append(b, `{"scope_to_policy":`...))
	return append(b, '}'), err
}

// MarshalJSON implements json.Marshaler.
func (m Mapping) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// UnmarshalJSON reads a mapping: an object whose scope_to_policy, if there is
// one, is null or an object of strings. Other members are ignored.
func (m *Mapping) UnmarshalJSON(text []byte) error {
	if err := mappingType.Spelling(text); err != nil {
		return err
	}
	read, err := parseMapping(text, "")
	if err == nil {
		err = capped(read, "")
	}
	if err == nil {
		*m = read
	}
	return err
}

// Schema describes the wire form for the API description.
func (Mapping) Schema() map[string]any {
	return map[string]any{
		"type": "object", "description": "Which policy each token scope grants on one API.",
		"properties": map[string]any{"scope_to_policy": map[string]any{
			"type": []string{"object", "null"}, "additionalProperties": map[string]any{"type": "string"},
			"description": "Policy identifier by scope name.",
		}},
		"examples": []any{map[string]any{"scope_to_policy": map[string]any{"read": "gold", "orders:write": "platinum"}}},
	}
}

// parseMapping reads one mapping; path says where it sits in the request body.
func parseMapping(text json.RawMessage, path string) (Mapping, error) {
	if !doc.IsObject(text) {
		return Mapping{}, malformed(path, "must be an object")
	}
	o, err := doc.ParseObject(text)
	if err != nil {
		return Mapping{}, malformed(path, err.Error())
	}
	raw, ok := o.Get("scope_to_policy")
	if !ok || doc.IsNull(raw) {
		return Mapping{}, nil
	}
	path = join(path, "scope_to_policy")
	if !doc.IsObject(raw) {
		return Mapping{}, malformed(path, "must be an object or null")
	}
	scopes, err := doc.ParseObject(raw)
	if err != nil {
		return Mapping{}, malformed(path, err.Error())
	}
	for scope, policy := range scopes.All() {
		if policy[0] != '"' {
			return Mapping{}, malformed(join(path, scope), "must be a string")
		}
	}
	return Mapping{scopes}, nil
}

// patched returns m with one API's part of a merge patch applied. Null removes
// a scope, or with scope_to_policy all of them; the mapping itself stays.
func (m Mapping) patched(patch json.RawMessage, path string) (Mapping, error) {
	if !doc.IsObject(patch) {
		return Mapping{}, malformed(path, "must be an object or null")
	}
	o, err := doc.ParseObject(patch)
	if err != nil {
		return Mapping{}, malformed(path, err.Error())
	}
	for name := range o.All() { // decoders would take it for the member
		if name != "scope_to_policy" && strings.EqualFold(name, "scope_to_policy") {
			return Mapping{}, malformed(join(path, name), "must be spelled scope_to_policy")
		}
	}
	raw, ok := o.Get("scope_to_policy")
	path = join(path, "scope_to_policy")
	switch {
	case !ok:
		return m, nil
	case doc.IsNull(raw):
		return Mapping{}, nil
	case !doc.IsObject(raw):
		return Mapping{}, malformed(path, "must be an object or null")
	}
	scopes, err := doc.ParseObject(raw)
	if err != nil {
		return Mapping{}, malformed(path, err.Error())
	}
	e := m.scopes.Edit()
	for scope, policy := range scopes.All() {
		switch {
		case doc.IsNull(policy):
			e.Delete(scope)
		case policy[0] == '"':
			e.Set(scope, policy)
		default:
			return Mapping{}, malformed(join(path, scope), "must be a string or null")
		}
	}
	return Mapping{e.Object()}, nil
}

func malformed(path, reason string) error {
	name := path
	if name == "" {
		name = "mapping"
	}
	return fault.New(fault.Invalid, Kind+".mappings", "%s %s", name, reason).At(path)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

package registry

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Mappings is the table from API to Mapping. It is immutable and keeps the text of each
// mapping, so that a change of one among ten thousand mappings touches only that one. The zero
// Mappings is empty and encodes as {}.
type Mappings struct{ apis doc.Object }

// Len returns the number of mapped APIs.
func (ms Mappings) Len() int { return ms.apis.Len() }

// IsZero reports whether there is no mapping.
func (ms Mappings) IsZero() bool { return ms.Len() == 0 }

// Get returns the mapping of one API.
func (ms Mappings) Get(api string) (Mapping, bool) {
	raw, ok := ms.apis.Get(api)
	if !ok {
		return Mapping{}, false
	}
	m, err := parseMapping(raw, api)
	return m, err == nil
}

// All yields each API with its mapping.
func (ms Mappings) All() iter.Seq2[string, Mapping] {
	return func(yield func(string, Mapping) bool) {
		for api, raw := range ms.apis.All() {
			if m, err := parseMapping(raw, api); err != nil || !yield(api, m) {
				return
			}
		}
	}
}

// APIs yields the APIs that have a mapping.
func (ms Mappings) APIs() iter.Seq[string] { return names(ms.apis) }

// names yields the names of the members of an object.
func names(o doc.Object) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range o.All() {
			if !yield(name) {
				return
			}
		}
	}
}

// Named yields the APIs in a merge patch of mappings.
func Named(patch doc.Patch) iter.Seq[string] { return names(patch.Object) }

// Differing yields the APIs whose mappings differ between two tables.
func Differing(a, b Mappings) iter.Seq[string] {
	return func(yield func(string) bool) {
		for api, old := range a.apis.All() {
			if now, ok := b.apis.Get(api); (!ok || !bytes.Equal(old, now)) && !yield(api) {
				return
			}
		}
		for api := range b.apis.All() {
			if _, ok := a.apis.Get(api); !ok && !yield(api) {
				return
			}
		}
	}
}

// With returns ms with the mapping of one API replaced.
func (ms Mappings) With(api string, m Mapping) Mappings { return Mappings{ms.apis.With(api, text(m))} }

// Without returns ms without the mapping of one API.
func (ms Mappings) Without(api string) Mappings { return Mappings{ms.apis.Without(api)} }

// Merge returns ms with a merge patch applied. On a fault, which names the invalid member, it
// returns ms unchanged (docs/wire/client-idps.md#merge-patch).
func (ms Mappings) Merge(patch doc.Patch) (Mappings, error) {
	e := ms.apis.Edit()
	for api, value := range patch.All() {
		if doc.IsNull(value) {
			e.Delete(api)
			continue
		}
		var old Mapping
		if raw, ok := e.Get(api); ok {
			var err error
			if old, err = parseMapping(raw, api); err != nil {
				return ms, err
			}
		}
		m, err := old.patched(value, api)
		if err != nil {
			return ms, err
		}
		if err := capped(m, api); err != nil {
			return ms, err
		}
		e.Set(api, text(m))
	}
	merged := Mappings{e.Object()}
	return merged, caps.ClientIdP.Count(mappingsOfIdP, merged.apis.Len())
}

// capped refuses more scopes than a mapping may have.
func capped(m Mapping, path string) error {
	return caps.ClientIdP.CountAt(scopesOfMapping, join(path, "scope_to_policy"), m.scopes.Len())
}

// The names in package caps of the lists that have a maximum length.
const (
	mappingsOfIdP   = "api_mappings"
	scopesOfMapping = "api_mappings.*.scope_to_policy"
)

// text returns the canonical form of a mapping.
func text(m Mapping) json.RawMessage {
	b, _ := m.AppendJSON(nil) // an object of texts can always be encoded
	return b
}

// AppendJSON implements doc.Appender.
func (ms Mappings) AppendJSON(b []byte) ([]byte, error) { return ms.apis.AppendJSON(b) }

// MarshalJSON implements json.Marshaler.
func (ms Mappings) MarshalJSON() ([]byte, error) { return ms.apis.AppendJSON(nil) }

// UnmarshalJSON reads an object of mappings; null is the empty table.
func (ms *Mappings) UnmarshalJSON(raw []byte) error {
	if doc.IsNull(raw) {
		*ms = Mappings{}
		return nil
	}
	if !doc.IsObject(raw) {
		return malformed("api_mappings", "must be an object")
	}
	o, err := doc.ParseObject(bytes.Clone(raw))
	if err != nil {
		return malformed("api_mappings", err.Error())
	}
	e := doc.Object{}.Edit()
	for api, value := range o.All() {
		m, err := parseMapping(value, "api_mappings."+api)
		if err == nil {
			err = capped(m, "api_mappings."+api)
		}
		if err != nil {
			return err
		}
		e.Set(api, text(m))
	}
	*ms = Mappings{e.Object()}
	return caps.ClientIdP.Count(mappingsOfIdP, ms.apis.Len())
}

// Schema describes the JSON form for the API description.
func (Mappings) Schema() map[string]any {
	return map[string]any{
		"type": "object", "description": "Mapping by API identifier.",
		"additionalProperties": map[string]any{"$ref": "#/components/schemas/Mapping"},
	}
}

// Mapping says which policy each token scope grants on one API. Its scopes keep their order;
// the zero Mapping grants nothing.
type Mapping struct{ scopes doc.Object }

// NewMapping makes a mapping from pairs of scope and policy.
func NewMapping(pairs ...[2]string) Mapping {
	e := doc.Object{}.Edit()
	for _, p := range pairs {
		e.Set(p[0], doc.AppendString(nil, p[1]))
	}
	return Mapping{e.Object()}
}

// Policy returns the policy that a scope grants.
func (m Mapping) Policy(scope string) (string, bool) {
	raw, ok := m.scopes.Get(scope)
	if !ok {
		return "", false
	}
	policy, err := doc.Unquote(raw)
	return policy, err == nil
}

// All yields each scope with its policy.
func (m Mapping) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for scope, raw := range m.scopes.All() {
			if policy, err := doc.Unquote(raw); err != nil || !yield(scope, policy) {
				return
			}
		}
	}
}

// Equal reports whether m and n grant the same policies, in any order.
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

// UnmarshalJSON reads a mapping: an object with an optional scope_to_policy, which is null or
// an object of strings. Other members are ignored.
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

// Schema describes the JSON form for the API description.
func (Mapping) Schema() map[string]any {
	return map[string]any{
		"type": "object", "description": "Policy that each token scope grants for the API.",
		"properties": map[string]any{"scope_to_policy": map[string]any{
			"type": []string{"object", "null"}, "additionalProperties": map[string]any{"type": "string"},
			"description": "Policy identifier by scope name.",
		}},
		"examples": []any{map[string]any{"scope_to_policy": map[string]any{"read": "gold", "orders:write": "platinum"}}},
	}
}

// parseMapping reads one mapping; path is its place in the request body.
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

// patched returns m with one API's part of a merge patch applied. Null removes a scope; null
// as scope_to_policy removes all scopes. The mapping itself stays.
func (m Mapping) patched(patch json.RawMessage, path string) (Mapping, error) {
	if !doc.IsObject(patch) {
		return Mapping{}, malformed(path, "must be an object or null")
	}
	o, err := doc.ParseObject(patch)
	if err != nil {
		return Mapping{}, malformed(path, err.Error())
	}
	for name := range o.All() { // decoders would read such a name as scope_to_policy
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

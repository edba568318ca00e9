package registry

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Mappings is the table from API to Mapping. It is immutable and keeps the text
// of each mapping, so that one change among ten thousand touches one. The zero
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

// All yields API and mapping.
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

// Named yields the APIs that a merge patch of mappings names.
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

// Merge returns ms with a merge patch applied, or ms as it was and a fault that
// names the offending member (docs/wire/client-idps.md#merge-patch).
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

// What package caps calls that which has a greatest number.
const (
	mappingsOfIdP   = "api_mappings"
	scopesOfMapping = "api_mappings.*.scope_to_policy"
)

// text returns the canonical form of a mapping.
func text(m Mapping) json.RawMessage {
	b, _ := m.AppendJSON(nil) // an object of texts always encodes
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

// Schema describes the wire form for the API description.
func (Mappings) Schema() map[string]any {
	return map[string]any{
		"type": "object", "description": "Mapping by API identifier.",
		"additionalProperties": map[string]any{"$ref": "#/components/schemas/Mapping"},
	}
}

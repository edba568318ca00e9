package doc

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Fields is an object that is encoded with its members in this order; a map would be sorted.
type Fields []Field

// Field is a member of an object.
type Field struct {
	Name  string
	Value any
}

// InOrder returns an object with the members of a map: first the named ones that exist, then
// the others sorted by name.
func InOrder(members map[string]any, names ...string) Fields {
	out, rest := make(Fields, 0, len(members)), maps.Clone(members)
	for _, name := range slices.Concat(names, slices.Sorted(maps.Keys(members))) {
		if v, ok := rest[name]; ok {
			out = append(out, Field{name, v})
			delete(rest, name)
		}
	}
	return out
}

// Get returns the value of a member, or nil.
func (f Fields) Get(name string) any {
	for _, m := range f {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (f Fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(AppendString(nil, m.Name))
		b.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

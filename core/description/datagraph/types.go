package datagraph

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// text returns the type of a string: an enum if its values are names.
func (b *builder) text(schema *doc.Node, u use) string {
	k := key{schema: schema}
	if name, ok := b.known[k]; ok {
		return name
	}
	values := enumValues(schema)
	if values == nil {
		b.known[k] = "String"
		return "String"
	}
	t := &typ{keyword: "enum", name: b.name(u), description: schema.Get("description").Text()}
	for _, v := range values {
		if !b.spend(u.place) {
			break
		}
		t.fields = append(t.fields, field{name: v})
	}
	b.types = append(b.types, t)
	b.known[k] = t.name
	return t.name
}

// enumValues returns the values of an enum, or nil if a value is not a valid GraphQL enum
// value (GraphQL 2.9.6).
func enumValues(schema *doc.Node) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range schema.Get("enum").Items() {
		v := item.Text()
		if item.Is(doc.TypeNull) || seen[v] {
			continue
		}
		if !isName(v) || v == "true" || v == "false" || v == "null" {
			return nil
		}
		seen[v] = true
		out = append(out, v)
	}
	return out
}

// name returns a name for a type.
func (b *builder) name(u use) string {
	if u.part != "" {
		return u.part
	}
	return b.names.take(valid(u.hint))
}

// object returns the type of an object. Its fields are added later, because they may use the
// type itself.
func (b *builder) object(schema *doc.Node, u use) string {
	k := key{schema: schema, input: u.input}
	if name, ok := b.known[k]; ok {
		return name
	}
	m := merger{b: b, u: u, seen: map[*doc.Node]bool{}, at: map[string]int{}, required: map[string]bool{}}
	m.merge(schema, 0)
	hidden := "writeOnly" // members that this direction does not have
	if u.input {
		hidden = "readOnly"
	}
	members := m.list[:0]
	for _, p := range m.list {
		if !p.schema.Get(hidden).True() {
			p.required = m.required[p.name]
			members = append(members, p)
		}
	}
	if len(members) == 0 || u.input && slices.ContainsFunc(members, func(p member) bool { return valid(p.name) != p.name }) {
		b.known[k] = b.anything(u) // names of an input cannot be mapped to other names
		return b.known[k]
	}
	t := &typ{keyword: "type", description: schema.Get("description").Text()}
	if u.input {
		base := valid(u.hint)
		if u.part != "" {
			base = u.part
		}
		t.keyword, t.name = "input", b.names.take(strings.TrimSuffix(base, "Input")+"Input")
	} else {
		t.name = b.name(u)
	}
	b.known[k] = t.name
	b.types = append(b.types, t)
	b.pending = append(b.pending, pending{t, members, use{place: u.place, hint: strings.TrimSuffix(t.name, "Input"), input: u.input}})
	return t.name
}

// merger collects the properties of a schema and of its parts.
type merger struct {
	b        *builder
	u        use
	seen     map[*doc.Node]bool
	list     []member
	at       map[string]int // index of a property in list
	required map[string]bool
}

// merge adds a schema, each one only once because of circles. Of properties with the same name
// the last one counts.
func (m *merger) merge(schema *doc.Node, depth int) {
	schema, _ = m.b.follow(schema, m.u)
	if schema == nil || m.seen[schema] || depth > maxNesting || !m.b.spend(m.u.place) {
		return
	}
	m.seen[schema] = true
	m.b.look(m.u.place, schema.Get("required").Len()+schema.Get("allOf").Len()+schema.Get("properties").Len())
	if m.b.err != nil {
		return
	}
	for _, part := range schema.Get("allOf").Items() {
		m.merge(part, depth+1)
	}
	for name, p := range schema.Get("properties").Members() {
		if !m.b.spend(m.u.place) {
			return
		}
		if i, ok := m.at[name]; ok {
			m.list[i].schema = p
			continue
		}
		m.at[name] = len(m.list)
		m.list = append(m.list, member{name: name, schema: p})
	}
	for _, name := range schema.Get("required").Texts() {
		m.required[name] = true
	}
}

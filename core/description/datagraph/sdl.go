package datagraph

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// scalarJSON is the type for values without a GraphQL type: gateways pass them on unchanged.
const scalarJSON = "JSON"

// typ is an object type, an input or an enum.
type typ struct {
	keyword, name, description string
	fields                     []field
}

// field is a field, an argument, or an enum value, which has no type.
type field struct {
	name, description, typ string
	args                   []field
}

// sdl returns the schema in the schema definition language (GraphQL 3).
func (b *builder) sdl() string {
	b.openCircles()
	var s strings.Builder
	for i, r := range b.roots {
		if i == 0 && len(r.fields) == 0 { // every schema must have a Query (GraphQL 3.3.1)
			r.fields = []field{{name: "_", typ: "Boolean", description: "Nothing can be queried."}}
		}
		if len(r.fields) > 0 {
			r.write(&s)
		}
	}
	for _, t := range b.types {
		t.write(&s)
	}
	if b.json {
		s.WriteString("\nscalar " + scalarJSON + "\n")
	}
	return strings.TrimPrefix(s.String(), "\n")
}

func (t *typ) write(s *strings.Builder) {
	s.WriteByte('\n')
	describe(s, "", t.description)
	s.WriteString(t.keyword + " " + t.name + " {\n")
	for _, f := range t.fields {
		describe(s, "  ", f.description)
		s.WriteString("  " + f.name)
		for i, a := range f.args {
			s.WriteString([]string{"(", ", "}[min(i, 1)])
			s.WriteString(a.name + ": " + a.typ)
		}
		if len(f.args) > 0 {
			s.WriteByte(')')
		}
		if f.typ != "" {
			s.WriteString(": " + f.typ)
		}
		s.WriteByte('\n')
	}
	s.WriteString("}\n")
}

// maxDescription is the maximum length of a description in characters, because each reference
// repeats it.
const maxDescription = 500

// describe writes a description. GraphQL has all escapes of JSON.
func describe(s *strings.Builder, indent, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	n := 0
	for i := range text {
		if n++; n > maxDescription {
			text = text[:i]
			break
		}
	}
	s.WriteString(indent)
	s.Write(doc.AppendString(nil, text))
	s.WriteByte('\n')
}

// openCircles makes a field of an input nullable where inputs would require each other in a
// circle, which GraphQL forbids (GraphQL 3.10).
func (b *builder) openCircles() {
	inputs := map[string]*typ{}
	for _, t := range b.types {
		if t.keyword == "input" {
			inputs[t.name+"!"] = t
		}
	}
	// The required inputs of each input are visited depth first and without recursion, because
	// chains may be as long as the document.
	type step struct {
		t    *typ
		next int
	}
	done, above := map[*typ]bool{}, map[*typ]bool{}
	for _, t := range b.types {
		if done[t] {
			continue
		}
		above[t] = true
		for path := []step{{t: t}}; len(path) > 0; {
			top := &path[len(path)-1]
			if top.next == len(top.t.fields) {
				above[top.t], done[top.t] = false, true
				path = path[:len(path)-1]
				continue
			}
			f := &top.t.fields[top.next]
			top.next++
			switch needed := inputs[f.typ]; {
			case needed == nil || done[needed]:
			case above[needed]:
				f.typ = strings.TrimSuffix(f.typ, "!")
			default:
				above[needed] = true
				path = append(path, step{t: needed})
			}
		}
	}
}

package mcp

import (
	"cmp"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// source identifies the operation of a tool: by ID, or by method and path.
type source struct{ id, method, path string }

// String returns the name of the source for messages.
func (s source) String() string {
	if s.id != "" {
		return "operationId:" + s.id
	}
	return s.method + " " + s.path
}

// apply applies an entry of a view to a tool.
func (t *Tool) apply(p *doc.Node) error {
	t.override, t.hints = p, p.Get("annotations")
	if name := p.Get("name").Text(); name != "" {
		t.Name = name
	}
	if text := p.Get("description").Text(); text != "" {
		t.Description = text
	}
	parameters := p.Get("parameters").Items()
	if len(parameters) == 0 {
		return nil
	}
	t.fields = slices.Clone(t.fields) // other views share them
	done, find := map[string]bool{}, t.finder()
	for _, o := range parameters {
		f := find(o.Get("param").Text())
		if f == nil {
			return invalid("parameters", "%s has no parameter %q", t.Name, o.Get("param").Text())
		}
		if done[f.location+" "+f.source] {
			return invalid("parameters", "%s describes the parameter %q twice", t.Name, o.Get("param").Text())
		}
		done[f.location+" "+f.source] = true
		if text := o.Get("description"); text.Text() != "" {
			f.schema = f.schema.Clone()
			f.schema.Set("description", text.Clone())
		}
	}
	// Parameters get the names that the entry sets. All are looked up by their derived names
	// before the first one is renamed.
	chosen := map[*field]string{}
	for _, o := range parameters {
		name := o.Get("name").Text()
		if name == "" {
			continue
		}
		if !validName.MatchString(name) {
			return invalid("parameters", "%q is no name for a parameter", name)
		}
		chosen[find(o.Get("param").Text())] = name
	}
	seen := map[string]bool{}
	for i := range t.fields {
		f := &t.fields[i]
		if name := chosen[f]; name != "" {
			f.name = name
		}
		if seen[f.name] {
			return invalid("parameters", "two parameters of %s are named %q", t.Name, f.name)
		}
		seen[f.name] = true
	}
	return nil
}

// finder returns a function that finds an input by its derived name, otherwise by its name in
// the request. Of several inputs with one name it finds the first.
func (t *Tool) finder() func(name string) *field {
	derived, requested := map[string]*field{}, map[string]*field{}
	for i := len(t.fields) - 1; i >= 0; i-- {
		f := &t.fields[i]
		derived[f.name], requested[f.source] = f, f
	}
	return func(name string) *field { return cmp.Or(derived[name], requested[name]) }
}

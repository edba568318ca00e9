package mcp

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Clash returns a name that two proxies of the same source give to different operations, if
// there is one (docs/wire/mcp-proxies.md#pairing).
func Clash(a, b []Tool) (name string, clash bool) {
	type operation struct{ method, path string }
	named := map[string]operation{} // of b
	several := map[string]bool{}    // names in b of more than one operation
	for _, u := range b {
		o := operation{u.Method, u.Path}
		if first, known := named[u.Name]; known && first != o {
			several[u.Name] = true
		} else {
			named[u.Name] = o
		}
	}
	for _, t := range a {
		if other, known := named[t.Name]; known && (several[t.Name] || other != operation{t.Method, t.Path}) {
			return t.Name, true
		}
	}
	return "", false
}

// Suspect returns a function that reports whether another view of the source may give one of
// these names to another operation. false is certain; for true the caller must ask Clash. The
// function reads only which operations a view names and selects.
func (s Source) Suspect(tools []Tool) func(view *doc.Node) bool {
	named := make(map[string]source, len(tools))
	for _, t := range tools {
		named[t.Name] = t.place()
	}
	var derived []int // tools of the source with a derived name that another tool here has
	for i := range s.tools {
		if o, known := named[s.tools[i].Name]; known && o != s.tools[i].place() {
			derived = append(derived, i)
		}
	}
	return func(view *doc.Node) bool {
		renamed, allowed, selected := map[int]bool{}, map[int]bool{}, false
		primitives := view.Get("primitives").Items()
		for _, p := range primitives {
			allow := p.Get("allow").True()
			selected = selected || allow
			for _, i := range s.at[sourceOf(p)] {
				allowed[i] = allow
				renamed[i] = p.Get("name").Text() != ""
			}
		}
		for _, p := range primitives {
			for _, i := range s.at[sourceOf(p)] {
				if o, known := named[p.Get("name").Text()]; known && o != s.tools[i].place() && (allowed[i] || !selected) {
					return true
				}
			}
		}
		for _, i := range derived {
			if !renamed[i] && (allowed[i] || !selected) {
				return true
			}
		}
		return false
	}
}

// place returns the method and path of the operation.
func (t *Tool) place() source { return source{method: t.Method, path: t.Path} }

// sourceOf returns the operation to which the entry of a view belongs.
func sourceOf(p *doc.Node) source {
	n := p.Get("source")
	return source{id: n.Get("operationId").Text(), method: strings.ToUpper(n.Get("method").Text()), path: n.Get("path").Text()}
}

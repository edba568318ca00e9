package mcp

import (
	"cmp"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// View is the tools of a proxy.
type View struct {
	Tools    []Tool // visible to clients, sorted by name
	Warnings []Warning
	all      []Tool // including those that the view hides, sorted by name
}

// Source is the tools that a REST API offers to its paired proxies.
type Source struct {
	tools    []Tool // never changed
	warnings []Warning
	at       map[source][]int // tools by operation ID, and by method and path
}

// SourceOf reads the document of a REST API. Too many parameters are a fault of kind Invalid.
func SourceOf(rest *doc.Node) (Source, error) {
	tools, warnings, err := sourceTools(rest)
	if err != nil {
		return Source{}, err
	}
	s := Source{tools: tools, warnings: warnings, at: map[source][]int{}}
	for i, t := range tools {
		place := source{method: t.Method, path: t.Path}
		s.at[place] = append(s.at[place], i)
		if t.OperationID != "" {
			id := source{id: t.OperationID}
			s.at[id] = append(s.at[id], i)
		}
	}
	return s, nil
}

// Derive computes a tool view, which may be nil, from the document of its REST API, as
// Source.Derive does.
func Derive(rest, view *doc.Node, strict bool) (View, error) {
	s, err := SourceOf(rest)
	if err != nil {
		return View{}, err
	}
	return s.Derive(view, strict)
}

// Derive computes a tool view, which may be nil. If the API lacks a source in the view, this
// is an error if strict, otherwise a warning. Errors are faults of kind Invalid
// (docs/wire/mcp-proxies.md#tool-view).
func (s Source) Derive(view *doc.Node, strict bool) (View, error) {
	b := &binder{
		tools: slices.Clone(s.tools), warnings: slices.Clone(s.warnings), at: s.at, strict: strict, names: map[string]bool{}, unknown: map[string]bool{},
	}
	for _, p := range view.Get("primitives").Items() {
		if err := b.bind(p); err != nil {
			return View{}, err
		}
	}
	v := View{Warnings: b.warnings, all: b.tools}
	slices.SortStableFunc(v.all, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	for i := range v.all {
		t := &v.all[i]
		t.shown = !b.selected || t.override.Get("allow").True()
		if !t.shown {
			continue
		}
		if n := len(v.Tools); n > 0 && v.Tools[n-1].Name == t.Name {
			return View{}, invalid("name", "two tools are named %q", t.Name)
		}
		v.Tools = append(v.Tools, *t)
	}
	return v, nil
}

// binder applies the entries of a view to the tools of a source.
type binder struct {
	tools    []Tool
	warnings []Warning
	at       map[source][]int
	strict   bool
	selected bool // some entry selects a tool
	names    map[string]bool
	unknown  map[string]bool
}

func (b *binder) bind(p *doc.Node) error {
	name := p.Get("name").Text()
	if name != "" && !validName.MatchString(name) {
		return invalid("name", "%q is no name for a tool: 1 to %d letters, digits, '_', '.' and '-'", name, maxName)
	}
	if name != "" && b.names[name] {
		return invalid("name", "two tools are named %q", name)
	}
	b.names[name] = true
	source := sourceOf(p)
	switch {
	case source.id != "" && (source.method != "" || source.path != ""):
		return invalid("source", "a source is either an operationId or a path and method, not both")
	case source.id == "" && (source.method == "" || source.path == ""):
		return invalid("source", "a source needs an operationId, or a path and method")
	}
	var t *Tool
	if found := b.at[source]; len(found) > 1 {
		return invalid("source", "%s is not unique in the source API", source)
	} else if len(found) == 1 {
		t = &b.tools[found[0]]
	}
	b.selected = b.selected || p.Get("allow").True()
	switch {
	case t != nil && t.override != nil || b.unknown[source.String()]:
		return invalid("source", "two tools are made of %s", source)
	case t != nil:
		return t.apply(p)
	case b.strict:
		return invalid("source", "the source API has no operation %s for clients", source)
	}
	b.unknown[source.String()] = true
	b.warnings = append(b.warnings, Warning{
		Operation: source.String(), Source: source.String(), ToolName: name, Message: "the source API has no such operation for clients",
	})
	return nil
}

// CodeView is the code of a tool view that does not fit the source API.
const CodeView = "mcp.view"

func invalid(member, format string, args ...any) error {
	return fault.New(fault.Invalid, CodeView, ViewExtension+": "+format, args...).At(ViewExtension + ".primitives." + member)
}

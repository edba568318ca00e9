// Package datagraph makes data-graph APIs from descriptions: an OpenAPI or AsyncAPI document
// becomes a classic definition with a GraphQL engine that gets its data from the described API
// (docs/wire/data-graphs.md#import, docs/wire/classic-definition.md#graphql).
package datagraph

import (
	"fmt"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Code is the code of every fault of this package. The faults are of kind Invalid, with the
// place in the document as field and as prefix of the message.
const Code = "datagraph.document"

// MaxFields is the maximum number of fields, arguments and enum values in a graph: with
// references, a small document can describe a graph without limit.
const MaxFields = 100_000

// With references, a small document can also cause much work, and repeat long texts.
const (
	maxSteps = 5_000_000 // parts of schemas, parameters and servers that are visited
	maxText  = 16 << 20  // bytes of names, descriptions and addresses in a graph
)

// builder is the state while a graph is made.
type builder struct {
	document *doc.Node
	err      error // the first fault
	left     int   // fields that may still be added
	steps    int   // steps that may still be taken
	room     int   // bytes that may still be added

	roots   []*root // Query, Mutation, Subscription
	types   []*typ  // in the order of their first use
	names   *names  // of types
	used    *names  // of data sources; they must differ by more than case
	known   map[key]string
	parts   map[string]string // names reserved for the schemas of the document, by reference
	pending []pending
	json    bool // the JSON scalar is in use

	sources, configs *doc.Node
}

// root is one of the types at which queries begin.
type root struct {
	typ
	taken *names
}

func newBuilder(document *doc.Node) *builder {
	b := &builder{
		document: document, left: MaxFields, steps: maxSteps, room: maxText, names: newNames(false), used: newNames(true), known: map[key]string{},
		parts: map[string]string{}, sources: doc.NewArray(), configs: doc.NewArray(),
	}
	for _, name := range []string{"Int", "Float", "String", "Boolean", "ID", scalarJSON} {
		b.names.take(name)
	}
	for _, name := range []string{"Query", "Mutation", "Subscription"} {
		b.roots = append(b.roots, &root{typ: typ{keyword: "type", name: b.names.take(name)}, taken: newNames(false)})
	}
	for name := range document.Get("components", "schemas").Members() {
		b.parts[componentPrefix+name] = b.names.take(valid(name))
	}
	return b
}

// fail records the first problem, with its place in the document.
func (b *builder) fail(place, format string, args ...any) {
	if b.err == nil {
		b.err = fault.New(fault.Invalid, Code, "%s: %s", place, fmt.Sprintf(format, args...)).At(place)
	}
}

// spend counts one more field and reports whether it is allowed.
func (b *builder) spend(place string) bool {
	if b.left--; b.left < 0 {
		b.fail(place, "describes more than %d fields", MaxFields)
	}
	return b.err == nil
}

// look counts visited parts of the document.
func (b *builder) look(place string, parts int) {
	if b.steps -= parts; b.steps < 0 {
		b.fail(place, "what its references lead to takes more than %d steps", maxSteps)
	}
}

// hold counts bytes of the graph before they are written.
func (b *builder) hold(place string, bytes int) {
	if b.room -= bytes; b.room < 0 {
		b.fail(place, "the names, descriptions and addresses take more than %d MiB", maxText>>20)
	}
}

// holdField counts the texts of a field.
func (b *builder) holdField(place string, f field) {
	b.hold(place, len(f.name)+min(len(f.description), maxDescription)+len(f.typ))
}

// holdTexts counts the texts of a tree.
func (b *builder) holdTexts(place string, n *doc.Node) {
	b.hold(place, len(n.Text()))
	for _, v := range n.Members() {
		b.holdTexts(place, v)
	}
	for _, v := range n.Items() {
		b.holdTexts(place, v)
	}
}

// root returns Query, Mutation or Subscription.
func (b *builder) root(name string) *root {
	for _, r := range b.roots {
		if r.name == name {
			return r
		}
	}
	return nil
}

// attach adds a field at which queries begin, with its data source. The path is empty, because
// the value is the whole response.
func (b *builder) attach(place string, r *root, f field, kind string, config *doc.Node) {
	b.holdField(place, f)
	b.holdTexts(place, config)
	r.fields = append(r.fields, f)
	b.mapField(r.name, f.name)
	fields := doc.NewObject()
	fields.Set("type", doc.NewString(r.name))
	fields.Set("fields", doc.NewStrings([]string{f.name}))
	source := doc.NewObject()
	source.Set("kind", doc.NewString(kind))
	source.Set("name", doc.NewString(b.used.take(r.name+"_"+f.name)))
	source.Set("internal", doc.NewBool(false))
	source.Set("root_fields", doc.NewArray(fields))
	source.Set("config", config)
	b.sources.Append(source)
}

// mapField sets the path of a field's value in a response; without a path it is the whole
// response.
func (b *builder) mapField(typeName, fieldName string, path ...string) {
	c := doc.NewObject()
	c.Set("type_name", doc.NewString(typeName))
	c.Set("field_name", doc.NewString(fieldName))
	c.Set("disable_default_mapping", doc.NewBool(true))
	c.Set("path", doc.NewStrings(path))
	b.configs.Append(c)
}

// definition returns the finished API. Its listen path is made from the title of the document.
func (b *builder) definition(title, target string) (*doc.Node, error) {
	// The types get their fields, which may need more types.
	for len(b.pending) > 0 && b.err == nil {
		next := b.pending[0]
		b.pending = b.pending[1:]
		taken := newNames(false)
		for _, p := range next.members { // members that can keep their name get it first
			if valid(p.name) == p.name {
				taken.take(p.name)
			}
		}
		for _, p := range next.members {
			u := next.u.within(p.name, p.name)
			name, null := b.typeOf(p.schema, u, 0)
			f := field{name: p.name, description: p.schema.Get("description").Text(), typ: nonNull(name, null || !p.required)}
			b.holdField(u.place, f)
			if v := valid(p.name); v != p.name {
				f.name = taken.take(v)
				b.mapField(next.t.name, f.name, p.name)
			}
			next.t.fields = append(next.t.fields, f)
		}
	}
	if b.err != nil {
		return nil, b.err
	}
	n := doc.NewObject()
	n.Set("name", doc.NewString(title))
	n.Set("active", doc.NewBool(true))
	n.Set("use_keyless", doc.NewBool(true))
	n.Put(doc.NewString("/"+slug(title)+"/"), "proxy", "listen_path")
	n.Put(doc.NewString(target), "proxy", "target_url")
	n.Put(doc.NewBool(true), "proxy", "strip_listen_path")
	n.Put(doc.NewBool(true), "version_data", "not_versioned")
	n.Put(doc.NewString("Default"), "version_data", "versions", "Default", "name")
	n.Put(doc.NewBool(true), "version_data", "versions", "Default", "use_extended_paths")
	n.Put(doc.NewBool(true), "graphql", "enabled")
	n.Put(doc.NewString("executionEngine"), "graphql", "execution_mode")
	n.Put(doc.NewString("2"), "graphql", "version")
	n.Put(doc.NewString(b.sdl()), "graphql", "schema")
	n.Put(b.configs, "graphql", "engine", "field_configs")
	n.Put(b.sources, "graphql", "engine", "data_sources")
	n.Put(doc.NewArray(), "graphql", "engine", "global_headers")
	return n, nil
}

// title returns the title of a document.
func (b *builder) title() string {
	t := strings.TrimSpace(b.document.Get("info", "title").Text())
	if t == "" {
		b.fail("info.title", "is required: it names the API")
	}
	return t
}

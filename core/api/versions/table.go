// Package versions edits the routing table with which a base API serves its child versions: in
// the vendor extension of a document, and in its classic counterpart
// (docs/wire/versions.md#routing-table).
package versions

import (
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Self is the default that means the base API itself.
const Self = "self"

// Defaults of a table when a first version is added.
const (
	defaultLocation = "header"
	defaultKey      = "x-tyk-version"
)

// Table is the routing table within a definition; edits are made in place.
// Other members of the definition and of the table stay as they are.
type Table struct {
	root *doc.Node
	path []string
	list bool // versions are a list of {name, id}, not an object of name to id
}

// InDocument returns the table of an OAS document.
func InDocument(document *doc.Node) Table {
	return Table{root: document, path: []string{oas.ExtensionKey, "info", "versioning"}, list: true}
}

// InDefinition returns the table of a classic definition.
func InDefinition(classic *doc.Node) Table { return Table{root: classic, path: []string{"definition"}} }

// Child is a version that a base routes to.
type Child struct {
	Name string // of the version
	ID   string // of its API
}

// Enabled reports whether the API is a base.
func (t Table) Enabled() bool { return t.get("enabled").True() }

// Name returns the version name of the base itself.
func (t Table) Name() string { return t.get("name").Text() }

// Default returns the version for requests without one: Self or a name.
func (t Table) Default() string { return t.get("default").Text() }

// Children returns the versions in the order of the table.
func (t Table) Children() []Child {
	var out []Child
	for _, v := range t.get("versions").Items() {
		out = append(out, Child{Name: v.Get("name").Text(), ID: v.Get("id").Text()})
	}
	for name, id := range t.get("versions").Members() {
		out = append(out, Child{Name: name, ID: id.Text()})
	}
	return out
}

// Find returns the version with an API.
func (t Table) Find(id string) (Child, bool) {
	for _, c := range t.Children() {
		if c.ID == id {
			return c, true
		}
	}
	return Child{}, false
}

// Clear removes the table, which children do not have.
func (t Table) Clear() { t.root.Delete(t.path...) }

// block returns the table itself, or nil.
func (t Table) block() *doc.Node { return t.root.Get(t.path...) }

func (t Table) get(member string) *doc.Node { return t.block().Get(member) }

func (t Table) set(member, value string) {
	if t.get(member).Text() != value {
		t.put(member, doc.NewString(value))
	}
}

func (t Table) put(member string, v *doc.Node) {
	t.root.Put(v, append(append([]string(nil), t.path...), member)...)
}

// append appends a version.
func (t Table) append(c Child) {
	versions := t.get("versions")
	if !t.list {
		if !versions.Is(doc.TypeObject) {
			versions = doc.NewObject()
			t.put("versions", versions)
		}
		versions.Set(c.Name, doc.NewString(c.ID))
		return
	}
	if !versions.Is(doc.TypeArray) {
		versions = doc.NewArray()
		t.put("versions", versions)
	}
	entry := doc.NewObject()
	entry.Set("name", doc.NewString(c.Name))
	entry.Set("id", doc.NewString(c.ID))
	versions.Append(entry)
}

// drop removes all entries of an API and reports whether there were any.
func (t Table) drop(id string) bool {
	versions := t.get("versions")
	before := versions.Len()
	if versions.Is(doc.TypeArray) {
		var kept []*doc.Node
		for _, v := range versions.Items() {
			if v.Get("id").Text() != id {
				kept = append(kept, v)
			}
		}
		versions.SetItems(kept)
	}
	if versions.Is(doc.TypeObject) {
		for _, name := range versions.Names() {
			if versions.Get(name).Text() == id {
				versions.Delete(name)
			}
		}
	}
	return versions.Len() < before
}

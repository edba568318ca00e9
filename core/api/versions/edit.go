package versions

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
)

// Codes of the faults of this package; all are of kind Invalid.
const (
	CodeName       = "versions.name"          // the new version has no usable name (422)
	CodeBaseName   = "versions.base_name"     // the base has no version name (400)
	CodeDuplicate  = "versions.duplicate"     // the name is taken (422)
	CodeNotBase    = "versions.not_base"      // rebase from an API that is no base (400)
	CodeNotChild   = "versions.not_child"     // rebase to an API that is no child (400)
	CodeNotItsOwn  = "versions.not_of_base"   // rebase to a child of another base (400)
	CodeItself     = "versions.itself"        // a version is the API that holds the table (400)
	CodeDefinition = "versions.no_definition" // the definition is missing (400)
	CodeTooLarge   = "versions.too_large"     // a change would rewrite too much of the versions (400)
)

// New is a version to add.
type New struct {
	Name     string // new_version_name
	ID       string // of its API
	BaseName string // base_api_version_name; "" keeps the base's
	Default  bool   // set_default
}

// Add makes an API a version of the base. The first version switches versioning on
// (docs/wire/versions.md#add-a-version). A refused table is left unchanged.
func (t Table) Add(n New) error {
	base := n.BaseName
	if base == "" {
		base = t.Name()
	}
	children := t.Children()
	switch {
	case !t.root.Is(doc.TypeObject):
		return fault.New(fault.Invalid, CodeDefinition, "the base API has no definition")
	case strings.TrimSpace(n.Name) == "":
		return fault.New(fault.Invalid, CodeName, "new version name is required").At("new_version_name")
	case label.Flaw(n.Name, "") != "":
		return fault.New(fault.Invalid, CodeName, "new_version_name %s", label.Flaw(n.Name, "")).At("new_version_name")
	case label.Flaw(n.BaseName, "") != "":
		return fault.New(fault.Invalid, CodeBaseName, "base_api_version_name %s", label.Flaw(n.BaseName, "")).At("base_api_version_name")
	case n.Name == Self:
		return fault.New(fault.Invalid, CodeName, "%q stands for the base API and is no version name", Self).At("new_version_name")
	case strings.TrimSpace(base) == "" && (!t.Enabled() || len(children) == 0):
		return fault.New(fault.Invalid, CodeBaseName, "version name header should be set with base API ID").At("base_api_version_name")
	case n.Name == base:
		return duplicate(n.Name)
	}
	for _, c := range children {
		if c.Name == n.Name || c.Name == base {
			return duplicate(c.Name)
		}
	}
	if !t.Enabled() {
		t.put("enabled", doc.NewBool(true))
	}
	if base != "" {
		t.set("name", base)
	}
	if t.Default() == "" {
		t.set("default", Self)
	}
	if t.get("location").Text() == "" {
		t.set("location", defaultLocation)
	}
	if t.get("key").Text() == "" && t.get("location").Text() != "url" {
		t.set("key", defaultKey)
	}
	t.append(Child{Name: n.Name, ID: n.ID})
	if list := t.get("versions"); t.list { // sorted, because the classic form has no order
		items := list.Items()
		slices.SortStableFunc(items, func(a, b *doc.Node) int { return strings.Compare(a.Get("name").Text(), b.Get("name").Text()) })
		list.SetItems(items)
	}
	if n.Default {
		t.set("default", n.Name)
	}
	return nil
}

func duplicate(name string) error {
	return fault.New(fault.Invalid, CodeDuplicate, "version name %q is already in use", name).At("new_version_name")
}

// Check refuses a table that contains the API that holds it, which has this ID, or that has a
// name twice; the name of the base and Self count too. Otherwise it would be unclear which
// version requests reach, and which APIs are deleted with the base.
func (t Table) Check(id string) error {
	field, names := t.field(), map[string]bool{}
	if base := t.Name(); base != "" && t.Enabled() {
		names[base] = true
	}
	for _, c := range t.Children() {
		flaw := label.Flaw(c.Name, "")
		switch {
		case flaw != "":
			return fault.New(fault.Invalid, CodeName, "%s: the name of a version %s", field, flaw).At(field)
		case c.Name == Self && t.Enabled():
			return fault.New(fault.Invalid, CodeName, "%s: %q stands for the base API and is no version name", field, Self).At(field)
		case names[c.Name]:
			return fault.New(fault.Invalid, CodeDuplicate, "%s: version name %q is already in use", field, c.Name).At(field)
		case c.ID == id && id != "":
			return fault.New(fault.Invalid, CodeItself, "%s: version %q is the API itself", field, c.Name).At(field)
		}
		names[c.Name] = true
	}
	return nil
}

// LeadsBack returns the fault of a table that leads back to its own API through the table of
// another API with this ID.
func (t Table) LeadsBack(id string) error {
	return fault.New(fault.Invalid, CodeItself, "%s: API %s leads back to this API, of which it would be a version", t.field(), id).At(t.field())
}

// field is the location of the table's entries.
func (t Table) field() string { return strings.Join(t.path, ".") + ".versions" }

// Equal reports whether two tables have the same versions.
func (t Table) Equal(other Table) bool { return slices.Equal(t.Children(), other.Children()) }

// Remove removes an API from the table and reports whether it was there. If it was the
// default, the default becomes Self.
func (t Table) Remove(id string) bool {
	var wasDefault bool
	for _, c := range t.Children() {
		wasDefault = wasDefault || c.ID == id && c.Name == t.Default()
	}
	if !t.drop(id) {
		return false
	}
	if wasDefault {
		t.set("default", Self)
	}
	return true
}

// Rename replaces the API ID of a version, and reports whether there was one.
func (t Table) Rename(from, to string) bool {
	found := false
	for _, v := range t.get("versions").Items() {
		if v.Get("id").Text() == from {
			v.Set("id", doc.NewString(to))
			found = true
		}
	}
	for name, id := range t.get("versions").Members() {
		if id.Text() == from {
			t.get("versions").Set(name, doc.NewString(to))
			found = true
		}
	}
	return found
}

// Rebase moves the routing table from the base to one of its versions. The old base takes the
// place of this version in the table. All keep their names, and requests without a version
// reach the same API as before (docs/wire/versions.md#delete-and-rebase).
func Rebase(base, child Table, baseID, childID string) error {
	c, listed := base.Find(childID)
	switch {
	case !base.Enabled():
		return fault.New(fault.Invalid, CodeNotBase, "current-base-apiId must be a base API")
	case child.Enabled() || !child.root.Is(doc.TypeObject):
		return fault.New(fault.Invalid, CodeNotChild, "next-base-apiId must be a child API")
	case !listed:
		return fault.New(fault.Invalid, CodeNotItsOwn, "next-base-apiId must be a child of current-base-apiId")
	case base.Name() == "":
		return fault.New(fault.Invalid, CodeBaseName, "the current base API has no version name")
	}
	former := child.block().Clone()
	child.root.Put(base.block().Clone(), child.path...)
	child.drop(childID)
	child.append(Child{Name: base.Name(), ID: baseID})
	switch base.Default() {
	case c.Name:
		child.set("default", Self)
	case Self, "":
		child.set("default", base.Name())
	}
	child.set("name", c.Name)
	if base.Clear(); former != nil {
		base.root.Put(former, base.path...)
	}
	return nil
}

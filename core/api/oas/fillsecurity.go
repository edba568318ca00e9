package oas

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// requireScheme adds a scheme to the first requirement of a document.
func requireScheme(d *doc.Node, name string) {
	list := d.Get("security")
	if !list.Is(doc.TypeArray) {
		list = doc.NewArray()
		d.Set("security", list)
	}
	first := first(list)
	if !first.Is(doc.TypeObject) {
		first = doc.NewObject()
		list.SetItems(append([]*doc.Node{first}, list.Items()...))
	}
	if first.Get(name) == nil {
		first.Set(name, doc.NewArray())
	}
}

// fillSecurity rebuilds the requirements of a document (docs/wire/conversion.md#fill-security).
func fillSecurity(d, a, c *doc.Node) {
	var all [][]string // names
	for _, names := range c.Get("security_requirements").Items() {
		all = append(all, names.Texts())
	}
	// When the two lists differ in length, the names are those of the scopes. But a single map of
	// scopes without names does not give any names.
	scopes := c.Get("security_requirement_scopes").Items()
	if n := len(scopes); n > 0 && n != len(all) && (n > 1 || len(all) > 0) {
		all = nil
		for _, s := range scopes {
			all = append(all, sortedNames(s))
		}
	}
	if len(all) == 0 {
		combine(d, a, first(c.Get("security_requirement_scopes")))
		return
	}
	if len(scopes) == 0 {
		scopes = make([]*doc.Node, len(all))
	}
	compliant := a.Get("securityProcessingMode").Text() == "compliant"
	f := filler{d, a, vendorNames(a)}
	var root []*doc.Node
	vendor := doc.NewArray()
	for i, names := range all {
		standard, own := f.divide(names)
		switch {
		case compliant && len(own) > 0:
			vendor.Append(doc.NewStrings(names))
			continue
		case len(own) > 0:
			vendor.Append(doc.NewStrings(own))
		}
		if len(standard) > 0 || len(own) == 0 {
			root = append(root, f.requirement(standard, scopes[i]))
		}
	}
	switch {
	case len(root) > 0:
		assign(d, doc.NewArray(root...), "security")
	case d.Get("security") != nil:
		d.Delete("security")
	}
	switch {
	case vendor.Len() > 0:
		assign(a, vendor, "security")
	case compliant:
		a.Delete("security")
	}
}

// combine writes the only requirement of legacy mode if the definition has no list. Its
// schemes are those with scopes. A definition without scopes, as older ones are, requires all
// its schemes at once, unless the document requires none.
func combine(d, a, scopes *doc.Node) {
	names := sortedNames(scopes)
	switch {
	case a.Get("securityProcessingMode").Text() == "compliant", scopes == nil && first(d.Get("security")) == nil:
		return
	case scopes == nil:
		names = sortedNames(a.Get("securitySchemes"))
	}
	f := filler{d, a, vendorNames(a)}
	if standard, _ := f.divide(names); len(standard) > 0 {
		assign(d, doc.NewArray(f.requirement(standard, scopes)), "security")
	}
}

type filler struct {
	d, a   *doc.Node
	vendor map[string]bool // names in the requirements of the extension
}

func vendorNames(a *doc.Node) map[string]bool {
	out := map[string]bool{}
	for _, names := range a.Get("security").Items() {
		for _, name := range names.Texts() {
			out[name] = true
		}
	}
	return out
}

// divide separates the standard names of a requirement from the proprietary ones.
func (f filler) divide(names []string) (standard, own []string) {
	for _, name := range names {
		native, entry := nativeScheme(f.d, name), f.a.Get("securitySchemes", name)
		isOwn := slices.Contains(proprietary, name)
		switch {
		case isOwn:
		case native == nil:
			isOwn = f.vendor[name] || entry != nil
		default:
			isOwn = entry != nil && Recognise(native, entry) == SchemeOther
		}
		if isOwn {
			own = append(own, name)
		} else {
			standard = append(standard, name)
		}
	}
	return standard, own
}

// requirement returns the names with their scopes, which only some kinds of schemes have.
func (f filler) requirement(names []string, scopes *doc.Node) *doc.Node {
	out := doc.NewObject()
	for _, name := range names {
		list := doc.NewArray()
		if t := nativeScheme(f.d, name).Get("type").Text(); t == "oauth2" || t == "openIdConnect" {
			list = doc.NewStrings(append([]string{}, scopes.Get(name).Texts()...))
		}
		out.Set(name, list)
	}
	return out
}

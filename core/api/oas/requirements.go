package oas

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// proprietary are the names that a requirement of the extension may use without a scheme in
// the document (docs/wire/conversion.md#requirements).
var proprietary = []string{"hmac", "custom", "mtls", "coprocess"}

// requirements are the alternative authentications of a document.
type requirements struct {
	compliant bool
	active    bool        // authentication is on, or schemes have entries
	root      []*doc.Node // of the document: scopes by scheme
	vendor    [][]string  // of the extension
}

func requirementsOf(document, a *doc.Node) requirements {
	r := requirements{
		compliant: a.Get("securityProcessingMode").Text() == "compliant",
		active:    a.Get("enabled").True() || a.Get("securitySchemes").Len() > 0,
	}
	if document.Get("components", "securitySchemes").Len() > 0 {
		r.root = slices.DeleteFunc(document.Get("security").Items(), func(n *doc.Node) bool { return !n.Is(doc.TypeObject) })
	}
	for _, names := range a.Get("security").Items() {
		if names.Is(doc.TypeArray) && r.compliant {
			r.vendor = append(r.vendor, names.Texts())
		}
	}
	return r
}

func sortedNames(requirement *doc.Node) []string {
	names := requirement.Names()
	slices.Sort(names)
	return names
}

// converted returns the requirements with schemes that become settings: in legacy mode the
// first one, in compliant mode all.
func (r requirements) converted() [][]string {
	var out [][]string
	for _, n := range r.root {
		out = append(out, sortedNames(n))
	}
	switch {
	case r.compliant:
		return append(out, r.vendor...)
	case len(out) > 0 && r.active:
		return out[:1]
	}
	return nil
}

// extract writes the two requirement lists (docs/wire/conversion.md#requirements).
func (r requirements) extract(c *doc.Node) {
	c.Delete("security_requirements")
	c.Delete("security_requirement_scopes")
	if len(r.root) == 0 && len(r.vendor) == 0 {
		return
	}
	// Vendor lists combine schemes with a proprietary one: a requirement of just one of these
	// schemes does not stand for itself.
	swallowed := map[string]bool{}
	for _, list := range r.vendor {
		if !slices.ContainsFunc(list, func(s string) bool { return slices.Contains(proprietary, s) }) {
			continue
		}
		for _, name := range list {
			swallowed[name] = !slices.Contains(proprietary, name)
		}
	}
	names, scopes := doc.NewArray(), doc.NewArray()
	for _, n := range r.root {
		if n.Len() == 1 && swallowed[n.Names()[0]] {
			continue
		}
		byScheme := doc.NewObject()
		for name, list := range n.Members() {
			byScheme.Set(name, doc.NewStrings(list.Texts()))
		}
		names.Append(doc.NewStrings(append([]string{}, sortedNames(n)...)))
		scopes.Append(byScheme)
	}
	for _, list := range r.vendor {
		names.Append(doc.NewStrings(list))
		scopes.Append(doc.NewObject())
	}
	if r.compliant || len(r.root) > 1 || r.root[0].Len() > 1 {
		c.Set("security_requirements", names)
	}
	c.Set("security_requirement_scopes", scopes)
}

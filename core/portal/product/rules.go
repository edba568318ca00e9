package product

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// keyless is the method of an API that asks for no credential.
const keyless = "keyless"

// maxAPIs bounds the APIs of one product.
const maxAPIs = 1000

// rule is one row of what a product must fulfil.
type rule struct {
	text   string
	broken func(Product) bool
}

var rules = []rule{
	{"Name can't be blank", func(p Product) bool { return strings.TrimSpace(p.Name) == "" }},
	{"ProviderID can't be blank", func(p Product) bool { return p.ProviderID == 0 && !p.IsDocumentationOnly }},
	{"AuthTypeMode is invalid", func(p Product) bool { return !slices.Contains([]string{"", SelfServe, Managed}, p.AuthTypeMode) }},
	{"Path is invalid", func(p Product) bool { return strings.ContainsAny(p.Path, "/?#%\\ ") }},
	{"APIDetails is invalid", func(p Product) bool {
		return len(p.APIs) > maxAPIs || slices.ContainsFunc(p.APIs, func(d Detail) bool { return d.APIID == "" })
	}},
}

// Check returns what is wrong with a product, one text for each failure. Whether its
// provider, catalogues, tags and templates exist, and whether its path is free, storage
// knows.
func (p Product) Check() (problems []string) {
	for _, r := range rules {
		if r.broken(p) {
			problems = append(problems, r.text)
		}
	}
	return problems
}

// CheckAPIs holds the APIs of a product against those of its dashboard: they exist, they
// are no MCP proxies, they want a credential, and they share one way of authentication.
func (p Product) CheckAPIs(apis sync.Index) (problems []string) {
	var first []string
	for _, d := range p.APIs {
		a, ok := apis[d.APIID]
		switch {
		case !ok:
			problems = append(problems, fmt.Sprintf("API %s not found at the dashboard", d.APIID))
			continue
		case a.Proxy:
			problems = append(problems, fmt.Sprintf("API %s is an MCP proxy and can't be part of a product", d.APIID))
			continue
		case slices.Contains(a.AuthTypes, keyless):
			problems = append(problems, fmt.Sprintf("API %s is keyless and can't be part of a product", d.APIID))
			continue
		}
		if first != nil && !slices.Equal(first, a.AuthTypes) {
			problems = append(problems, fmt.Sprintf("API %s authenticates by %s, others by %s", d.APIID, strings.Join(a.AuthTypes, ", "), strings.Join(first, ", ")))
		} else if first == nil {
			first = a.AuthTypes
		}
	}
	return problems
}

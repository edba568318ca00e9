package product

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/portal/sync"
)

// keyless is the method of an API that requires no credential.
const keyless = "keyless"

// CheckAPIs checks the APIs of a product against those of its dashboard: they exist, they are
// not MCP proxies, they require a credential, and they have the same authentication.
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

// Moved returns the problems of a change: the provider of a product with a policy cannot
// change.
func (p Product) Moved(next Product) []string {
	if p.Agreed != nil && p.ProviderID != next.ProviderID {
		return []string{"ProviderID can't be changed"}
	}
	return nil
}

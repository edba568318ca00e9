package gatewaysim

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// scopeClaim returns the name of the claim with the scopes: the API definition's
// choice, then the record's, then scope. A claim in the definition also applies to the
// record's scopes.
func (a *api) scopeClaim(claims jwt.MapClaims, b *Binding) string {
	if a.doc != nil && a.doc.jwt != nil && len(a.doc.jwt.Scopes.Claims) > 0 {
		names := a.doc.jwt.Scopes.Claims
		i := slices.IndexFunc(names, func(name string) bool { _, ok := claim(claims, name); return ok })
		return names[max(i, 0)]
	}
	recorded := ""
	if b != nil {
		recorded = b.ScopeClaim
	}
	return cmp.Or(a.Scopes.JWT.Claim, a.OldScopeClaim, recorded, "scope")
}

// scopeMap merges the record's map with the definition's, which takes precedence.
func (a *api) scopeMap(b *Binding) map[string]string {
	merged := map[string]string{}
	if b != nil {
		maps.Copy(merged, b.ScopeToPolicy)
	}
	maps.Copy(merged, a.OldScopePolicy)
	maps.Copy(merged, a.Scopes.JWT.Policy)
	return merged
}

// scopesOf reads a space-separated text or a list. A claim of another type counts as
// absent.
func scopesOf(claims jwt.MapClaims, name string) (scopes []string, present bool) {
	v, _ := claim(claims, name)
	switch v := v.(type) {
	case string:
		return strings.Fields(v), true
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				scopes = append(scopes, text)
			}
		}
		return scopes, true
	}
	return nil, false
}

func mapScopes(scopes []string, mapping map[string]string) []string {
	var mapped []string
	for _, scope := range scopes {
		if id, ok := mapping[scope]; ok {
			mapped = appendNew(mapped, []string{id})
		}
	}
	return mapped
}

func appendNew(list, more []string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

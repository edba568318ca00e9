package idp

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CodeDefinition is the code of the fault for an API with a definition to which the keys of an
// identity provider cannot be added.
const CodeDefinition = Kind + ".definition"

// Trust is the data of an identity provider that the definition of an API needs if the
// registry is off.
type Trust struct {
	JWKSURI string
	Claim   string            // "": the default, scope
	Scopes  map[string]string // policies by scope
}

// Added is the values that a definition got from a Trust, and the previous values.
type Added struct {
	JWKSURI string            `json:",omitempty"`
	Claim   string            `json:",omitempty"`
	Scopes  map[string]string `json:",omitempty"` // policies by scope
	Before  map[string]string `json:",omitempty"` // previous policies of these scopes
}

// Empty reports whether the definition had the complete Trust already.
func (a Added) Empty() bool { return a.JWKSURI == "" && a.Claim == "" && len(a.Scopes) == 0 }

// Place is the part of an API definition about trusted tokens.
type Place struct {
	api       string
	at        *doc.Node
	many, one string // members for several sources of keys, and for a single one
	single    bool   // a single source has its own member
	scopes    []string
	claim     string
	pairs     string
}

// Classic returns the place in a classic definition. The URLs of several providers are in
// jwt_jwks_uris, which takes precedence over jwt_source in gateways.
func Classic(api string, definition *doc.Node) (Place, error) {
	p := Place{api: api, at: definition, many: "jwt_jwks_uris", one: "jwt_source", single: true, scopes: []string{"scopes", "jwt"}, claim: "scope_claim_name", pairs: "scope_to_policy"}
	if !definition.Get("enable_jwt").True() {
		return p, p.refused("does not authenticate by JWT, as its definition says")
	}
	return p, nil
}

// extension is the member of OpenAPI documents with the settings of gateways.
const extension = "x-tyk-api-gateway"

// Document returns the place in an OpenAPI document: its first JWT scheme that the extension
// contains.
func Document(api string, d *doc.Node) (Place, error) {
	p := Place{api: api, many: "jwksURIs", one: "source", scopes: []string{"scopes"}, claim: "claimName", pairs: "scopeToPolicyMapping"}
	for name, scheme := range d.Get("components", "securitySchemes").Members() {
		if scheme.Get("type").Text() != "http" || !strings.EqualFold(scheme.Get("scheme").Text(), "bearer") || scheme.Get("bearerFormat").Text() != "JWT" {
			continue
		}
		if at := d.Get(extension, "server", "authentication", "securitySchemes", name); at.Is(doc.TypeObject) {
			p.at = at
			return p, nil
		}
	}
	return p, p.refused("does not authenticate by JWT")
}

// Add writes a Trust, and returns the values that were added. A static key in the definition
// is not replaced, and neither is the scope claim of other providers.
func (p Place) Add(t Trust) (a Added, err error) {
	others := p.others(t.JWKSURI)
	if a.JWKSURI, err = p.addKeys(t.JWKSURI); err != nil {
		return a, err
	}
	if a.Claim, err = p.addClaim(t.Claim, others); err != nil {
		return a, err
	}
	a.Scopes, a.Before = map[string]string{}, map[string]string{}
	for _, scope := range slices.Sorted(maps.Keys(t.Scopes)) {
		before := p.policy(scope)
		if before == t.Scopes[scope] {
			continue
		}
		p.set(scope, t.Scopes[scope])
		a.Scopes[scope] = t.Scopes[scope]
		if before != "" {
			a.Before[scope] = before
		}
	}
	return a, nil
}

// TakeBack removes the values that Add wrote, except scopes that the same provider still
// needs. Values that another writer has changed since stay. It reports whether it changed
// anything.
func (p Place) TakeBack(a Added, wanted map[string]string) (changed bool) {
	for _, scope := range slices.Sorted(maps.Keys(a.Scopes)) {
		if policy := a.Scopes[scope]; wanted[scope] != policy && p.policy(scope) == policy {
			p.set(scope, a.Before[scope])
			changed = true
		}
	}
	if len(wanted) > 0 {
		return changed
	}
	if claim := p.path(p.claim); a.Claim != "" && p.at.Get(claim...).Text() == a.Claim {
		p.at.Delete(claim...)
		changed = true
	}
	return p.removeKeys(a.JWKSURI) || changed
}

// others reports whether the definition maps scopes of another provider.
func (p Place) others(address string) bool {
	if p.at.Get(p.path(p.pairs)...).Len() == 0 {
		return false
	}
	list := p.at.Get(p.many).Items()
	if len(list) == 0 {
		source := p.at.Get(p.one).Text()
		return source != "" && sourceOf(source) != address
	}
	return slices.ContainsFunc(list, func(n *doc.Node) bool { return n.Get("url").Text() != address })
}

// addKeys adds a URL of keys: to the list, after an existing single source, or as the single
// source.
func (p Place) addKeys(address string) (added string, err error) {
	list, source := p.at.Get(p.many).Items(), p.at.Get(p.one).Text()
	other := sourceOf(source)
	known := slices.ContainsFunc(list, func(n *doc.Node) bool { return n.Get("url").Text() == address })
	switch {
	case known, len(list) == 0 && other == address:
		return "", nil
	case len(list) == 0 && source == "" && p.single:
		p.at.Set(p.one, doc.NewString(base64.StdEncoding.EncodeToString([]byte(address))))
		return address, nil
	case len(list) == 0 && source != "":
		if !strings.HasPrefix(other, "http://") && !strings.HasPrefix(other, "https://") {
			return "", p.refused("has a key of its own")
		}
		list = append(list, uri(other))
	}
	p.at.Set(p.many, doc.NewArray(append(list, uri(address))...))
	return address, nil
}

// removeKeys removes a URL that addKeys has written. The list is removed if only the single
// source remains in it.
func (p Place) removeKeys(address string) (changed bool) {
	if address == "" {
		return false
	}
	list, source := p.at.Get(p.many).Items(), p.at.Get(p.one).Text()
	if len(list) == 0 {
		if sourceOf(source) == address {
			p.at.Set(p.one, doc.NewString(""))
			return true
		}
		return false
	}
	left := slices.DeleteFunc(slices.Clone(list), func(n *doc.Node) bool { return n.Get("url").Text() == address })
	if len(left) == 0 || len(left) == 1 && source != "" && left[0].Get("url").Text() == sourceOf(source) {
		p.at.Delete(p.many)
	} else {
		p.at.Set(p.many, doc.NewArray(left...))
	}
	return len(left) < len(list)
}

// addClaim sets the claim with the scopes, if it is not the default.
func (p Place) addClaim(claim string, others bool) (added string, err error) {
	now, list := p.at.Get(p.path(p.claim)...).Text(), p.at.Get(p.path("claims")...).Texts()
	if now == "" && len(list) == 0 && claim != "" && !others {
		p.at.Put(doc.NewString(claim), p.path(p.claim)...)
		return claim, nil
	}
	list = append(list, now)
	if now == "" && len(list) == 1 {
		list[0] = "scope"
	}
	if claim != "" && !slices.Contains(list, claim) {
		return "", p.refused("reads the scopes of tokens from the claim " + list[0])
	}
	return "", nil
}

func (p Place) path(name string) []string { return append(slices.Clone(p.scopes), name) }

// policy returns the policy of a scope, or "".
func (p Place) policy(scope string) string {
	at := p.at.Get(p.path(p.pairs)...)
	if p.single {
		return at.Get(scope).Text()
	}
	for _, n := range at.Items() {
		if n.Get("scope").Text() == scope {
			return n.Get("policyId").Text()
		}
	}
	return ""
}

// set sets the policy of a scope; "" removes the scope. Documents have a list instead of an
// object.
func (p Place) set(scope, policy string) {
	pairs := p.at.Get(p.path(p.pairs)...)
	if p.single {
		if !pairs.Is(doc.TypeObject) {
			pairs = doc.NewObject()
		}
		if policy == "" {
			pairs.Delete(scope)
		} else {
			pairs.Set(scope, doc.NewString(policy))
		}
	} else {
		list := slices.Clone(pairs.Items())
		i := slices.IndexFunc(list, func(n *doc.Node) bool { return n.Get("scope").Text() == scope })
		switch {
		case policy == "" && i >= 0:
			list = slices.Delete(list, i, i+1)
		case i >= 0:
			list[i].Set("policyId", doc.NewString(policy))
		case policy != "":
			pair := doc.NewObject()
			pair.Set("scope", doc.NewString(scope))
			pair.Set("policyId", doc.NewString(policy))
			list = append(list, pair)
		}
		pairs = doc.NewArray(list...)
	}
	if pairs.Len() > 0 {
		p.at.Put(pairs, p.path(p.pairs)...)
	} else {
		p.at.Delete(p.path(p.pairs)...)
	}
}

// uri returns a URL of keys as an entry of the list.
func uri(address string) *doc.Node {
	n := doc.NewObject()
	n.Set("url", doc.NewString(address))
	return n
}

// sourceOf decodes a single source: classic definitions have it in base64.
func sourceOf(source string) string {
	text, err := base64.StdEncoding.DecodeString(source)
	if err != nil {
		return source
	}
	return cmp.Or(string(text), source)
}

func (p Place) refused(why string) error {
	return fault.New(fault.Invalid, CodeDefinition, "the API %s %s: use the registry of the dashboard, or change the API", p.api, why)
}

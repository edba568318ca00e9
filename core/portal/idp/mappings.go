package idp

import (
	"maps"
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/registry"
)

// Mappings is the policies of scopes at APIs, for one identity provider at one dashboard: API,
// scope, policy.
type Mappings map[string]map[string]string

// Offer is a product that is approved for clients of a provider, with the plans of the
// approvals.
type Offer struct {
	APIs  []string
	Scope Scope
	Plans []Scope
}

// Scope is scopes with the policy that they grant.
type Scope struct {
	Names  []string
	Policy string // its custom identifier
}

// Wants returns the mappings for approved offers.
func Wants(offers []Offer) Mappings {
	out := Mappings{}
	for _, o := range offers {
		for _, api := range o.APIs {
			for _, s := range append([]Scope{o.Scope}, o.Plans...) {
				out.set(api, s)
			}
		}
	}
	return out
}

func (m Mappings) set(api string, s Scope) {
	if s.Policy == "" {
		return
	}
	for _, name := range s.Names {
		if m[api] == nil {
			m[api] = map[string]string{}
		}
		m[api][name] = s.Policy
	}
}

// Recorded returns the mappings of a registry entry.
func Recorded(ms registry.Mappings) Mappings {
	out := Mappings{}
	for api, m := range ms.All() {
		out[api] = map[string]string{}
		for scope, policy := range m.All() {
			out[api][scope] = policy
		}
	}
	return out
}

// Patch returns the merge patch (RFC 7396) that changes an entry from now to want; nil:
// nothing to change. It removes an unwanted mapping only if the portal wrote it, because
// administrators may have added others. An API without remaining mappings is removed.
func Patch(now, wrote, want Mappings) *doc.Node {
	patch := doc.NewObject()
	apis := maps.Clone(want)
	if apis == nil {
		apis = Mappings{}
	}
	maps.Copy(apis, wrote)
	for _, api := range slices.Sorted(maps.Keys(apis)) {
		if n := patchOf(now[api], wrote[api], want[api], now[api] != nil); n != nil {
			patch.Set(api, n)
		}
	}
	if patch.Len() == 0 {
		return nil
	}
	return patch
}

// patchOf returns the patch of one API.
func patchOf(now, wrote, want map[string]string, there bool) *doc.Node {
	scopes, left := doc.NewObject(), 0
	names := maps.Clone(now)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, want)
	for _, scope := range slices.Sorted(maps.Keys(names)) {
		policy, has := now[scope]
		wanted, wants := want[scope]
		was, ours := wrote[scope]
		switch {
		case wants && (!has || policy != wanted):
			scopes.Set(scope, doc.NewString(wanted))
			left++
		case wants:
			left++
		case ours && was == policy:
			scopes.Set(scope, doc.NewNull())
		default:
			left++
		}
	}
	switch {
	case left == 0 && there:
		return doc.NewNull()
	case scopes.Len() == 0:
		return nil
	}
	out := doc.NewObject()
	out.Set("scope_to_policy", scopes)
	return out
}

// Astray reports whether an entry has mappings that the portal wrote and no longer wants, and
// whether it lacks wanted ones.
func Astray(now, wrote, want Mappings) (more, less bool) {
	for api, scopes := range want {
		for scope, policy := range scopes {
			less = less || now[api][scope] != policy
		}
	}
	for api, scopes := range wrote {
		for scope, was := range scopes {
			_, wants := want[api][scope]
			policy, has := now[api][scope]
			more = more || !wants && has && policy == was
		}
	}
	return more, less
}

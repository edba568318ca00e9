package policy

import "github.com/gatehouse-io/gatehouse/core/fault"

// API is the properties of an API for the rules.
type API struct {
	MCP       bool // an MCP proxy
	Foreign   bool // it does not belong to the caller
	AuthTypes []string
}

// APIs are APIs by identifier. An API that is not in it does not exist.
type APIs map[string]API

// CodeNotOwned is the code of the fault for a policy, or an API in one, that belongs to
// others.
const CodeNotOwned = Kind + ".not_owned"

// NotOwned returns the fault for a policy or API that belongs to others.
func NotOwned() error { return fault.New(fault.Unauthenticated, CodeNotOwned, "Not authorised") }

// Shown reports whether a caller may see a policy with access to these APIs: if the caller may
// see one of them, or none of them exists any more (docs/wire/ownership.md#rules).
func (a APIs) Shown(ids []string) bool {
	return VisibleThrough(ids, func(id string) (visible, exists bool) {
		api, exists := a[id]
		return exists && !api.Foreign, exists
	})
}

// Admit returns a fault for a policy that the caller may not see.
func (a APIs) Admit(p Policy) error {
	if a.Shown(p.APIs()) {
		return nil
	}
	return NotOwned()
}

// Allow returns a fault for access to APIs of others, except for those to which the policy
// gave access before (docs/wire/policies.md#reads-and-writes).
func (a APIs) Allow(ids, before []string) error {
	had := make(map[string]bool, len(before))
	for _, id := range before {
		had[id] = true
	}
	for _, id := range ids {
		if a[id].Foreign && !had[id] {
			return NotOwned()
		}
	}
	return nil
}

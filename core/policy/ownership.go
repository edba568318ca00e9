package policy

import "github.com/gatehouse-io/gatehouse/core/fault"

// API is what the rules want to know about an API.
type API struct {
	MCP       bool // an MCP proxy
	Foreign   bool // it belongs to others than the caller
	AuthTypes []string
}

// APIs are APIs by identifier. One that is not in it does not exist.
type APIs map[string]API

// CodeNotOwned is the code of a policy, or of an API in one, that belongs to others.
const CodeNotOwned = Kind + ".not_owned"

// NotOwned is the fault of what belongs to others.
func NotOwned() error { return fault.New(fault.Unauthenticated, CodeNotOwned, "Not authorised") }

// Shown reports whether a caller may see a policy that gives access to these APIs: when
// it may see one of them, or none exists any more (docs/wire/ownership.md#rules).
func (a APIs) Shown(ids []string) bool {
	return VisibleThrough(ids, func(id string) (visible, exists bool) {
		api, exists := a[id]
		return exists && !api.Foreign, exists
	})
}

// Admit refuses a policy that the caller may not see.
func (a APIs) Admit(p Policy) error {
	if a.Shown(p.APIs()) {
		return nil
	}
	return NotOwned()
}

// Allow refuses to give access to APIs of others, apart from those to which the policy
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

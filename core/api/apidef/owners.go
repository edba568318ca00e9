package apidef

import (
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Viewer is a user who reads APIs.
type Viewer struct {
	UserID string
	Groups []string // groups of the viewer
	All    bool     // owners do not matter: for admins, and for every user while ownership is off
	// NoAPIs and NoMCP say that the viewer has no permission for MCP proxies, or for all other
	// APIs: for such a viewer these do not exist (docs/wire/mcp-proxies.md#rules).
	NoAPIs, NoMCP bool
}

// Owners returns the users and groups that own the API. Without owners, every user sees the
// API (docs/wire/ownership.md#rules).
func (a API) Owners() (users, groups []string) {
	return texts(a.wrapper, "user_owners"), texts(a.wrapper, "user_group_owners")
}

// HiddenFrom reports whether a viewer must not learn that the API exists.
func (a API) HiddenFrom(v Viewer) bool {
	if a.IsMCP() {
		return v.NoMCP
	}
	return v.NoAPIs
}

// VisibleTo reports whether a viewer may see the API, as an owner or because owners do not
// matter.
func (a API) VisibleTo(v Viewer) bool {
	return v.All || v.sees(a.Owners())
}

// sees reports whether the viewer may see an API with these owners.
func (v Viewer) sees(users, groups []string) bool {
	return v.All || len(users)+len(groups) == 0 || slices.Contains(users, v.UserID) || slices.ContainsFunc(v.Groups, func(id string) bool { return slices.Contains(groups, id) })
}

// WithOwners returns a with other owners.
func (a API) WithOwners(users, groups []string, now time.Time) API {
	a.wrapper = a.wrapper.With("user_owners", doc.NewStrings(users).JSON()).With("user_group_owners", doc.NewStrings(groups).JSON())
	a.updated, a.stored = now, nil
	return a.Quietly()
}

// WithCategories returns a with other categories, without blank and repeated ones
// (docs/wire/oas-apis.md#categories).
func (a API) WithCategories(names []string, now time.Time) API {
	a.wrapper = a.wrapper.With("categories", doc.NewStrings(distinct(names)).JSON())
	a.updated, a.stored = now, nil
	return a.Quietly()
}

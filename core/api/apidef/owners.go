package apidef

import (
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Viewer is who wants to see APIs.
type Viewer struct {
	UserID string
	Groups []string // that the viewer is in
	All    bool     // owners make no difference: admins, and everybody while ownership is off
	// NoAPIs and NoMCP say that the permissions of the viewer do not cover MCP
	// proxies, or all other APIs: to such a viewer these do not exist (docs/wire/mcp-proxies.md#rules).
	NoAPIs, NoMCP bool
}

// Owners returns the users and groups that own the API; with none of either
// everybody sees it (docs/wire/ownership.md#rules).
func (a API) Owners() (users, groups []string) {
	return texts(a.wrapper, "user_owners"), texts(a.wrapper, "user_group_owners")
}

// HiddenFrom reports whether a viewer must not learn that there is such an API.
func (a API) HiddenFrom(v Viewer) bool {
	if a.IsMCP() {
		return v.NoMCP
	}
	return v.NoAPIs
}

// VisibleTo reports whether a viewer owns the API or need not.
func (a API) VisibleTo(v Viewer) bool {
	return v.All || v.sees(a.Owners())
}

// sees reports whether the viewer may see what these own.
func (v Viewer) sees(users, groups []string) bool {
	return v.All || len(users)+len(groups) == 0 || slices.Contains(users, v.UserID) || slices.ContainsFunc(v.Groups, func(id string) bool { return slices.Contains(groups, id) })
}

// WithOwners returns a with other owners.
func (a API) WithOwners(users, groups []string, now time.Time) API {
	a.wrapper = a.wrapper.With("user_owners", doc.NewStrings(users).JSON()).With("user_group_owners", doc.NewStrings(groups).JSON())
	a.updated, a.stored = now, nil
	return a.Quietly()
}

// WithCategories returns a with other categories: blank ones and repetitions are
// dropped (docs/wire/oas-apis.md#categories).
func (a API) WithCategories(names []string, now time.Time) API {
	a.wrapper = a.wrapper.With("categories", doc.NewStrings(distinct(names)).JSON())
	a.updated, a.stored = now, nil
	return a.Quietly()
}

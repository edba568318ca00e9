package portal

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

type user struct {
	ID                       int
	Email, First, Last, Role string
	OrganisationID           int
	Organisation             named
	Teams                    []team
	Provider, CreatedAt      string
	Active, ResetPassword    bool
	CSRFToken                string
	CustomAttributes         []attribute
}

// team is a team of the viewer. Themes print it, or use Name.
type team struct {
	ID      int
	Name    string
	Default bool
}

// String implements fmt.Stringer.
func (t team) String() string { return t.Name }

// UnmarshalJSON also accepts a plain name or number, as in profiles and colleagues.
func (t *team) UnmarshalJSON(text []byte) error {
	type plain team
	if json.Unmarshal(text, &t.Name) == nil || json.Unmarshal(text, &t.ID) == nil {
		return nil
	}
	return json.Unmarshal(text, (*plain)(t))
}

// DisplayName returns the user's name for pages.
func (u *user) DisplayName() string {
	if u == nil {
		return ""
	}
	return strings.TrimSpace(u.First + " " + u.Last)
}

// IsAdmin reports whether the user is an admin of the portal.
func (u *user) IsAdmin() bool {
	return u != nil && (u.Role == "super-admin" || u.Role == "provider-admin")
}

// IsOrgAdmin reports whether the user is an admin of an organisation.
func (u *user) IsOrgAdmin() bool { return u != nil && u.Role == "consumer-admin" }

// GetOrganisationID returns the number of the organisation.
func (u *user) GetOrganisationID() int { return u.OrganisationID }

// IdentityProvider returns where the user logs in.
func (u *user) IdentityProvider() string { return cmp.Or(u.Provider, "password") }

// IsPasswordProvider reports whether the user logs in with a password of the portal.
func (u *user) IsPasswordProvider() bool { return u.IdentityProvider() == "password" }

// DisplayRole returns the display name of the role.
func (u *user) DisplayRole() string {
	return roleNames[u.Role]
}

// roleNames are the display names of roles.
var roleNames = map[string]string{"super-admin": "Super admin", "provider-admin": "Provider admin", "consumer-admin": "Organisation admin", "consumer-team-member": "Team member"}

// role is a role of users. Themes print it, or use its methods.
type role string

// ID returns the name of the role in forms.
func (r role) ID() string { return string(r) }

// DisplayName returns the display name of the role.
func (r role) DisplayName() string { return roleNames[string(r)] }

// attribute is a custom field that admins have added to users.
type attribute struct {
	Name, Identifier, Description, DropdownValues, Value string
	Sort                                                 string `json:"Type"` // in a word
	Required, Editable                                   bool
}

// sorts are the types of attributes, in the order of their numbers.
var sorts = []string{"String", "Dropdown", "Boolean", "Number"}

// Type returns the type as a number, as public themes compare it.
func (a attribute) Type() int { return slices.Index(sorts, a.Sort) + 1 }

// Behaviour is 1: users may fill in all attributes in forms.
func (attribute) Behaviour() int { return 1 }

// GetDropDownValues returns Options, for other themes.
func (a attribute) GetDropDownValues() []string { return a.Options() }

// Options returns the values of a dropdown.
func (a attribute) Options() []string {
	var out []string
	for o := range strings.SplitSeq(a.DropdownValues, ",") {
		if o = strings.TrimSpace(o); o != "" {
			out = append(out, o)
		}
	}
	return out
}

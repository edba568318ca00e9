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

// team is a team of the viewer. Themes print it, or ask for Name.
type team struct {
	ID      int
	Name    string
	Default bool
}

// String implements fmt.Stringer.
func (t team) String() string { return t.Name }

// UnmarshalJSON takes a name or a number alone as well: so profiles and colleagues have
// teams.
func (t *team) UnmarshalJSON(text []byte) error {
	type plain team
	if json.Unmarshal(text, &t.Name) == nil || json.Unmarshal(text, &t.ID) == nil {
		return nil
	}
	return json.Unmarshal(text, (*plain)(t))
}

// DisplayName returns how a page addresses somebody.
func (u *user) DisplayName() string {
	if u == nil {
		return ""
	}
	return strings.TrimSpace(u.First + " " + u.Last)
}

// IsAdmin reports whether somebody is an admin of the portal.
func (u *user) IsAdmin() bool {
	return u != nil && (u.Role == "super-admin" || u.Role == "provider-admin")
}

// IsOrgAdmin reports whether somebody is an admin of an organisation.
func (u *user) IsOrgAdmin() bool { return u != nil && u.Role == "consumer-admin" }

// GetOrganisationID returns the number of the organisation.
func (u *user) GetOrganisationID() int { return u.OrganisationID }

// IdentityProvider returns where somebody logs in.
func (u *user) IdentityProvider() string { return cmp.Or(u.Provider, "password") }

// IsPasswordProvider reports whether somebody logs in with a password of the portal.
func (u *user) IsPasswordProvider() bool { return u.IdentityProvider() == "password" }

// DisplayRole returns the role in words.
func (u *user) DisplayRole() string {
	return roleNames[u.Role]
}

// roleNames are the words for roles.
var roleNames = map[string]string{"super-admin": "Super admin", "provider-admin": "Provider admin", "consumer-admin": "Organisation admin", "consumer-team-member": "Team member"}

// role is a role that somebody may have. Themes print it, or ask for what it is called.
type role string

// ID returns the word by which forms name the role.
func (r role) ID() string { return string(r) }

// DisplayName returns the role in words.
func (r role) DisplayName() string { return roleNames[string(r)] }

// attribute is a field that admins have added to people.
type attribute struct {
	Name, Identifier, Description, DropdownValues, Value string
	Sort                                                 string `json:"Type"` // in a word
	Required, Editable                                   bool
}

// sorts are the words for sorts of attributes, in the order of their numbers.
var sorts = []string{"String", "Dropdown", "Boolean", "Number"}

// Type is the sort as a number, as public themes compare it.
func (a attribute) Type() int { return slices.Index(sorts, a.Sort) + 1 }

// Behaviour is 1: what a form offers may be filled in.
func (attribute) Behaviour() int { return 1 }

// GetDropDownValues is Options by another name.
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

package identity

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// GroupKind is the name of user groups in storage, history and references.
const GroupKind = "usergroup"

// UserGroup is a set of users with the same permissions (docs/wire/user-groups.md).
type UserGroup struct {
	ID              string     `json:"id"`
	OrgID           tenant.ID  `json:"org_id"`
	Name            string     `json:"name"`
	Description     string     `json:"description"`
	Active          bool       `json:"active"`
	PasswordMaxDays int        `json:"password_max_days"`
	Permissions     access.Map `json:"user_permissions"`
}

// GroupDraft is the input of a client for a group.
type GroupDraft struct {
	Name            string     `json:"name" doc:"Name of the group."`
	Description     string     `json:"description,omitempty" doc:"For people."`
	Active          *bool      `json:"active,omitempty" doc:"When absent, a new group is active, and an existing one keeps its value. An inactive group grants nothing."`
	PasswordMaxDays int        `json:"password_max_days,omitempty" doc:"Number of days after which a password must be changed. 0: the setting of the service applies."`
	Permissions     access.Map `json:"user_permissions" doc:"Permissions of the users in the group: read, write or deny for each."`
}

// Codes of the faults of a draft of a group.
const (
	CodeGroupName        = GroupKind + ".name"
	CodeGroupText        = GroupKind + ".text"
	CodeGroupDays        = GroupKind + ".password_max_days"
	CodeGroupPermissions = GroupKind + ".user_permissions"
	CodeGroupEmpty       = GroupKind + ".empty"
)

// NewGroup makes a group from a draft, or returns a fault that names the wrong field.
func NewGroup(id string, org tenant.ID, d GroupDraft) (UserGroup, error) {
	return UserGroup{ID: id, OrgID: org, Active: true}.Replace(d)
}

// Replace returns g with the values of the draft. ResetPassword cannot be changed this way.
func (g UserGroup) Replace(d GroupDraft) (UserGroup, error) {
	if strings.TrimSpace(d.Name) == "" {
		return g, fault.New(fault.Invalid, CodeGroupName, "name must not be empty: it identifies the group for people").At("name")
	}
	if err := checkName(GroupKind, "name", d.Name, g.Name); err != nil {
		return g, err
	}
	if err := checkText(GroupKind, "description", d.Description); err != nil {
		return g, err
	}
	if err := checkDays(GroupKind, d.PasswordMaxDays); err != nil {
		return g, err
	}
	if err := checkMap(GroupKind, d.Permissions); err != nil {
		return g, err
	}
	g.Permissions = choose(g.Permissions, d.Permissions)
	if len(g.Permissions) == 0 {
		return g, empty(GroupKind)
	}
	if d.Active != nil {
		g.Active = *d.Active
	}
	g.Name, g.Description, g.PasswordMaxDays = d.Name, d.Description, d.PasswordMaxDays
	return g, nil
}

// Gives returns the permissions of members of the group: none while it is inactive.
func (g UserGroup) Gives() access.Map {
	if !g.Active {
		return access.Map{}
	}
	return g.Permissions
}

// maxText is the maximum length of a name or a description in characters.
const maxText = 1_000

// maxDays is the longest validity of a password: a hundred years.
const maxDays = 36_500

func checkText(kind, field, s string) error {
	if utf8.RuneCountInString(s) > maxText {
		return fault.New(fault.Invalid, kind+".text", "%s may have at most %d characters", field, maxText).At(field)
	}
	return nil
}

// checkName is checkText for a name; before is the previous name.
func checkName(kind, field, s, before string) error {
	if flaw := label.Flaw(s, before); flaw != "" {
		return fault.New(fault.Invalid, kind+".text", "%s %s", field, flaw).At(field)
	}
	return checkText(kind, field, s)
}

func checkDays(kind string, days int) error {
	if days < 0 || days > maxDays {
		return fault.New(fault.Invalid, kind+".password_max_days", "password_max_days must be between 0 and %d", maxDays).At("password_max_days")
	}
	return nil
}

func checkMap(kind string, m access.Map) error {
	list := map[string]*caps.List{UserKind: caps.User, GroupKind: caps.UserGroup, AccountKind: caps.ServiceAccount}[kind]
	if err := list.Count("user_permissions", len(m)); err != nil {
		return err
	}
	for name := range m {
		if utf8.RuneCountInString(name) > maxText {
			return fault.New(fault.Invalid, kind+".text", "user_permissions has a name of more than %d characters", maxText).At("user_permissions")
		}
	}
	if _, ok := m[""]; ok {
		return fault.New(fault.Invalid, kind+".user_permissions", "user_permissions has an entry with an empty name; name a permission or leave the entry out").At("user_permissions")
	}
	if name, ok := m.Valid(); !ok {
		return fault.New(fault.Invalid, kind+".user_permissions", "user_permissions.%s must be one of deny, read, write, admin", name).
			At("user_permissions." + name)
	}
	return nil
}

// choose returns the requested map with ResetPassword unchanged, because only the super-admin
// may give that.
func choose(was, asked access.Map) access.Map {
	out := access.Map{}
	for name, level := range asked {
		if name != string(access.ResetPassword) {
			out[name] = level
		}
	}
	if level, ok := was[string(access.ResetPassword)]; ok {
		out[string(access.ResetPassword)] = level
	}
	return out
}

// empty returns the fault of a map without permissions.
func empty(kind string) error {
	return fault.New(fault.Denied, kind+".empty", "To create a user specify at least one permission, or make them an admin.").At("user_permissions")
}

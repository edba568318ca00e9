package identity

import (
	"maps"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// UserChange is the input of users of an organisation for a user. Absent members keep their
// value. Only the super-admin sets an organisation and ResetPassword.
type UserChange struct {
	FirstName       *string    `json:"first_name,omitempty" doc:"For people."`
	LastName        *string    `json:"last_name,omitempty" doc:"For people."`
	Email           *string    `json:"email_address,omitempty" doc:"E-mail address with which the user logs in. Unique in the organisation; unless enable_multi_org_users is on, unique in the whole installation."`
	Active          *bool      `json:"active,omitempty" doc:"When absent, a new user is active."`
	Permissions     access.Map `json:"user_permissions,omitempty" doc:"Permissions of the user: read, write or deny for each."`
	GroupID         *string    `json:"group_id,omitempty" doc:"User group of the user. Its permissions replace user_permissions."`
	GroupIDs        *[]string  `json:"group_ids,omitempty" doc:"Further groups of the user."`
	PasswordMaxDays *int       `json:"password_max_days,omitempty" doc:"Number of days after which the password must be changed. 0: the value of the user's groups applies, otherwise the setting of the service."`
}

// Codes of the faults of a change of a user.
const (
	CodeUserName  = UserKind + ".name"
	CodeUserText  = UserKind + ".text"
	CodeUserEmail = UserKind + ".email_address"
	CodeUserDays  = UserKind + ".password_max_days"
	CodeUserMap   = UserKind + ".user_permissions"
	CodeUserEmpty = UserKind + ".empty"
	// CodeUserMapless is for a new user without a permission map and without a group.
	CodeUserMapless = UserKind + ".user_permissions_missing"
	// CodeUserTooMany is for maps and lists of groups with too many entries.
	CodeUserTooMany = UserKind + ".too_many"
)

// NewMember makes a user of an organisation, or returns a fault that names the missing or
// wrong field.
func NewMember(id string, org tenant.ID, now time.Time, c UserChange) (User, error) {
	if c.Email == nil {
		c.Email = new(string)
	}
	if c.FirstName == nil || c.LastName == nil {
		return User{}, nameless("first_name and last_name")
	}
	u, err := User{ID: id, OrgID: org, Active: true, Permissions: access.Map{}, Created: now}.Apply(c)
	if err != nil {
		return u, err
	}
	switch {
	case u.FirstName == "":
		return u, nameless("first_name")
	case u.LastName == "":
		return u, nameless("last_name")
	case c.Permissions == nil && len(u.Groups()) == 0:
		return u, fault.New(fault.Invalid, CodeUserMapless, "user_permissions is required for a user without a group").At("user_permissions")
	}
	return u, nil
}

func nameless(field string) error {
	return fault.New(fault.Invalid, CodeUserName, "%s must not be empty", field).At(field)
}

// Apply returns u with a change, or a fault that names the wrong field.
func (u User) Apply(c UserChange) (_ User, err error) {
	for _, f := range []struct {
		name  string
		value *string
		into  *string
	}{{"first_name", c.FirstName, &u.FirstName}, {"last_name", c.LastName, &u.LastName}} {
		if f.value == nil {
			continue
		}
		if err := checkName(UserKind, f.name, *f.value, *f.into); err != nil {
			return u, err
		}
		if had := *f.into; had != "" && strings.TrimSpace(*f.value) == "" {
			return u, nameless(f.name)
		}
		*f.into = strings.TrimSpace(*f.value)
	}
	if c.Email != nil {
		if u.Email, err = CleanEmail(*c.Email); err != nil {
			return u, err
		}
	}
	if c.PasswordMaxDays != nil {
		if err := checkDays(UserKind, *c.PasswordMaxDays); err != nil {
			return u, err
		}
		u.PasswordMaxDays = *c.PasswordMaxDays
	}
	if c.Active != nil {
		u.Active = *c.Active
	}
	return u.rights(c)
}

// rights applies the permissions and groups of a change.
func (u User) rights(c UserChange) (User, error) {
	group, more := u.GroupID, u.GroupIDs
	if c.GroupID != nil {
		group = *c.GroupID
	}
	if c.GroupIDs != nil {
		more = *c.GroupIDs
	}
	if err := caps.User.Count("group_ids", len(more)); err != nil {
		return u, err
	}
	u = u.In(group, more)
	if c.Permissions == nil {
		return u, nil
	}
	if err := checkMap(UserKind, c.Permissions); err != nil {
		return u, err
	}
	u.Permissions = choose(u.Permissions, c.Permissions)
	for name := range c.Permissions {
		if _, ok := u.Permissions[name]; ok {
			return u, nil
		}
	}
	if len(u.Groups()) == 0 { // only ResetPassword is left, which was not asked for
		return u, empty(UserKind)
	}
	return u, nil
}

// ApplyAll is Apply for the super-admin, who can also give and remove ResetPassword.
func (u User) ApplyAll(c UserChange) (User, error) {
	if c.Permissions == nil {
		return u.Apply(c)
	}
	was := access.Map{}
	maps.Copy(was, u.Permissions)
	delete(was, string(access.ResetPassword))
	if level, ok := c.Permissions[string(access.ResetPassword)]; ok {
		was[string(access.ResetPassword)] = level
	}
	u.Permissions = was
	return u.Apply(c)
}

// Resetting returns u with a level of ResetPassword and unchanged other permissions: an admin
// by an empty map becomes an explicit admin.
func (u User) Resetting(level access.Level) User {
	m := access.Map{}
	if len(u.Groups()) == 0 {
		maps.Copy(m, u.Effective())
	} else {
		maps.Copy(m, u.Permissions)
	}
	m[string(access.ResetPassword)] = level
	u.Permissions = m
	return u
}

package identity

import (
	"cmp"
	"net/mail"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/label"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// UserKind is the name of users in storage.
const UserKind = "user"

// User is an account that may call the management API (docs/wire/users.md). The access key is
// stored as a keyed digest for lookups and as sealed text for returning it; the password only
// as a slow hash.
type User struct {
	ID              string      `json:"id"`
	OrgID           tenant.ID   `json:"org_id"` // "" for a super user
	FirstName       string      `json:"first_name"`
	LastName        string      `json:"last_name"`
	Email           string      `json:"email_address"` // lower case
	Active          bool        `json:"active"`
	Permissions     access.Map  `json:"user_permissions"`
	GroupID         string      `json:"group_id"`
	GroupIDs        []string    `json:"group_ids,omitempty"` // other groups, besides GroupID
	Grouped         bool        `json:"grouped,omitempty"`   // has been in a group: an empty map no longer makes an admin
	PasswordMaxDays int         `json:"password_max_days"`
	PasswordUpdated time.Time   `json:"password_updated"`
	PasswordGiven   bool        `json:"password_given,omitempty"` // another user has set it
	LastLogin       time.Time   `json:"last_login_date"`
	Created         time.Time   `json:"created_at"`
	Credentials     Credentials `json:"credentials"`
}

// Credentials are the stored forms of a user's access key and password.
type Credentials struct {
	KeyDigest    string `json:"key_digest"`    // keyed digest of the access key
	KeySealed    string `json:"key_sealed"`    // encrypted access key
	PasswordHash string `json:"password_hash"` // "" until a password is set
	// Earlier are the hashes of earlier passwords that are refused, newest first.
	Earlier []string `json:"earlier_hashes,omitempty"`
}

// UserDraft is the input of an administrator for a user.
type UserDraft struct {
	ID              string     `json:"id,omitempty" doc:"Ignored; the service generates the ID."`
	OrgID           tenant.ID  `json:"org_id,omitempty" doc:"Organisation of the user. Empty: the user becomes a super user."`
	FirstName       string     `json:"first_name" doc:"For people."`
	LastName        string     `json:"last_name" doc:"For people."`
	Email           string     `json:"email_address" doc:"E-mail address with which the user logs in. Unique in the organisation; unless enable_multi_org_users is on, unique in the whole installation."`
	Password        string     `json:"password,omitempty" doc:"When absent, the user cannot log in until a password is set."`
	Active          *bool      `json:"active,omitempty" doc:"When absent, the user is active."`
	Permissions     access.Map `json:"user_permissions,omitempty" doc:"Permissions of the user: read, write or deny for each."`
	GroupID         string     `json:"group_id,omitempty" doc:"User group of the user. Its permissions replace user_permissions."`
	GroupIDs        []string   `json:"group_ids,omitempty" doc:"Further groups of the user."`
	PasswordMaxDays int        `json:"password_max_days,omitempty" doc:"Number of days after which the password must be changed. 0: the value of the user's groups applies, otherwise the setting of the service."`
}

// NewUser makes a user from a draft, or returns a fault that names the wrong field.
func NewUser(id string, now time.Time, d UserDraft) (User, error) {
	email, err := CleanEmail(d.Email)
	if err != nil {
		return User{}, err
	}
	if err := checkMap(UserKind, d.Permissions); err != nil {
		return User{}, err
	}
	if err := cmp.Or(checkName(UserKind, "first_name", d.FirstName, ""), checkName(UserKind, "last_name", d.LastName, ""), checkDays(UserKind, d.PasswordMaxDays), caps.User.Count("group_ids", len(d.GroupIDs))); err != nil {
		return User{}, err
	}
	if d.Permissions == nil {
		d.Permissions = access.Map{}
	}
	return User{
		ID: id, OrgID: d.OrgID, FirstName: d.FirstName, LastName: d.LastName, Email: email,
		Active: d.Active == nil || *d.Active, Permissions: d.Permissions,
		PasswordMaxDays: d.PasswordMaxDays, Created: now,
	}.In(d.GroupID, d.GroupIDs), nil
}

// maxEmail is the maximum length of an e-mail address: the local part, "@" and the domain (RFC
// 5321, 4.5.3.1).
const maxEmail = 64 + 1 + 255

// CleanEmail returns an e-mail address in the form for storage and lookups: lower case
// (docs/wire/requests.md#identifiers).
func CleanEmail(s string) (string, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s || len(s) > maxEmail || label.Flaw(s, "") != "" {
		return "", fault.New(fault.Invalid, UserKind+".email_address", "email_address is not a valid address").At("email_address")
	}
	return s, nil
}

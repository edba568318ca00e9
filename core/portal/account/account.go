// Package account models the users of the developer portal: roles, and the tokens of admins
// for its API (docs/wire/portal.md#tokens).
package account

import (
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kinds of records.
const (
	Kind             = "portal-user"
	OrganisationKind = "portal-organisation"
	TeamKind         = "portal-team"
)

// Roles.
const (
	SuperAdmin    = "super-admin"
	ProviderAdmin = "provider-admin"
	ConsumerAdmin = "consumer-admin"
	Member        = "consumer-team-member"
)

// User is an account at the portal.
type User struct {
	table.Base
	Email          string
	First          string
	Last           string
	Role           string
	OrganisationID table.ID
	Teams          []table.ID
	Provider       string // identity provider that checks the password: "password" is the portal itself
	Active         bool
	ResetPassword  bool
	PasswordHash   string
	Password       string           `json:"-"` // from a request body
	Attributes     attribute.Values `json:",omitempty"`
	Given          attribute.Given  `json:"-"` // values from a request body
	// Token is the text in the user's API token that identifies the user. A new text makes the
	// API token invalid.
	Token   string
	TokenAt time.Time

	// SSOKey identifies a developer at an identity provider, as id@provider.
	SSOKey string `json:",omitempty"`

	// Unproven says that the user has registered with the address, and has not yet proved that it
	// receives mails. A person can register with the address of another one.
	Unproven bool `json:",omitempty"`

	// Unwanted are the names of the mails that the user does not want.
	Unwanted []string `json:",omitempty"`

	InvitedAt time.Time `json:",omitzero"` // time of the last invitation
	AskedAt   time.Time `json:",omitzero"` // time of the last request for a new password
	RequestID table.ID  `json:",omitzero"` // the last approved request for an organisation
}

// principal is the prefix of the names of users in logs, in the audit trail and in the
// attribution of commits.
const principal = "portal-user-"

// Principal returns the name of a user there.
func Principal(id table.ID) string { return principal + id.String() }

// OfPrincipal returns the user of a name from Principal.
func OfPrincipal(name string) (table.ID, bool) {
	text, ok := strings.CutPrefix(name, principal)
	id, number := table.ParseID(text)
	return id, ok && number
}

// Wants reports whether the user wants the mail with a name.
func (u User) Wants(notice string) bool { return !slices.Contains(u.Unwanted, notice) }

// Admin reports whether the user may use the API of the portal.
func (u User) Admin() bool { return u.Role == SuperAdmin || u.Role == ProviderAdmin }

// Table implements table.Row.
func (User) Table() *table.Table[User] { return users }

var users = &table.Table[User]{
	Kind: Kind, Noun: "user",
	Base: func(u *User) *table.Base { return &u.Base },
	Fields: []table.Field[User]{
		{Name: "Email", At: func(u *User) any { return &u.Email }, Required: true, Max: 255, Valid: func(u User) bool { return validEmail(u.Email) }},
		{Name: "First", At: func(u *User) any { return &u.First }, Max: 255, Line: true, Doc: "First name. Required for a new user."},
		{Name: "Last", At: func(u *User) any { return &u.Last }, Max: 255, Line: true},
		{Name: "Role", At: func(u *User) any { return &u.Role }, Required: true, Enum: []string{SuperAdmin, ProviderAdmin, ConsumerAdmin, Member}, Doc: "Default: consumer-team-member."},
		{Name: "OrganisationID", Also: []string{"Organisation"}, At: func(u *User) any { return &u.OrganisationID }, Target: OrganisationKind, Doc: "Organisation of a developer; 0 for admins."},
		{Name: "Teams", At: func(u *User) any { return &u.Teams }, Target: TeamKind, Doc: "Teams of the organisation. Default: its default team."},
		{Name: "Provider", At: func(u *User) any { return &u.Provider }, Max: 255, Doc: "How the user logs in: password, or the name of an identity provider. Default: password."},
		{Name: "Active", At: func(u *User) any { return &u.Active }, Doc: "false: the user cannot log in, and the user's token does not work."},
		{Name: "ResetPassword", At: func(u *User) any { return &u.ResetPassword }, Doc: "true: the user must set a new password before anything else."},
		{Name: "Password", At: func(u *User) any { return &u.Password }, Max: maxPassword, Doc: "Responses never have it."},
		{Name: "CustomAttributes", At: func(u *User) any { return &u.Given }, Fixed: true, Doc: "Values of custom attributes, by identifier."},
	},
	Check: func(u User, wrong *table.Problems) {
		if u.ID == 0 && strings.TrimSpace(u.First) == "" {
			wrong.Blank("First")
		}
	},
	Unique: []table.Unique[User]{
		{Name: "email", Taken: "Email has already been taken", Of: func(u User) string { return Address(u.Email) }},
		{Name: "sso", Taken: "sso_key has already been taken", Of: func(u User) string { return u.SSOKey }},
		{Name: "token", Taken: "token has already been taken", Of: func(u User) string { return u.Token }},
	},
}

// OwnPassword is the Provider of a user with a password at the portal itself.
const OwnPassword = "password"

// maxPassword is the maximum length of a password in characters.
const maxPassword = password.Longest

// Address returns the form of an e-mail address for comparisons and lookups.
func Address(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func validEmail(s string) bool {
	_, err := identity.CleanEmail(s)
	return err == nil
}

// Vouched returns the user after an identity provider has confirmed the address. The password
// of an unproven address may be from another person who registered first, so it is removed.
func (u User) Vouched() User {
	if u.Unproven {
		u.PasswordHash, u.Unproven = "", false
	}
	return u
}

// Join returns the user with a team added.
func (u User) Join(team table.ID) User {
	if !slices.Contains(u.Teams, team) {
		u.Teams = append(slices.Clip(u.Teams), team)
	}
	return u
}

// Leave returns the user with a team removed. A user without a team joins otherwise, the
// default team.
func (u User) Leave(team, otherwise table.ID) User {
	u.Teams = slices.DeleteFunc(slices.Clone(u.Teams), func(t table.ID) bool { return t == team })
	if len(u.Teams) == 0 {
		u.Teams = []table.ID{otherwise}
	}
	return u
}

// Move returns the user in another organisation and only its default team.
func (u User) Move(organisation, team table.ID) User {
	u.OrganisationID, u.Teams = organisation, []table.ID{team}
	return u
}

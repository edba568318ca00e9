package account

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/portal/attribute"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Newcomer is the data that people send about themselves: in a registration, in the answer to
// an invitation, and in a profile. Each of these uses only some members.
type Newcomer struct {
	table.Base
	Email      string
	First      string
	Last       string
	Password   string
	InviteCode string
	Code       string // from a mail
	Given      attribute.Given
}

// Table implements table.Row.
func (Newcomer) Table() *table.Table[Newcomer] { return newcomers }

// maxName is the maximum length of a name in characters.
const maxName = 255

var newcomers = &table.Table[Newcomer]{
	Kind: Kind + "-newcomer", Noun: "newcomer",
	Base: func(n *Newcomer) *table.Base { return &n.Base },
	Fields: []table.Field[Newcomer]{
		{Name: "Email", At: func(n *Newcomer) any { return &n.Email }, Max: maxName, Valid: func(n Newcomer) bool { return validEmail(n.Email) }, Doc: "E-mail address, for a registration."},
		{Name: "First", At: func(n *Newcomer) any { return &n.First }, Max: maxName, Line: true},
		{Name: "Last", At: func(n *Newcomer) any { return &n.Last }, Max: maxName, Line: true},
		{Name: "Password", At: func(n *Newcomer) any { return &n.Password }, Max: maxPassword, Doc: "Password, for a registration and for the reply to an invitation."},
		{Name: "InviteCode", At: func(n *Newcomer) any { return &n.InviteCode }, Max: maxName, Doc: "Invite code, for a registration. It determines the team."},
		{Name: "Code", At: func(n *Newcomer) any { return &n.Code }, Max: maxName, Doc: "Code from the mail with the invitation."},
		{Name: "CustomAttributes", At: func(n *Newcomer) any { return &n.Given }, Doc: "Values of custom attributes, by identifier."},
	},
}

// Colleague is the data that an admin of an organisation sends about one of its users.
type Colleague struct {
	table.Base
	First string
	Last  string
	Role  string
	Teams []table.ID
}

// Table implements table.Row.
func (Colleague) Table() *table.Table[Colleague] { return colleagues }

var colleagues = &table.Table[Colleague]{
	Kind: Kind + "-colleague", Noun: "colleague",
	Base: func(c *Colleague) *table.Base { return &c.Base },
	Fields: []table.Field[Colleague]{
		{Name: "First", At: func(c *Colleague) any { return &c.First }, Required: true, Max: maxName, Line: true},
		{Name: "Last", At: func(c *Colleague) any { return &c.Last }, Max: maxName, Line: true},
		{Name: "Role", At: func(c *Colleague) any { return &c.Role }, Required: true, Enum: []string{ConsumerAdmin, Member}},
		{Name: "Teams", At: func(c *Colleague) any { return &c.Teams }, Target: TeamKind, Doc: "Teams of the organisation. Default: its default team."},
	},
}

// defaultOrganisation is the organisation of people without another one; they are not
// colleagues.
const defaultOrganisation table.ID = 1

// Together reports whether the user is in an organisation with colleagues.
func (u User) Together() bool {
	return !u.Admin() && u.OrganisationID != 0 && u.OrganisationID != defaultOrganisation
}

// Sees reports whether a user sees another one on the pages of the portal: both are in the
// same team of an organisation with colleagues (docs/wire/portal-people.md#visibility).
func (u User) Sees(other User) bool {
	if u.ID == other.ID && u.ID != 0 {
		return true
	}
	return u.Together() && other.Together() && u.OrganisationID == other.OrganisationID &&
		slices.ContainsFunc(u.Teams, func(t table.ID) bool { return slices.Contains(other.Teams, t) })
}

// Governs reports whether a user may invite, change and remove another user of the
// organisation.
func (u User) Governs(other User) bool {
	return u.Role == ConsumerAdmin && u.Together() && other.Together() && u.OrganisationID == other.OrganisationID
}

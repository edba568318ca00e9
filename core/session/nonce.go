package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/expiry"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// NonceKind is the name of nonces in storage.
const NonceKind = "sso-nonce"

// NonceLife is how long a nonce can be used.
const NonceLife = time.Minute

// Sections that a nonce can be for.
const (
	Dashboard = "dashboard"
	Portal    = "portal"
)

// Person is a person whom an identity broker has authenticated.
type Person struct {
	Section     string   `json:"section"`
	Email       string   `json:"email"`
	DisplayName string   `json:"display_name"`
	Groups      []string `json:"groups,omitempty"`     // groups with the permissions that the broker asks for
	Registered  bool     `json:"registered,omitempty"` // may enter only as an existing user
	Refused     bool     `json:"refused,omitempty"`    // the broker refuses the person
}

// Nonce lets a browser begin the session of a person, once. It does not contain the text that
// the browser has.
type Nonce struct {
	ID      string    `json:"id"`
	OrgID   tenant.ID `json:"org_id"`
	Digest  string    `json:"digest"` // keyed digest of the text
	Person  Person    `json:"person"`
	Expires time.Time `json:"expires_at"`
}

// Over reports whether the nonce has expired.
func (n Nonce) Over(now time.Time) bool {
	return expiry.Over(n.Expires, now, NonceLife)
}

// AccessData is the statement of a broker about a person.
type AccessData struct {
	ForSection                string    `json:"ForSection,omitempty" oneof:"dashboard,portal" doc:"Where the nonce is valid. Default: dashboard. A portal refuses a nonce without this member."`
	OrgID                     tenant.ID `json:"OrgID" doc:"Organisation in which the session begins."`
	EmailAddress              string    `json:"EmailAddress,omitempty" doc:"E-mail address of the person. The user with this address is logged in."`
	DisplayName               string    `json:"DisplayName,omitempty" doc:"For people."`
	GroupID                   string    `json:"GroupID,omitempty" doc:"User group that gives the person permissions."`
	GroupsIDs                 []string  `json:"GroupsIDs,omitempty" doc:"User groups that give the person permissions."`
	SSOOnlyForRegisteredUsers bool      `json:"SSOOnlyForRegisteredUsers,omitempty" doc:"true: a person for whom no user exists is refused."`
	UserNotAllowed            bool      `json:"UserNotAllowed,omitempty" doc:"true: the person is refused."`
}

// Bounds of the statements of brokers.
const (
	mostGroups = 100
	mostText   = 320
)

// CodePerson begins the codes of faults about the statement of a broker.
const CodePerson = "sso.person"

// Person returns the person, or a fault that names the invalid field. email is the address in
// the form in which it is stored, or "" if it is invalid.
func (d AccessData) Person(email string) (Person, error) {
	if email == "" {
		return Person{}, fault.New(fault.Invalid, CodePerson, "EmailAddress is not a valid address").At("EmailAddress")
	}
	return d.person(email)
}

// Guest returns the person like Person, but the address may be absent: then no user is looked
// up, and the permissions are those of the groups.
func (d AccessData) Guest(email string) (Person, error) {
	if d.EmailAddress != "" {
		return d.Person(email)
	}
	return d.person("")
}

func (d AccessData) person(email string) (Person, error) {
	refuse := func(field, text string) (Person, error) {
		return Person{}, fault.New(fault.Invalid, CodePerson, "%s %s", field, text).At(field)
	}
	d.ForSection = cmp.Or(d.ForSection, Dashboard)
	switch {
	case d.ForSection != Dashboard && d.ForSection != Portal:
		return refuse("ForSection", "must be dashboard or portal")
	case len(d.DisplayName) > mostText:
		return refuse("DisplayName", "is too long")
	case len(d.GroupsIDs) > mostGroups:
		return refuse("GroupsIDs", "has too many entries")
	}
	p := Person{Section: d.ForSection, Email: email, DisplayName: d.DisplayName, Registered: d.SSOOnlyForRegisteredUsers, Refused: d.UserNotAllowed}
	for _, id := range append([]string{d.GroupID}, d.GroupsIDs...) {
		if len(id) > mostText {
			return refuse("GroupsIDs", "has an entry that is too long")
		}
		if id != "" && !slices.Contains(p.Groups, id) {
			p.Groups = append(p.Groups, id)
		}
	}
	return p, nil
}

// Grants says which permissions people get after an identity broker has authenticated them.
type Grants struct {
	Lookup       bool       // a person with the address of a user becomes that user
	DefaultGroup string     // for a person without groups
	Defaults     access.Map // for all persons; added to the permissions of groups where they allow more
	AdminDefault bool       // a person without any other permissions is an admin
}

// Source says where the permissions of a person come from.
type Source struct {
	Groups   []string
	Defaults access.Map
}

// Groups returns the groups of a person, including the default group.
func (g Grants) Groups(p Person) []string {
	if g.DefaultGroup == "" {
		return p.Groups
	}
	return append(slices.Clone(p.Groups), g.DefaultGroup)
}

// Source returns where the permissions of a person without a user come from. exist are those
// of the person's Groups that exist; others are ignored. ok is false when the person has no
// permissions. A person with a group that was deleted does not become an admin, since the
// group was meant to give fewer permissions.
func (g Grants) Source(p Person, exist []string) (s Source, ok bool) {
	given := slices.DeleteFunc(slices.Clone(p.Groups), func(id string) bool { return !slices.Contains(exist, id) })
	switch {
	case len(given) > 0:
		return Source{given, g.Defaults}, true
	case slices.Contains(exist, g.DefaultGroup):
		return Source{Groups: []string{g.DefaultGroup}}, true
	case len(g.Defaults) > 0:
		return Source{Defaults: g.Defaults}, true
	case g.AdminDefault && len(g.Groups(p)) == 0:
		return Source{Defaults: access.Map{string(access.IsAdmin): access.LevelAdmin}}, true
	}
	return s, false
}

// Package event models the events of the developer portal for outside receivers: their names
// and messages (docs/wire/portal-webhooks.md#events).
package event

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Names of events.
const (
	UserRegistered               = "UserRegistered"
	UserAccountActivated         = "UserAccountActivated"
	UserAccountDeactivated       = "UserAccountDeactivated"
	PasswordReset                = "PasswordReset" //nolint:gosec // the name of an event
	RegisterInvite               = "RegisterInvite"
	ApplicationRegistered        = "ApplicationRegistered"
	AccessRequestCreated         = "AccessRequestCreated"
	AccessRequestApproved        = "AccessRequestApproved"
	AccessRequestRejected        = "AccessRequestRejected"
	CredentialRegistered         = "CredentialRegistered" //nolint:gosec // the name of an event
	OrganisationRegistered       = "OrganisationRegistered"
	OrganisationRequestCreated   = "OrganisationRequestCreated"
	OrganisationRequestApproved  = "OrganisationRequestApproved"
	OrganisationRequestRejected  = "OrganisationRequestRejected"
	statusActive, statusInactive = "active", "inactive"
)

// AccessRequestWaits says that an access request waits for an administrator: from the start,
// or because it could not be approved at once. It causes mails; webhooks cannot subscribe to
// it.
const AccessRequestWaits = "AccessRequestWaits"

// Row is one event to which webhooks can subscribe.
type Row struct {
	Name    string
	Message Message // example of the message, with a value in each member
	// Anonymous says that the message does not contain the user who caused the event.
	Anonymous bool
	// Told says that the portal sends the event. Webhooks can subscribe to other events too.
	Told bool
}

var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

var (
	exampleUser = User{ID: 7, Email: "ada@example.com", First: "Ada", Last: "Lovelace", OrgID: 1, Provider: "password", Status: statusActive, CreatedAt: exampleTime,
		Actor: Actor{1}, CustomAttributes: []Attribute{{"department", "Engines"}}}
	exampleAccess     = AccessRequest{ID: 3, AppID: 2, Actor: Actor{7}, Status: "approved", ProductIDs: []table.ID{1, 2}, PlanID: 1, CreatedAt: exampleTime}
	exampleOrgRequest = OrgRequest{Name: "Acme", AdminEmail: "ada@example.com", AdminID: 7, Actor: Actor{1}, TeamIDs: []table.ID{1}, Status: "pending", CreatedAt: exampleTime}
)

// Table lists the events.
var Table = []Row{
	{Name: UserRegistered, Message: exampleUser, Told: true},
	{Name: UserAccountActivated, Message: exampleUser, Told: true},
	{Name: UserAccountDeactivated, Message: exampleUser, Told: true},
	{Name: PasswordReset, Message: exampleUser, Anonymous: true, Told: true},
	{Name: RegisterInvite, Message: exampleUser, Told: true},
	{Name: ApplicationRegistered, Message: App{ID: 2, Name: "Checkout", UserID: 7, CreatedAt: exampleTime}, Told: true},
	{Name: AccessRequestCreated, Message: exampleAccess, Told: true},
	{Name: AccessRequestApproved, Message: exampleAccess, Told: true},
	{Name: AccessRequestRejected, Message: exampleAccess, Told: true},
	{Name: CredentialRegistered, Message: Credential{ID: 4, Actor: Actor{7}, AccessRequestID: 3, AppID: 2, CreatedAt: exampleTime}, Told: true},
	{Name: OrganisationRegistered, Message: Organisation{ID: 2, Name: "Acme", CreatedAt: exampleTime}, Told: true},
	{Name: OrganisationRequestCreated, Message: exampleOrgRequest, Told: true},
	{Name: OrganisationRequestRejected, Message: exampleOrgRequest, Told: true},
	{Name: OrganisationRequestApproved, Message: exampleUser, Anonymous: true, Told: true},
}

// Find returns the row of an event.
func Find(name string) (Row, bool) {
	i := slices.IndexFunc(Table, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return Row{}, false
	}
	return Table[i], true
}

// Told is an event that has happened.
type Told struct {
	Name    string
	Message Message
}

// envelope is the payload for a receiver.
type envelope struct {
	Event     string    `json:"Event"`
	Message   any       `json:"Message"`
	Timestamp time.Time `json:"Timestamp"`
}

// Encode returns the payload of an event that a user caused; 0: the user is unknown.
func Encode(name string, message any, by table.ID, at time.Time) ([]byte, error) {
	if row, _ := Find(name); row.Anonymous {
		by = 0
	}
	if m, ok := message.(Message); ok {
		message = m.CausedBy(by)
	}
	return json.Marshal(envelope{name, message, at.UTC()})
}

package event

import (
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/application"
	"github.com/gatehouse-io/gatehouse/core/portal/credential"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/orgrequest"
	"github.com/gatehouse-io/gatehouse/core/portal/request"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Message is the content of an event.
type Message interface {
	// CausedBy returns the message with the user who caused the event, if it has a member for it.
	CausedBy(user table.ID) Message
}

// Actor is the user who caused an event.
type Actor struct {
	ByUser table.ID `json:"ByUser,omitzero"`
}

// Attribute is the value of a custom attribute of a user.
type Attribute struct {
	Identifier string `json:"Identifier"`
	Value      string `json:"Value"`
}

// User is the message of events about users.
type User struct {
	ID        table.ID  `json:"ID"`
	Email     string    `json:"Email"`
	First     string    `json:"First"`
	Last      string    `json:"Last"`
	OrgID     table.ID  `json:"OrgID"`
	Provider  string    `json:"Provider"`
	Status    string    `json:"Status"`
	CreatedAt time.Time `json:"CreatedAt"`
	Actor
	CustomAttributes []Attribute `json:"CustomAttributes"`
}

// CausedBy implements Message.
func (m User) CausedBy(user table.ID) Message { m.ByUser = user; return m }

// App is the message of events about apps.
type App struct {
	ID        table.ID  `json:"ID"`
	Name      string    `json:"Name"`
	UserID    table.ID  `json:"UserID"`
	CreatedAt time.Time `json:"CreatedAt"`
}

// CausedBy implements Message.
func (m App) CausedBy(table.ID) Message { return m }

// AccessRequest is the message of events about access requests.
type AccessRequest struct {
	ID    table.ID `json:"ID"`
	AppID table.ID `json:"AppID"`
	Actor
	Status     string     `json:"Status"`
	ProductIDs []table.ID `json:"ProductIDs"`
	PlanID     table.ID   `json:"PlanID"`
	CreatedAt  time.Time  `json:"CreatedAt"`
}

// CausedBy implements Message.
func (m AccessRequest) CausedBy(user table.ID) Message { m.ByUser = user; return m }

// Credential is the message of events about credentials. It contains no secrets.
type Credential struct {
	ID table.ID `json:"ID"`
	Actor
	AccessRequestID table.ID  `json:"AccessRequestID"`
	AppID           table.ID  `json:"AppID"`
	CreatedAt       time.Time `json:"CreatedAt"`
}

// CausedBy implements Message.
func (m Credential) CausedBy(user table.ID) Message { m.ByUser = user; return m }

// Organisation is the message of events about organisations.
type Organisation struct {
	ID        table.ID  `json:"ID"`
	Name      string    `json:"Name"`
	CreatedAt time.Time `json:"CreatedAt"`
}

// CausedBy implements Message.
func (m Organisation) CausedBy(table.ID) Message { return m }

// OrgRequest is the message of events about requests for organisations.
type OrgRequest struct {
	Name       string   `json:"Name"`
	AdminEmail string   `json:"AdminEmail"`
	AdminID    table.ID `json:"AdminID"`
	Actor
	TeamIDs   []table.ID `json:"TeamIDs"`
	Status    string     `json:"Status"`
	CreatedAt time.Time  `json:"CreatedAt"`
}

// CausedBy implements Message.
func (m OrgRequest) CausedBy(user table.ID) Message { m.ByUser = user; return m }

// Source maps changes of a resource to events.
type Source[T any] struct {
	Names []string // all names that its events can have
	// Of returns the events of one change. before is nil when the record was created, after when
	// it was deleted.
	Of func(before, after *T) []Told
}

// OfUsers maps changes of users to events.
var OfUsers = &Source[account.User]{
	Names: []string{UserRegistered, UserAccountActivated, UserAccountDeactivated, PasswordReset, RegisterInvite, OrganisationRequestApproved},
	Of: func(before, after *account.User) []Told {
		switch {
		case after == nil:
			return nil
		case before == nil:
			return told(*after, happened{UserRegistered, true}, happened{RegisterInvite, !after.InvitedAt.IsZero()})
		}
		return told(*after,
			happened{UserAccountActivated, after.Active && !before.Active}, happened{UserAccountDeactivated, before.Active && !after.Active},
			happened{PasswordReset, !after.AskedAt.Equal(before.AskedAt)}, happened{RegisterInvite, !after.InvitedAt.Equal(before.InvitedAt)},
			happened{OrganisationRequestApproved, after.RequestID != before.RequestID})
	},
}

// happened says whether a change causes an event.
type happened struct {
	name string
	so   bool
}

func told(u account.User, all ...happened) (out []Told) {
	for _, h := range all {
		if h.so {
			out = append(out, Told{h.name, aboutUser(u)})
		}
	}
	return out
}

// OfRequests maps changes of requests for organisations to events. The approval is an event of
// the requesting user.
var OfRequests = &Source[orgrequest.Request]{
	Names: []string{OrganisationRequestCreated, OrganisationRequestRejected},
	Of: func(before, after *orgrequest.Request) []Told {
		if after == nil {
			return nil
		}
		m := OrgRequest{Name: after.Name, AdminEmail: after.Email, AdminID: after.UserID, TeamIDs: []table.ID{}, Status: string(after.Status), CreatedAt: after.CreatedAt.UTC()}
		switch {
		case before == nil:
			return []Told{{OrganisationRequestCreated, m}}
		case before.Status != after.Status && after.Status == orgrequest.Rejected:
			return []Told{{OrganisationRequestRejected, m}}
		}
		return nil
	},
}

// maxValues is the maximum size in bytes of a user's attribute values in an event. As JSON
// they may be six times as long.
const maxValues = 8 << 10

func aboutUser(u account.User) User {
	status := statusInactive
	if u.Active {
		status = statusActive
	}
	values, size := []Attribute{}, 0
	for _, v := range u.Attributes {
		values = append(values, Attribute{v.Identifier, v.Value})
		size += len(v.Value)
	}
	for i, v := range values { // the event must fit, with any values
		if most := maxValues / len(values); size > maxValues && len(v.Value) > most {
			values[i].Value = strings.ToValidUTF8(v.Value[:most], "") + "…"
		}
	}
	return User{ID: u.ID, Email: u.Email, First: u.First, Last: u.Last, OrgID: u.OrganisationID, Provider: u.Provider, Status: status,
		CreatedAt: u.CreatedAt.UTC(), CustomAttributes: values}
}

// OfOrganisations maps changes of organisations to events.
var OfOrganisations = &Source[organisation.Organisation]{
	Names: []string{OrganisationRegistered},
	Of: func(before, after *organisation.Organisation) []Told {
		if before != nil || after == nil {
			return nil
		}
		return []Told{{OrganisationRegistered, Organisation{ID: after.ID, Name: after.Name, CreatedAt: after.CreatedAt.UTC()}}}
	},
}

// OfApps maps changes of apps to events.
var OfApps = &Source[application.App]{
	Names: []string{ApplicationRegistered},
	Of: func(before, after *application.App) []Told {
		if before != nil || after == nil {
			return nil
		}
		return []Told{{ApplicationRegistered, App{ID: after.ID, Name: after.Name, UserID: after.UserID, CreatedAt: after.CreatedAt.UTC()}}}
	},
}

// OfAccessRequests maps changes of access requests to events.
var OfAccessRequests = &Source[request.Request]{
	Names: []string{AccessRequestCreated, AccessRequestWaits, AccessRequestApproved, AccessRequestRejected},
	Of: func(before, after *request.Request) []Told {
		switch {
		case after == nil:
			return nil
		case before == nil && after.ProvisionImmediately:
			m := aboutRequest(*after)
			m.Status = string(request.Approved) // it is approved in a moment; otherwise another event says that it waits
			return []Told{{AccessRequestCreated, m}}
		case before == nil && after.Status == request.Pending:
			return []Told{{AccessRequestCreated, aboutRequest(*after)}, {AccessRequestWaits, aboutRequest(*after)}}
		case before == nil:
			return []Told{{AccessRequestCreated, aboutRequest(*after)}}
		case before.Status == after.Status && before.ProvisionImmediately && !after.ProvisionImmediately:
			return []Told{{AccessRequestWaits, aboutRequest(*after)}}
		case before.Status == after.Status:
			return nil
		case after.Status == request.Approved:
			return []Told{{AccessRequestApproved, aboutRequest(*after)}}
		case after.Status == request.Rejected:
			return []Told{{AccessRequestRejected, aboutRequest(*after)}}
		}
		return nil
	},
}

func aboutRequest(r request.Request) AccessRequest {
	return AccessRequest{ID: r.ID, AppID: r.AppID, Status: string(r.Status), ProductIDs: append([]table.ID{}, r.ProductIDs...), PlanID: r.PlanID, CreatedAt: r.CreatedAt.UTC()}
}

// OfCredentials maps changes of credentials to events.
var OfCredentials = &Source[credential.Credential]{
	Names: []string{CredentialRegistered},
	Of: func(before, after *credential.Credential) []Told {
		if before != nil || after == nil {
			return nil
		}
		return []Told{{CredentialRegistered, Credential{ID: after.ID, AccessRequestID: after.RequestID, AppID: after.AppID, CreatedAt: after.CreatedAt.UTC()}}}
	},
}

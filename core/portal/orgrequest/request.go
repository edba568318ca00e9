// Package orgrequest models requests of developers for their own organisations
// (docs/wire/portal-people.md#organisation-requests).
package orgrequest

import (
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
)

// Kind is the name of the resource in storage.
const Kind = "portal-organisation-request"

// State is the state of a request.
type State string

// The states.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Rejected State = "rejected"
)

// Event is an event in the life of a request.
type Event string

// The events.
const (
	Approve Event = "approve"
	Reject  Event = "reject"
)

// States and Events are all states and events.
var (
	States = []State{Pending, Approved, Rejected}
	Events = []Event{Approve, Reject}
)

// moves is the state after an event; a missing entry is refused.
var moves = map[State]map[Event]State{
	Pending:  {Approve: Approved, Reject: Rejected},
	Approved: {},
	Rejected: {},
}

// On returns the state after an event, or false when the state refuses it.
func (s State) On(e Event) (State, bool) {
	next, ok := moves[s][e]
	return next, ok
}

// Request is a user's request for an organisation.
type Request struct {
	table.Base
	Name           string
	UserID         table.ID // the requesting user
	Email          string   // e-mail address at the time of the request, for events
	Status         State
	OrganisationID table.ID // created by the approval
}

// Table implements table.Row.
func (Request) Table() *table.Table[Request] { return rows }

var rows = &table.Table[Request]{
	Kind: Kind, Noun: "organisation request",
	Base: func(r *Request) *table.Base { return &r.Base },
	Fields: []table.Field[Request]{
		{Name: "Name", At: func(r *Request) any { return &r.Name }, Required: true, Max: 255, Line: true, Doc: "Name of the new organisation."},
	},
	Unique: []table.Unique[Request]{{Name: "pending", Taken: "a request is pending already", Of: func(r Request) string {
		if r.Status != Pending {
			return ""
		}
		return r.UserID.Key()
	}}},
}

// New makes a request of a user.
func New(u account.User) Request {
	return Request{UserID: u.ID, Email: u.Email, Status: Pending}
}

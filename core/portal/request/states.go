package request

import "github.com/gatehouse-io/gatehouse/core/fault"

// Status is the state of an access request.
type Status string

// The states (docs/wire/portal-apps.md#states).
const (
	Pending  Status = "pending"
	Approved Status = "approved"
	Rejected Status = "rejected"
	Deleted  Status = "deleted" // no stored request has this state
)

// Statuses are all states.
var Statuses = []Status{Pending, Approved, Rejected, Deleted}

// Event is an event in the life of an access request.
type Event string

// The events.
const (
	Approve Event = "approve"
	Reject  Event = "reject"
	Delete  Event = "delete"
)

// Events are all events.
var Events = []Event{Approve, Reject, Delete}

// outcome is the next state or, without one, the reason of the refusal.
type outcome struct {
	to  Status
	why string
}

var next = map[Status]map[Event]outcome{
	Pending: {Approve: {to: Approved}, Reject: {to: Rejected}, Delete: {to: Deleted}},
	Approved: {
		Approve: {why: "access request is already approved"},
		Reject:  {why: "an approved access request can't be rejected: delete it"},
		Delete:  {to: Deleted},
	},
	Rejected: {Approve: {to: Approved}, Reject: {why: "access request is already rejected"}, Delete: {to: Deleted}},
	Deleted:  {Approve: {why: gone}, Reject: {why: gone}, Delete: {why: gone}},
}

const gone = "record not found"

// CodeState is the code of the fault for an event that is not allowed in the state.
const CodeState = Kind + ".state"

// On returns the state after an event, or a fault.
func (s Status) On(e Event) (Status, error) {
	o, known := next[s][e]
	switch {
	case !known:
		return s, fault.New(fault.Invalid, CodeState, "%s is no state of an access request, or %s no event", s, e)
	case o.to == "":
		return s, fault.New(fault.Invalid, CodeState, "%s", o.why)
	}
	return o.to, nil
}

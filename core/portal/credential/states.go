package credential

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// State is the state of a credential.
type State string

// The states (docs/wire/portal-apps.md#states).
const (
	Active  State = "active"
	Expired State = "expired" // gateways refuse it; the record stays
	Revoked State = "revoked" // no stored credential has this state
)

// States are all states.
var States = []State{Active, Expired, Revoked}

// Event is an event in the life of a credential.
type Event string

// The events.
const (
	Rotate Event = "rotate" // its value is replaced
	Extend Event = "extend" // it gets another product
	Reduce Event = "reduce" // it loses a product, but not the last one
	Revoke Event = "revoke" // it gives no access any more
	Expire Event = "expire" // its lifetime ends
)

// Events are all events.
var Events = []Event{Rotate, Extend, Reduce, Revoke, Expire}

type outcome struct {
	to  State
	why string
}

const (
	gone = "record not found"
	old  = "the credential has expired: rotate it first"
)

var next = map[State]map[Event]outcome{
	Active:  {Rotate: {to: Active}, Extend: {to: Active}, Reduce: {to: Active}, Revoke: {to: Revoked}, Expire: {to: Expired}},
	Expired: {Rotate: {to: Active}, Extend: {why: old}, Reduce: {to: Expired}, Revoke: {to: Revoked}, Expire: {to: Expired}},
	Revoked: {Rotate: {why: gone}, Extend: {why: gone}, Reduce: {why: gone}, Revoke: {to: Revoked}, Expire: {to: Revoked}},
}

// CodeState is the code of the fault for an event that is not allowed in the state.
const CodeState = Kind + ".state"

// On returns the state after an event, or a fault.
func (s State) On(e Event) (State, error) {
	o, known := next[s][e]
	switch {
	case !known:
		return s, fault.New(fault.Invalid, CodeState, "%s is no state of a credential, or %s no event", s, e)
	case o.to == "":
		return s, fault.New(fault.Invalid, CodeState, "%s", o.why)
	}
	return o.to, nil
}

// State returns the state of a stored credential at some time.
func (c Credential) State(at time.Time) State {
	if !c.Expires.IsZero() && !c.Expires.After(at) {
		return Expired
	}
	return Active
}

package account

// State is the state of a user's account.
type State string

// The states.
const (
	Inactive State = "inactive" // created or deactivated; cannot log in
	Active   State = "active"
	Gone     State = "gone"
)

// Event is an event in the life of an account.
type Event string

// The events.
const (
	Activate   Event = "activate"
	Deactivate Event = "deactivate"
	LogIn      Event = "log in"
	Forget     Event = "forget the password" // request a new password
	Delete     Event = "delete"
)

// States and Events are all states and events.
var (
	States = []State{Inactive, Active, Gone}
	Events = []Event{Activate, Deactivate, LogIn, Forget, Delete}
)

// moves is the state after an event; a missing entry is refused.
var moves = map[State]map[Event]State{
	Inactive: {Activate: Active, Deactivate: Inactive, Delete: Gone},
	Active:   {Activate: Active, Deactivate: Inactive, LogIn: Active, Forget: Active, Delete: Gone},
	Gone:     {},
}

// On returns the state after an event, or false when the state refuses it.
func (s State) On(e Event) (State, bool) {
	next, ok := moves[s][e]
	return next, ok
}

// State returns the state of the user's account.
func (u User) State() State {
	if u.Active {
		return Active
	}
	return Inactive
}

// Can reports whether an event is allowed in the user's state.
func (u User) Can(e Event) bool {
	_, ok := u.State().On(e)
	return ok
}

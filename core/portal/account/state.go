package account

// State is how far a user has got.
type State string

// The states.
const (
	Inactive State = "inactive" // made, or put out; cannot log in
	Active   State = "active"
	Gone     State = "gone"
)

// Event is what happens to a user.
type Event string

// The events.
const (
	Activate   Event = "activate"
	Deactivate Event = "deactivate"
	LogIn      Event = "log in"
	Forget     Event = "forget the password" // and ask for another one
	Delete     Event = "delete"
)

// States and Events are all that there are.
var (
	States = []State{Inactive, Active, Gone}
	Events = []Event{Activate, Deactivate, LogIn, Forget, Delete}
)

// moves says where an event leads; what is not there is refused.
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

// State returns how far the user has got.
func (u User) State() State {
	if u.Active {
		return Active
	}
	return Inactive
}

// Can reports whether the state of the user admits an event.
func (u User) Can(e Event) bool {
	_, ok := u.State().On(e)
	return ok
}

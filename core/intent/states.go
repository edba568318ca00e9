package intent

import "github.com/gatehouse-io/gatehouse/core/fault"

// State is the state of an intent.
type State string

// The states of an intent (docs/wire/intents.md#states).
const (
	Open       State = "open"        // its steps are in progress, or wait
	Undoing    State = "undoing"     // its completed steps are being undone, or wait for that
	Failed     State = "failed"      // waits for an operator: its steps are not retried
	UndoFailed State = "undo_failed" // waits for an operator: undoing is not retried
	Done       State = "done"        // all steps are done
	Undone     State = "undone"      // no step is done
	Abandoned  State = "abandoned"   // an operator gave it up: some steps may be done
)

// States are all states.
var States = []State{Open, Undoing, Failed, UndoFailed, Done, Undone, Abandoned}

// Event is an event in the life of an intent.
type Event string

// The events of an intent.
const (
	Succeed Event = "succeed" // every step is done; or undone, when undoing
	Refuse  Event = "refuse"  // a step is refused, and nothing has to be undone
	Return  Event = "return"  // the completed steps must be undone
	Exhaust Event = "exhaust" // no further attempts
	Retry   Event = "retry"   // an operator requests further attempts
	GiveUp  Event = "give_up" // an operator requests no further attempts
)

// Events are all events.
var Events = []Event{Succeed, Refuse, Return, Exhaust, Retry, GiveUp}

// next is the state after an event. An event without an entry is not allowed in the state.
var next = map[State]map[Event]State{
	Open:       {Succeed: Done, Refuse: Undone, Return: Undoing, Exhaust: Failed, Retry: Open, GiveUp: Abandoned},
	Undoing:    {Succeed: Undone, Refuse: UndoFailed, Exhaust: UndoFailed, Retry: Undoing, GiveUp: Abandoned},
	Failed:     {Retry: Open, GiveUp: Abandoned},
	UndoFailed: {Retry: Undoing, GiveUp: Abandoned},
}

// Codes of faults.
const (
	CodeClosed = Kind + ".closed"
	CodeBusy   = Kind + ".busy"
)

// Next returns the state after an event, or a Conflict fault.
func (s State) Next(e Event) (State, error) {
	to, ok := next[s][e]
	if !ok {
		return s, fault.New(fault.Conflict, CodeClosed, "the intent is %s already", s)
	}
	return to, nil
}

// Active reports whether an intent in this state is being carried out or undone.
func (s State) Active() bool { return s == Open || s == Undoing }

// Rests reports whether an intent in this state waits for an operator.
func (s State) Rests() bool { return s == Failed || s == UndoFailed }

// Closed reports whether an intent in this state is finished.
func (s State) Closed() bool { return len(next[s]) == 0 }

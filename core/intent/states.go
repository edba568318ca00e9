package intent

import "github.com/gatehouse-io/gatehouse/core/fault"

// State says how far an intent has come.
type State string

// The states of an intent (docs/wire/intents.md#states).
const (
	Open       State = "open"        // its steps are carried out, or wait for that
	Undoing    State = "undoing"     // what its steps did is undone, or waits for that
	Failed     State = "failed"      // it rests: no further attempt is made to carry it out
	UndoFailed State = "undo_failed" // it rests: no further attempt is made to undo it
	Done       State = "done"        // all of it is done
	Undone     State = "undone"      // none of it is done
	Abandoned  State = "abandoned"   // an operator gave it up: some of it may be done
)

// States are all states.
var States = []State{Open, Undoing, Failed, UndoFailed, Done, Undone, Abandoned}

// Event is what happens to an intent.
type Event string

// The events of an intent.
const (
	Succeed Event = "succeed" // every step is done or, of one that is undone, undone
	Refuse  Event = "refuse"  // a step is refused, and nothing has to be undone for it
	Return  Event = "return"  // what is done is to be undone
	Exhaust Event = "exhaust" // no further attempt is made
	Retry   Event = "retry"   // an operator wants further attempts
	GiveUp  Event = "give_up" // an operator wants none
)

// Events are all events.
var Events = []Event{Succeed, Refuse, Return, Exhaust, Retry, GiveUp}

// next is the state that follows. An event without a row does not fit the state.
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

// Active reports whether somebody carries out or undoes an intent in this state.
func (s State) Active() bool { return s == Open || s == Undoing }

// Rests reports whether an intent in this state waits for an operator.
func (s State) Rests() bool { return s == Failed || s == UndoFailed }

// Closed reports whether an intent in this state is over.
func (s State) Closed() bool { return len(next[s]) == 0 }

// Package intent models what was asked for and takes more than one commit of ours: what
// gateways store is changed over HTTP, step by step, and a process may die between two
// steps (docs/wire/intents.md).
package intent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of intents in storage.
const Kind = "intent"

// Bounds of intents.
const (
	MaxOpen     = 1000           // of an organisation: open ones, and those that rest
	KeepClosed  = 64             // of an organisation, the latest
	MaxAttempts = 100            // since it began or was tried again by an operator; then it rests
	MaxAge      = 24 * time.Hour // likewise
	FirstPause  = time.Second    // after the first attempt; it doubles
	MaxPause    = 15 * time.Minute
	maxError    = 300 // bytes
)

// Subject is what an intent is about. While it is active, nothing else is done to that.
type Subject struct {
	Kind string `json:"kind"` // "key"
	ID   string `json:"id"`   // never a secret: it is shown, and kept in history
}

// By says on whose behalf an intent is carried out, also later and by another process. It
// has the fields of an attribution in the change log.
type By struct {
	Actor     string `json:"actor,omitempty"`
	Operation string `json:"operation,omitempty"`
	Request   string `json:"request,omitempty"`
	Everyone  string `json:"everyone,omitempty"`
	From      string `json:"from,omitempty"`
	User      string `json:"user,omitempty"`
	Method    string `json:"method,omitempty"`
	URL       string `json:"url,omitempty"`
	Status    int    `json:"status,omitempty"`
}

// Intent is one thing that was asked for.
type Intent struct {
	ID       string    `json:"id"`
	OrgID    tenant.ID `json:"org_id"`
	Action   string    `json:"action"` // who knows the steps: "keys.update"
	Subject  Subject   `json:"subject"`
	Also     []Subject `json:"also,omitempty"` // what nothing else may be done to meanwhile, either
	By       By        `json:"by"`
	State    State     `json:"state"`
	Undo     int       `json:"undo,omitempty"`     // steps that are to be undone, the last first
	Attempts int       `json:"attempts,omitempty"` // that failed
	Created  time.Time `json:"created_at"`
	Since    time.Time `json:"since"`                    // when it began, or was tried again by an operator
	Next     time.Time `json:"next_attempt_at,omitzero"` // at the earliest
	Ended    time.Time `json:"ended_at,omitzero"`        // when it was closed, or began to rest
	Error    string    `json:"error,omitempty"`          // why the last attempt failed
	Holder   string    `json:"holder,omitempty"`         // the process that carries it out
	Until    time.Time `json:"until,omitzero"`           // when the holder has stopped for sure
	// Details are what the steps are made of, sealed: gone when the intent is closed.
	Details string `json:"secret_details,omitempty"`
	// Did is what became of the subject, once that is done: "created", "updated" or "deleted";
	// "": what the closing commit writes says all.
	Did string `json:"did,omitempty"`
	// Told is what the closing commit says of what was done, in clear.
	Told json.RawMessage `json:"told,omitempty"`
}

// Begin returns a new intent that a process carries out from now on.
func Begin(id string, org tenant.ID, action string, about Subject, by By, at time.Time) Intent {
	at = at.UTC()
	return Intent{ID: id, OrgID: org, Action: action, Subject: about, By: by, State: Open, Created: at, Since: at, Next: at}
}

// Subjects are all subjects that nothing else may be done to while the intent is active,
// each once.
func (i Intent) Subjects() (out []Subject) {
	for _, s := range append([]Subject{i.Subject}, i.Also...) {
		if s.ID != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// On returns the intent after an event.
func (i Intent) On(e Event, at time.Time, why string) (Intent, error) {
	to, err := i.State.Next(e)
	if err != nil {
		return i, err
	}
	i.State, i.Error = to, cut(why)
	switch {
	case e == Retry:
		i.Attempts, i.Since, i.Next, i.Ended = 0, at.UTC(), at.UTC(), time.Time{}
	case to.Closed() || to.Rests():
		i.Ended, i.Next = at.UTC(), time.Time{}
	}
	if to.Closed() {
		i.Details, i.Undo = "", 0
	}
	if !to.Active() {
		i = i.Released()
	}
	return i, nil
}

// Later returns the intent after an attempt that failed for a reason that may pass: it is
// due again after a pause, or rests when there were too many attempts.
func (i Intent) Later(at time.Time, why string, pause time.Duration) Intent {
	i.Attempts++
	if i.Attempts >= MaxAttempts || at.Sub(i.Since) >= MaxAge {
		if rests, err := i.On(Exhaust, at, why); err == nil {
			return rests
		}
	}
	i.Error, i.Next = cut(why), at.Add(pause).UTC()
	return i.Released()
}

// Held returns the intent as one that a process carries out until some time.
func (i Intent) Held(holder string, until time.Time) Intent {
	i.Holder, i.Until = holder, until.UTC()
	return i
}

// Released returns the intent as one that no process carries out.
func (i Intent) Released() Intent {
	i.Holder, i.Until = "", time.Time{}
	return i
}

// Busy reports whether a process may carry it out at the moment.
func (i Intent) Busy(at time.Time) bool { return i.State.Active() && ahead(i.Until, at) }

// Due reports whether it can be carried out now.
func (i Intent) Due(at time.Time) bool {
	return i.State.Active() && !i.Busy(at) && !ahead(i.Next, at)
}

// ahead reports whether a time is still to come. One that is further ahead than any that is set
// was set by a clock that has been put back since: to wait for it could take for ever.
func ahead(t, at time.Time) bool {
	wait := t.Sub(at)
	return wait > 0 && wait <= Pause(MaxAttempts, 1)
}

// Free returns a Conflict fault while a process may carry it out.
func (i Intent) Free(at time.Time) error {
	if !i.Busy(at) {
		return nil
	}
	return fault.New(fault.Conflict, CodeBusy, "the intent is carried out at the moment; try again in a minute")
}

// Pause returns how long to wait after some attempts: twice as long each time, and up to a
// quarter more by chance, a number from 0 to 1.
func Pause(attempts int, chance float64) time.Duration {
	pause := min(FirstPause<<min(max(attempts-1, 0), 20), MaxPause)
	return pause + time.Duration(float64(pause/4)*min(max(chance, 0), 1))
}

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxError)], "") }

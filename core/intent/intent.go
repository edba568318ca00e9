// Package intent models requests that take more than one commit: data in gateways is changed
// over HTTP, step by step, and the process may die between two steps (docs/wire/intents.md).
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

// Limits of intents.
const (
	MaxOpen     = 1000           // of an organisation: open intents, and failed ones that wait for an operator
	KeepClosed  = 64             // of an organisation, the latest
	MaxAttempts = 100            // since the beginning, or since an operator's retry; then the intent fails
	MaxAge      = 24 * time.Hour // likewise
	FirstPause  = time.Second    // after the first attempt; doubled after each further one
	MaxPause    = 15 * time.Minute
	maxError    = 300 // bytes
)

// Subject is the object that an intent changes. While the intent is active, nothing else may
// change the object.
type Subject struct {
	Kind string `json:"kind"` // "key"
	ID   string `json:"id"`   // never a secret: it is shown, and kept in history
}

// By says for whom an intent is carried out, also later and by another process. It has the
// fields of an attribution in the change log.
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

// Intent is one request.
type Intent struct {
	ID       string    `json:"id"`
	OrgID    tenant.ID `json:"org_id"`
	Action   string    `json:"action"` // identifies the steps: "keys.update"
	Subject  Subject   `json:"subject"`
	Also     []Subject `json:"also,omitempty"` // other objects that nothing else may change meanwhile
	By       By        `json:"by"`
	State    State     `json:"state"`
	Undo     int       `json:"undo,omitempty"`     // steps to be undone, the last one first
	Attempts int       `json:"attempts,omitempty"` // failed attempts
	Created  time.Time `json:"created_at"`
	Since    time.Time `json:"since"`                    // when it began, or when an operator retried it
	Next     time.Time `json:"next_attempt_at,omitzero"` // earliest time
	Ended    time.Time `json:"ended_at,omitzero"`        // when it was closed or failed
	Error    string    `json:"error,omitempty"`          // why the last attempt failed
	Holder   string    `json:"holder,omitempty"`         // the process that carries it out
	Until    time.Time `json:"until,omitzero"`           // when the holder has certainly stopped
	// Details are the inputs of the steps, sealed. They are deleted when the intent is closed.
	Details string `json:"secret_details,omitempty"`
	// Did is the completed change of the subject: "created", "updated" or "deleted"; "": the
	// closing commit's own writes are enough.
	Did string `json:"did,omitempty"`
	// Told is the description of the change in the closing commit, in plain text.
	Told json.RawMessage `json:"told,omitempty"`
}

// Begin returns a new open intent.
func Begin(id string, org tenant.ID, action string, about Subject, by By, at time.Time) Intent {
	at = at.UTC()
	return Intent{ID: id, OrgID: org, Action: action, Subject: about, By: by, State: Open, Created: at, Since: at, Next: at}
}

// Subjects returns all objects that nothing else may change while the intent is active,
// without duplicates.
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

// Later returns the intent after an attempt with a temporary failure: it is due again after a
// pause, or fails after too many attempts.
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

// Held returns the intent as held by a process until some time.
func (i Intent) Held(holder string, until time.Time) Intent {
	i.Holder, i.Until = holder, until.UTC()
	return i
}

// Released returns the intent without a holder.
func (i Intent) Released() Intent {
	i.Holder, i.Until = "", time.Time{}
	return i
}

// Busy reports whether a process may be carrying out the intent at this time.
func (i Intent) Busy(at time.Time) bool { return i.State.Active() && ahead(i.Until, at) }

// Due reports whether the intent can be carried out now.
func (i Intent) Due(at time.Time) bool {
	return i.State.Active() && !i.Busy(at) && !ahead(i.Next, at)
}

// ahead reports whether a time is in the future. A time further ahead than any pause was set
// by a clock that has been put back since: waiting for it could take for ever, so it does not
// count.
func ahead(t, at time.Time) bool {
	wait := t.Sub(at)
	return wait > 0 && wait <= Pause(MaxAttempts, 1)
}

// Free returns a Conflict fault while a process may be carrying out the intent.
func (i Intent) Free(at time.Time) error {
	if !i.Busy(at) {
		return nil
	}
	return fault.New(fault.Conflict, CodeBusy, "the intent is carried out at the moment; try again in a minute")
}

// Pause returns the time to wait after a number of attempts: doubled with each attempt, plus
// up to a quarter of it in proportion to chance, a random number from 0 to 1.
func Pause(attempts int, chance float64) time.Duration {
	pause := min(FirstPause<<min(max(attempts-1, 0), 20), MaxPause)
	return pause + time.Duration(float64(pause/4)*min(max(chance, 0), 1))
}

func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxError)], "") }

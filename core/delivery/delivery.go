// Package delivery models messages to receivers outside: one delivery is one event for one
// receiver (docs/wire/deliveries.md).
package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// Kind is the name of deliveries in storage.
const Kind = "delivery"

// State is the state of a delivery.
type State string

// The states of a delivery.
const (
	Pending State = "pending" // in progress or waiting for its turn
	Failed  State = "failed"  // not retried until a user sends it again
	Done    State = "done"    // the receiver has it
)

// States are all states.
var States = []State{Pending, Failed, Done}

// Limits of deliveries.
const (
	MaxAttempts = 5
	MaxBody     = 64 << 10 // bytes
	MaxPending  = 10_000   // of one lane; further ones fail at once
	KeepDone    = 1000     // of one lane, the latest
	KeepFailed  = 10_000   // of one lane, the latest
	maxError    = 200      // bytes
)

// CodePending is the code of the fault for a delivery that is pending already.
const CodePending = Kind + ".pending"

// CodeEmpty is the code of the fault for a delivery with an event that was too large to be
// stored.
const CodeEmpty = Kind + ".empty"

// Delivery is one event for one receiver.
type Delivery struct {
	ID       string    `json:"id"`
	OrgID    tenant.ID `json:"org_id"`
	Audience string    `json:"audience"` // name of the audience that knows the receiver
	Lane     string    `json:"lane"`     // name of the receiver in the audience
	Place    string    `json:"place"`    // position in the lane: sorts as text
	Event    string    `json:"event"`
	Body     string    `json:"body"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"` // since it was created, or sent again
	Created  time.Time `json:"created_at"`
	Next     time.Time `json:"next_attempt_at,omitzero"` // of a pending delivery
	Ended    time.Time `json:"ended_at,omitzero"`        // of a delivery that is not pending
	Status   int       `json:"status,omitempty"`         // of the last response
	Error    string    `json:"error,omitempty"`          // of the last attempt
}

// Origin is the event of a commit that causes a delivery.
type Origin struct {
	Revision uint64
	Index    int // of the event, among those of the commit
	At       time.Time
}

// New returns the delivery of an event to a receiver. Its identifier depends only on the event
// and the receiver, and does not reveal the revision.
func New(org tenant.ID, audience, lane, event string, from Origin, body []byte) Delivery {
	place := fmt.Sprintf("%016x%08x", from.Revision, from.Index)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s\x00%d", org, audience, lane, event, place, from.At.UnixNano()))
	d := Delivery{
		ID: hex.EncodeToString(sum[:12]), OrgID: org, Audience: audience, Lane: lane, Place: place, Event: event, Body: string(body),
		State: Pending, Created: from.At.UTC(), Next: from.At.UTC(),
	}
	if len(body) > MaxBody {
		d.Body = ""
		return d.Rests(from.At, fmt.Sprintf("the event has %d bytes, and may have %d", len(body), MaxBody))
	}
	return d
}

// Key returns the unique name of a delivery's lane.
func (d Delivery) Key() string { return string(d.OrgID) + "/" + d.Audience + "/" + d.Lane }

// Succeeded returns the delivery after a successful attempt.
func (d Delivery) Succeeded(at time.Time, status int) Delivery {
	d.State, d.Status, d.Error, d.Ended, d.Next = Done, status, "", at.UTC(), time.Time{}
	d.Attempts++
	return d
}

// Refused returns the delivery after a failed attempt: it is due again after a pause, or
// failed after the last attempt.
func (d Delivery) Refused(at time.Time, status int, why string, pause time.Duration) Delivery {
	d.Attempts++
	d.Status, d.Error, d.Next = status, why[:min(len(why), maxError)], at.Add(pause).UTC()
	if d.Attempts >= MaxAttempts {
		return d.Rests(at, why)
	}
	return d
}

// Rests returns the delivery as failed: it is not retried any more.
func (d Delivery) Rests(at time.Time, why string) Delivery {
	d.State, d.Error, d.Ended, d.Next = Failed, why[:min(len(why), maxError)], at.UTC(), time.Time{}
	return d
}

// Again returns the delivery as pending again, without attempts.
func (d Delivery) Again(at time.Time) (Delivery, error) {
	switch {
	case d.State == Pending:
		return d, fault.New(fault.Conflict, CodePending, "the delivery is pending already; it is sent when its turn comes")
	case d.Body == "":
		return d, fault.New(fault.Conflict, CodeEmpty, "the event was too large to be kept, so that there is nothing to send")
	}
	d.State, d.Attempts, d.Status, d.Error, d.Ended, d.Next = Pending, 0, 0, "", time.Time{}, at.UTC()
	return d, nil
}

// Unchanged reports whether the delivery has the same state as when it was read.
func (d Delivery) Unchanged(since Delivery) bool {
	return d.State == since.State && d.Attempts == since.Attempts
}

// Pause returns the time to wait after a number of attempts: first, doubled with each attempt,
// plus up to a quarter of it in proportion to chance, a random number from 0 to 1.
func Pause(first time.Duration, attempts int, chance float64) time.Duration {
	pause := first << min(max(attempts-1, 0), MaxAttempts)
	return pause + time.Duration(float64(pause/4)*min(max(chance, 0), 1))
}

// Waits returns the time from at until the next attempt; 0: it is due. first is the pause
// after the first attempt. A time further ahead than any pause comes from a clock that has
// been put back since, or from another machine's clock: waiting for it could take for ever, so
// the attempt is due.
func (d Delivery) Waits(at time.Time, first time.Duration) time.Duration {
	wait := d.Next.Sub(at)
	if d.Attempts == 0 || wait > Pause(first, MaxAttempts, 1) {
		return 0
	}
	return max(0, wait)
}

// Accepted reports whether a status means success. A redirect does not: it is not followed.
func Accepted(status int) bool { return status >= 200 && status < 300 }

// Package deliver is the port between what happens to records and those outside who
// want to hear of it: kinds of records say what their changes mean, audiences say who
// listens and how to reach them.
package deliver

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Event is something that has happened.
type Event struct {
	Name    string
	Org     tenant.ID
	At      time.Time
	By      string // user ID, or what else asked for it
	Message any    // becomes JSON
}

// Source says which events changes of a kind of records are.
type Source struct {
	// Names are all names that its events can have: documents are read only if somebody
	// listens to one of them.
	Names []string
	// Of returns the names and messages of the events of one change. before is nil when
	// the record was created, after when it was deleted.
	Of func(before, after *store.Record) ([]Event, error)
}

// Target is how to reach a receiver, and holds secrets: it is looked up for each
// attempt and never stored.
type Target struct {
	URL     string
	Method  string            // "": POST. With GET no body is sent
	Header  map[string]string // besides those of every delivery
	Secret  string            // signs; "": nothing does
	Timeout time.Duration     // of an attempt; 0: the default
	// Hand hands a delivery over without an HTTP request; nil: it is sent to URL. Its
	// errors are shown to operators: they hold no secret.
	Hand func(ctx context.Context, id string, body []byte) error
}

// Publisher tells those who listen to a channel.
type Publisher interface {
	// Publish returns nil when somebody has heard the message, and an error without
	// secrets when nobody listens, or when that cannot be known soon.
	Publish(ctx context.Context, channel string, message []byte) error
}

// Lane is a receiver of an audience.
type Lane struct {
	Name  string    // constant and without NUL
	Since time.Time // it is told of no event from before; zero: it was always there
	// Seen is a commit from which on it was there for sure, although clocks may say that Since is
	// later; 0: none is known.
	Seen store.Revision
}

// Audience knows receivers of events.
type Audience interface {
	// Name names the audience in records: constant across restarts.
	Name() string
	// Lanes returns the receivers in an organisation that listen to an event.
	Lanes(ctx context.Context, r store.Reader, org tenant.ID, event string) ([]Lane, error)
	// Body returns what receivers are told of an event.
	Body(e Event) ([]byte, error)
	// Target returns how to reach a receiver now, or a NotFound fault when nothing is
	// to be sent to it any more.
	Target(ctx context.Context, r store.Reader, org tenant.ID, lane string) (Target, error)
}

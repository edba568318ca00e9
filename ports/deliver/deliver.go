// Package deliver is the port between changes of records and the outside receivers that want
// to be told of them: a Source per kind of records turns changes into events, an Audience says
// which receivers listen and how to reach them.
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
	By      string // user ID, or what else caused the change
	Message any    // becomes JSON
}

// Source says which events the changes of one kind of records cause.
type Source struct {
	// Names are all names that its events can have. Documents are read only if a receiver listens
	// to one of them.
	Names []string
	// Of returns the names and messages of the events of one change. before is nil when
	// the record was created, after when it was deleted.
	Of func(before, after *store.Record) ([]Event, error)
}

// Target says how to reach a receiver. It holds secrets: it is looked up for each attempt and
// never stored.
type Target struct {
	URL     string
	Method  string            // "": POST. With GET no body is sent
	Header  map[string]string // added to the headers of every delivery
	Secret  string            // signs the delivery; "": it is not signed
	Timeout time.Duration     // of an attempt; 0: the default
	// Hand delivers without an HTTP request; nil: the delivery is sent to URL. Operators see its
	// errors, so they hold no secret.
	Hand func(ctx context.Context, id string, body []byte) error
}

// Publisher publishes messages to the subscribers of a channel.
type Publisher interface {
	// Publish returns nil when a subscriber has received the message, and an error without
	// secrets when there is no subscriber, or when Publish cannot soon know.
	Publish(ctx context.Context, channel string, message []byte) error
}

// Lane is a receiver of an audience.
type Lane struct {
	Name  string    // constant and without NUL
	Since time.Time // earlier events are not delivered; zero: the receiver has always existed
	// Seen is a commit at which the receiver existed for certain, even if Since is later because
	// clocks differ; 0: none is known.
	Seen store.Revision
}

// Audience is a group of receivers of events.
type Audience interface {
	// Name names the audience in records: constant across restarts.
	Name() string
	// Lanes returns the receivers in an organisation that listen to an event.
	Lanes(ctx context.Context, r store.Reader, org tenant.ID, event string) ([]Lane, error)
	// Body returns the payload of an event for receivers.
	Body(e Event) ([]byte, error)
	// Target returns how to reach a receiver now, or a NotFound fault when it is to get nothing
	// any more.
	Target(ctx context.Context, r store.Reader, org tenant.ID, lane string) (Target, error)
}

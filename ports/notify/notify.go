// Package notify is the port to sinks to which commits are announced.
package notify

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Announcement is one signal with its position in the order of all announcements: a sink can
// recognise and discard a repeated one.
type Announcement struct {
	Rev    store.Revision // 0: not of a commit, but sent because receivers may have missed announcements
	Index  int            // among the announcements of one revision
	Signal signal.Signal
}

// ErrUnheard is the error of a Sink that works and has no receiver. Announcements wait for one.
var ErrUnheard = errors.New("no gateway listens; announcements wait for one")

// Sink receives announcements in order and at least once, with one Deliver at a time. A sink
// that fails delays only itself. The suite in notifytest says what else is expected.
type Sink interface {
	// Name identifies the sink and its cursor: constant across restarts.
	Name() string
	// Deliver announces all, in order, or returns an error, after which the same announcements
	// come again. It returns when ctx ends, and soon when the receiver is unreachable. Operators
	// see its errors, so they hold no secret.
	Deliver(ctx context.Context, as []Announcement) error
}

// Watcher is a Sink that notices when receivers were unreachable although every Deliver seemed
// to succeed.
type Watcher interface {
	Sink
	// Missed returns nil when receivers are back that may have missed announcements. The caller
	// then announces that anything may have changed. Otherwise Missed waits until ctx ends and
	// returns its error.
	Missed(ctx context.Context) error
}

// Package notify is the port to places where commits are announced.
package notify

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Announcement is one thing to tell, with its place in the order of all of
// them: a sink that is told twice can discard the repeat.
type Announcement struct {
	Rev    store.Revision // 0: of no commit, but because receivers may have missed some
	Index  int            // among the announcements of one revision
	Signal signal.Signal
}

// Sink is a place where announcements go. A sink is told in order and at least
// once, one Deliver at a time; a sink that fails delays itself only.
// The suite in notifytest says what else is expected.
type Sink interface {
	// Name identifies the sink and its cursor: constant across restarts.
	Name() string
	// Deliver announces all, in order, or returns an error, after which the same
	// announcements come again. It returns when ctx ends, and soon when the
	// receiver is away. Its errors are shown to operators: they hold no secret.
	Deliver(ctx context.Context, as []Announcement) error
}

// Watcher is a Sink that notices when receivers were away although every Deliver
// succeeded, as far as it could tell.
type Watcher interface {
	Sink
	// Missed returns nil when receivers are back that may have missed
	// announcements; they are then told that anything may have changed. Else it
	// waits until ctx ends and returns the error of ctx.
	Missed(ctx context.Context) error
}

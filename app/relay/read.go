package relay

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// item is a commit in the form for the sink.
type item struct {
	rev store.Revision        // 0: no commit
	out []notify.Announcement // empty: the commit does not concern gateways
}

// read sends the commits after a revision to items, in order, until ctx ends.
func (r *Relay) read(ctx context.Context, after store.Revision, items chan<- item) {
	pause := r.pause()
	for ctx.Err() == nil {
		last, err := r.follow(ctx, after, items)
		if last > after {
			after = last
			pause.Reset()
		}
		if errors.Is(err, store.ErrExpired) {
			// Everything may have changed. From the head on, the changes are known
			// again.
			var head store.Revision
			if head, err = r.config.ChangeLog.Head(ctx); err == nil {
				r.config.Logger.Warn("history no longer reaches back to what was last announced; gateways are told to reload everything", "after", after, "head", head)
				r.ahead.Store(uint64(head)) // not note: a restored store has an older head
				hand(ctx, items, item{head, announcements(head, signal.CatchUp())})
				after = head
			}
		}
		if err != nil && ctx.Err() == nil {
			r.changes.fail(err)
		}
		_ = pause.Wait(ctx)
	}
}

// follow sends commits to items until the change log fails, and returns the last one.
func (r *Relay) follow(ctx context.Context, after store.Revision, items chan<- item) (store.Revision, error) {
	head, err := r.config.ChangeLog.Head(ctx)
	if err != nil {
		return after, err
	}
	r.note(head)
	if head == after {
		r.changes.over() // otherwise the next commit shows that the log works again
	}
	for c, err := range r.config.ChangeLog.Follow(ctx, after) {
		if err != nil {
			return after, err
		}
		r.changes.over()
		r.note(c.Rev)
		changes := make([]signal.Change, len(c.Changes))
		for i, ch := range c.Changes {
			changes[i] = change(ch)
		}
		if !hand(ctx, items, item{c.Rev, announcements(c.Rev, r.config.Signals.Of(changes))}) {
			break
		}
		after = c.Rev
	}
	return after, ctx.Err()
}

func hand(ctx context.Context, items chan<- item, it item) bool {
	select {
	case items <- it:
		return true
	case <-ctx.Done():
		return false
	}
}

// note records the last known commit, for the lag.
func (r *Relay) note(rev store.Revision) {
	for {
		old := r.ahead.Load()
		if uint64(rev) <= old || r.ahead.CompareAndSwap(old, uint64(rev)) {
			return
		}
	}
}

func change(c store.Change) signal.Change {
	return signal.Change{Op: signal.Op(c.Op), Kind: c.Kind, ID: c.ID, Key: c.Key}
}

func announcements(rev store.Revision, signals []signal.Signal) []notify.Announcement {
	out := make([]notify.Announcement, len(signals))
	for i, s := range signals {
		out[i] = notify.Announcement{Rev: rev, Index: i, Signal: s}
	}
	return out
}

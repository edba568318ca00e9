package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// maxBatch is how many commits are delivered together at most.
const maxBatch = 500

// gather waits for an item and adds the items that wait behind it: one commit is
// delivered at once, many are delivered together, and many reloads become one.
func gather(run context.Context, items <-chan item) (to store.Revision, out []notify.Announcement) {
	select {
	case <-run.Done():
		return 0, nil
	case it := <-items:
		to, out = it.rev, it.out
	}
	for range maxBatch - 1 {
		select {
		case it := <-items:
			to, out = max(to, it.rev), append(out, it.out...)
		default:
			return to, calm(out)
		}
	}
	return to, calm(out)
}

// calm replaces many announcements that reload gateways by one, in the place of the
// last of them.
func calm(as []notify.Announcement) []notify.Announcement {
	out := make([]notify.Announcement, 0, len(as))
	reloads, last, at := 0, notify.Announcement{}, 0
	for _, a := range as {
		if a.Signal.Reloads() {
			reloads, last, at = reloads+1, a, len(out)
		} else {
			out = append(out, a)
		}
	}
	if reloads <= signal.Many {
		return as
	}
	last.Signal = signal.Signal{Command: signal.GroupReload}
	return slices.Insert(out, at, last)
}

// patience is how long a process with the lease tries to deliver before it lets another one
// try: it may be the only one that does not reach the receivers.
const patience = 10 * time.Second

// deliver tries to deliver until it succeeds, run ends or another process should try.
func (r *Relay) deliver(run, held context.Context, as []notify.Announcement) bool {
	began := time.Now()
	for pause := r.pause(); run.Err() == nil; _ = pause.Wait(run) {
		err := r.try(held, as)
		if err == nil {
			return true
		}
		if !r.alone && time.Since(began) > patience && !errors.Is(err, notify.ErrUnheard) {
			r.config.Logger.Debug("another process may try to announce", "error", err)
			return false
		}
	}
	return false
}

// try tries to deliver once.
func (r *Relay) try(held context.Context, as []notify.Announcement) error {
	ctx, cancel := context.WithTimeout(held, r.config.Timeout)
	defer cancel()
	at, err := &r.gate, r.ready(ctx)
	if err == nil {
		at.over()
		at, err = &r.sink, r.config.Sink.Deliver(ctx, r.opened(as))
	}
	switch {
	case err == nil:
		at.over()
	case held.Err() == nil:
		at.fail(err)
	}
	return err
}

// opened returns announcements with sealed payloads decrypted. It leaves out
// announcements that cannot be decrypted, because their key is lost.
func (r *Relay) opened(as []notify.Announcement) []notify.Announcement {
	if !slices.ContainsFunc(as, func(a notify.Announcement) bool { return a.Signal.Command.Sealed() }) {
		return as
	}
	out := make([]notify.Announcement, 0, len(as))
	for _, a := range as {
		if a.Signal.Command.Sealed() {
			plain, err := r.config.Unseal(a.Signal.Payload)
			if err != nil {
				r.config.Logger.Error("an announcement is left out, since its payload cannot be decrypted", "command", a.Signal.Command, "error", err)
				continue
			}
			a.Signal.Payload = plain
		}
		out = append(out, a)
	}
	return out
}

// ready returns an error while gateways could not load what is announced: announcements
// are forbidden then (docs/wire/gateway-nodes.md#rules-that-matter-most).
func (r *Relay) ready(ctx context.Context) error {
	head, err := r.config.ChangeLog.Head(ctx)
	if err != nil {
		return fmt.Errorf("the store cannot be read: %w", err)
	}
	r.note(head)
	if r.config.Ready == nil {
		return nil
	}
	if err := r.config.Ready(ctx); err != nil {
		return fmt.Errorf("the service is not ready: %w", err)
	}
	return nil
}

func (r *Relay) pause() *retry.Pause { return retry.New(r.config.Retry, 20*r.config.Retry) }

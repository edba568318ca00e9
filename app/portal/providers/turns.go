package providers

import (
	"context"
	"sync"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How many callers may wait for a provider in one process: writes are short.
const (
	maxRuns   = 16
	maxWrites = 64
)

// CodeBusy is the fault code for a provider with too many waiting callers.
const CodeBusy = "portal_provider.busy"

// turns serialises synchronisation of, and writes to, a provider: in this process and, if the store
// has leases, across all processes.
type turns struct {
	leases store.Leases // nil: the store has no leases, and only this process uses it
	config lease.Config

	mu    sync.Mutex
	lines map[table.ID]*line
}

// line is the queue of a provider; the token is in it while no run is active.
type line struct {
	token   chan struct{}
	waiting int
}

// do waits for the turn of a provider behind at most most callers, and runs fn. The context of fn
// ends when the turn is lost.
func (t *turns) do(ctx context.Context, id table.ID, most int, fn func(context.Context) error) error {
	l, err := t.enter(id, most)
	if err != nil {
		return err
	}
	defer t.leave(id, l)
	select {
	case <-l.token:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { l.token <- struct{}{} }()
	if t.leases == nil {
		return fn(ctx)
	}
	return t.hold(ctx, id, fn)
}

// hold runs fn once with the lease of a provider. A store that does not answer ends the wait.
func (t *turns) hold(ctx context.Context, id table.ID, fn func(context.Context) error) (err error) {
	waiting, end := context.WithCancel(ctx)
	defer end()
	c := t.config
	c.Name += id.String()
	used := false
	c.Trouble = func(trouble error) {
		if trouble != nil && !used {
			err = trouble
			end()
		}
	}
	_ = lease.New(c).Run(waiting, func(held, _ context.Context, _ *lease.Holding) { // its error is the context's
		used, err = true, fn(held)
		end()
	})
	if !used && err == nil {
		err = ctx.Err()
	}
	return err
}

func (t *turns) enter(id table.ID, most int) (*line, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[id]
	if l == nil {
		l = &line{token: make(chan struct{}, 1)}
		l.token <- struct{}{}
		t.lines[id] = l
	}
	if l.waiting > most {
		return nil, fault.New(fault.TooMany, CodeBusy, "the provider is busy, and too many wait for it: try again later")
	}
	l.waiting++
	return l, nil
}

// leave ends the wait; the last caller removes the line.
func (t *turns) leave(id table.ID, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		delete(t.lines, id)
	}
}

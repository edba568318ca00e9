package providers

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// How long a lease lasts, how often it is renewed or asked for, and how many may wait for
// a provider in one process.
const (
	leaseTime  = 30 * time.Second
	leaseRenew = leaseTime / 5
	leaseAsk   = 500 * time.Millisecond
	maxWaiting = 16
)

// CodeBusy is the code of the fault for a provider for which too many wait.
const CodeBusy = "portal_provider.busy"

// turns sees to it that a provider is synchronised by one at a time: in this process, and
// where the store has leases, in all of them.
type turns struct {
	leases store.Leases // nil: the store has none, and no other process has the store
	portal string
	holder string

	mu    sync.Mutex
	lines map[table.ID]*line
}

// line is those who wait for a provider; the token is in it while nobody works.
type line struct {
	token   chan struct{}
	waiting int
}

func newTurns(c Config) *turns {
	t := &turns{portal: string(c.Scope.Org()), holder: c.Holder, lines: map[table.ID]*line{}}
	t.leases, _ = c.Store.(store.Leases)
	return t
}

// take waits for the turn. The context that it returns ends when the turn is lost; done
// gives it back.
func (t *turns) take(ctx context.Context, id table.ID) (_ context.Context, done func(), err error) {
	l, err := t.enter(id)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-l.token:
	case <-ctx.Done():
		t.leave(id, l)
		return nil, nil, ctx.Err()
	}
	free := func() { l.token <- struct{}{}; t.leave(id, l) }
	if t.leases == nil {
		return ctx, free, nil
	}
	held, give, err := t.hold(ctx, t.portal+"/"+id.Key())
	if err != nil {
		free()
		return nil, nil, err
	}
	return held, func() { give(); free() }, nil
}

func (t *turns) enter(id table.ID) (*line, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[id]
	if l == nil {
		l = &line{token: make(chan struct{}, 1)}
		l.token <- struct{}{}
		t.lines[id] = l
	}
	if l.waiting > maxWaiting {
		return nil, fault.New(fault.TooMany, CodeBusy, "the provider is being synchronised, and too many wait for it: try again later")
	}
	l.waiting++
	return l, nil
}

// leave ends the wait; the last one puts the line away.
func (t *turns) leave(id table.ID, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.waiting--; l.waiting == 0 {
		delete(t.lines, id)
	}
}

// hold takes the lease of a name, once no other process has it, and keeps it.
func (t *turns) hold(ctx context.Context, name string) (context.Context, func(), error) {
	for {
		_, ok, err := t.leases.Acquire(ctx, name, t.holder, leaseTime)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(leaseAsk):
		}
	}
	held, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		t.keep(held, cancel, name)
	}()
	return held, func() {
		cancel()
		<-stopped
		brief, end := context.WithTimeout(context.WithoutCancel(ctx), leaseRenew)
		defer end()
		_ = t.leases.Release(brief, name, t.holder) // otherwise it ends by itself
	}, nil
}

// keep renews a lease until the context ends, and ends it when the lease may be another's.
func (t *turns) keep(ctx context.Context, lose context.CancelFunc, name string) {
	until := time.Now().Add(leaseTime)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(leaseRenew):
		}
		began := time.Now()
		brief, cancel := context.WithTimeout(ctx, leaseRenew)
		_, ok, err := t.leases.Acquire(brief, name, t.holder, leaseTime)
		cancel()
		switch {
		case err == nil && ok:
			until = began.Add(leaseTime)
		case err == nil, time.Until(until) < 2*leaseRenew:
			lose()
			return
		}
	}
}

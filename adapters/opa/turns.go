package opa

import (
	"context"
	"runtime"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// turns limits the evaluations of an organisation to all processors but one: a decision may take
// a second, and the evaluations of one organisation must not make the requests of others wait.
type turns struct {
	mu sync.Mutex
	by map[tenant.ID]*turn
}

// turn is the queue of an organisation's evaluations.
type turn struct {
	room  chan struct{}
	users int // evaluations that wait or run
}

// take waits for a turn while ctx lasts. The caller must call end when it is done.
func (t *turns) take(ctx context.Context, org tenant.ID) (end func(), err error) {
	t.mu.Lock()
	if t.by == nil {
		t.by = map[tenant.ID]*turn{}
	}
	own := t.by[org]
	if own == nil {
		own = &turn{room: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))}
		t.by[org] = own
	}
	own.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.by, org)
		}
	}
	select {
	case own.room <- struct{}{}:
		return func() { <-own.room; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

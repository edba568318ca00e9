package opa

import (
	"context"
	"runtime"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// turns lets rules of an organisation be evaluated on all processors but one: a decision may take
// a second, and requests of others would wait for those of one organisation.
type turns struct {
	mu sync.Mutex
	by map[tenant.ID]*turn
}

// turn is where evaluations of an organisation wait.
type turn struct {
	room  chan struct{}
	users int // that wait, or have a turn
}

// take waits for a turn while ctx lasts. The caller says when it is over.
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

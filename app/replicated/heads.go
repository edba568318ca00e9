package replicated

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// heads reads the head of the primary for many readers at once. A reader never gets the
// result of a call that began before the reader came.
type heads struct {
	ask     func(context.Context) (store.Revision, error)
	mu      sync.Mutex
	next    *round // collects readers for the call after the current one
	running bool
}

// round is one call and the readers that wait for its result.
type round struct {
	done chan struct{}
	rev  store.Revision
	err  error
}

// askTimeout bounds one call. Readers have deadlines of their own, but the call must
// not hang for later readers. A later reader waits for two calls, the one under way and its
// own, before it learns that the store is unavailable.
const askTimeout = 3 * time.Second

func (h *heads) get(ctx context.Context) (store.Revision, error) {
	h.mu.Lock()
	if h.next == nil {
		h.next = &round{done: make(chan struct{})}
	}
	r := h.next
	if !h.running {
		h.running = true
		go h.run()
	}
	h.mu.Unlock()
	select {
	case <-r.done:
		return r.rev, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// run calls ask until no reader waits.
func (h *heads) run() {
	for {
		runtime.Gosched() // lets other readers join: each call costs the primary the same
		h.mu.Lock()
		r := h.next
		h.next = nil
		h.running = r != nil
		h.mu.Unlock()
		if r == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		r.rev, r.err = h.ask(ctx)
		cancel()
		close(r.done)
	}
}

package replicated

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// heads asks the primary for its head on behalf of many readers at once. A
// reader is never answered by a question asked before it came.
type heads struct {
	ask     func(context.Context) (store.Revision, error)
	mu      sync.Mutex
	next    *round // collects readers for the question after the current one
	running bool
}

// round is one question and those who wait for its answer.
type round struct {
	done chan struct{}
	rev  store.Revision
	err  error
}

// askTimeout bounds one question: readers have deadlines of their own, but the
// question must not hang for those who come later.
const askTimeout = 5 * time.Second

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

// run asks until no reader waits.
func (h *heads) run() {
	for {
		runtime.Gosched() // readers that are about to ask come along: each question costs the primary the same
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

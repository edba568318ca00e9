package guard

import (
	"context"
	"sync"
)

// CodeStopping is the code of the fault that answers writes while the service stops.
const CodeStopping = "stopping"

// Writes counts the writes under way and can refuse new ones. The zero Writes
// admits everything.
type Writes struct {
	mu     sync.Mutex
	closed bool
	under  int
	idle   chan struct{} // closed once no write is under way any more; nil until Close
}

// Close refuses writes from now on and waits for those under way, or for ctx.
func (w *Writes) Close(ctx context.Context) error {
	w.mu.Lock()
	if !w.closed {
		w.closed, w.idle = true, make(chan struct{})
		if w.under == 0 {
			close(w.idle)
		}
	}
	w.mu.Unlock()
	select {
	case <-w.idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Closed reports whether writes are refused.
func (w *Writes) Closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// inside marks the context of a write that is under way.
type inside struct{}

// enter admits a write, and reports false when it is refused. What a write under way calls in
// this process is part of it: it is let through to the end.
func (w *Writes) enter(ctx context.Context) (context.Context, bool) {
	part, _ := ctx.Value(inside{}).(*Writes)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed && (part != w || w.under == 0) {
		return ctx, false
	}
	w.under++
	return context.WithValue(ctx, inside{}, w), true
}

func (w *Writes) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under--; w.closed && w.under == 0 {
		close(w.idle)
	}
}

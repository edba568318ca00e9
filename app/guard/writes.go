package guard

import (
	"context"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
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

func (w *Writes) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.under++
	}
	return !w.closed
}

func (w *Writes) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.under--; w.closed && w.under == 0 {
		close(w.idle)
	}
}

// around lets a handler write only while writes are admitted. What gateways send
// is let through: they must be answered to the end.
func (w *Writes) around(next operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (any, error) {
		if w == nil || c.Spec.Intent == access.Read || c.Spec.Surface == operation.Node {
			return next(ctx, c)
		}
		if !w.enter() {
			return nil, fault.New(fault.Unavailable, CodeStopping, "The service is about to stop and takes no more changes; try again")
		}
		defer w.leave()
		return next(ctx, c)
	}
}

package load

import (
	"container/list"
	"context"
	"sync"
)

// pool is an amount that is lent in parts, first come, first served.
type pool struct {
	mu      sync.Mutex
	size    int64
	free    int64
	waiting list.List // of *waiter
}

type waiter struct {
	n     int64
	ready chan struct{} // closed when it has its part
}

func newPool(size int64) *pool { return &pool{size: size, free: size} }

// take lends n, or everything when n is more than there is, and returns how
// much that was.
func (p *pool) take(ctx context.Context, n int64) (int64, error) {
	n = min(n, p.size)
	p.mu.Lock()
	if p.free >= n && p.waiting.Len() == 0 {
		p.free -= n
		p.mu.Unlock()
		return n, nil
	}
	w := &waiter{n, make(chan struct{})}
	place := p.waiting.PushBack(w)
	p.mu.Unlock()
	select {
	case <-w.ready:
		return n, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-w.ready: // it came at the last moment
		p.free += n
	default:
		p.waiting.Remove(place)
	}
	p.serve()
	return 0, ctx.Err()
}

func (p *pool) give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	p.serve()
}

// serve hands out what is free, in order. The lock is held.
func (p *pool) serve() {
	for e := p.waiting.Front(); e != nil && e.Value.(*waiter).n <= p.free; e = p.waiting.Front() {
		w := p.waiting.Remove(e).(*waiter)
		p.free -= w.n
		close(w.ready)
	}
}

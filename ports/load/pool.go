package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// pool is an amount that is lent in parts. Owners take turns, so an owner that asks for a lot
// makes others wait only for what is lent already. No owner holds more than its share, so an
// owner that is slow to give back leaves something to others.
type pool struct {
	mu      sync.Mutex
	share   int64 // of one owner at most
	free    int64
	tick    int64             // counts requests, loans and returns
	owners  map[string]*owner // owners that hold something or wait
	waiting int               // requests of all owners
}

// owner is the holder of parts: all requests with the same owner count together.
type owner struct {
	held    int64
	last    int64 // tick at which it last got a part or gave one back; before that, the tick at which it came
	waiting []*waiter
}

type waiter struct {
	n       int64
	ready   chan struct{} // closed when the waiter has its part, or is refused
	refused bool
}

// crowd is how many requests may wait for memory or for a turn. Each of them has a connection,
// and a service has several times as many (limits.connections). Any number may wait for cores
// and for the return of a turn: each waits for a short time, and then goes on without.
const (
	crowd     = 1000
	anyNumber = math.MaxInt
)

// errCrowd says that the maximum of requests waits already.
var errCrowd = errors.New("too many requests wait")

func newPool(size, share int64) *pool {
	return &pool{share: share, free: size, owners: map[string]*owner{}}
}

// take lends n, or a whole share when n is more than that, and returns the amount. At most
// most requests wait: when one more comes, the last one of the owner with the most of them is
// refused.
func (p *pool) take(ctx context.Context, by string, n int64, most int) (int64, error) {
	if n <= 0 {
		return 0, nil
	}
	n = min(n, p.share)
	w := p.enqueue(by, n, most)
	if w == nil {
		return n, nil
	}
	defer Away(ctx)() // the holder of the memory may be waiting for this turn
	var cause error
	select {
	case <-w.ready: // checked first: a part that is there is taken even when ctx has ended
	default:
		select {
		case <-w.ready:
		case <-ctx.Done():
			p.give(by, 0, w)
			cause = ctx.Err()
		}
	}
	if cause == nil && w.refused {
		cause = errCrowd
	}
	if cause != nil {
		return 0, fault.New(fault.Unavailable, CodeFull, "Other requests take all the memory there is for large documents; try again").Because(cause)
	}
	return n, nil
}

// enqueue lends n at once if no others wait and there is enough, and returns nil. Otherwise it
// returns a waiter. If more than most wait now, it refuses one of them.
func (p *pool) enqueue(by string, n int64, most int) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.owners[by]
	p.tick++
	if o == nil {
		o = &owner{last: p.tick}
		p.owners[by] = o
	}
	if p.waiting == 0 && n <= p.free && o.held+n <= p.share {
		p.tick++
		o.last, o.held, p.free = p.tick, o.held+n, p.free-n
		return nil
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	o.waiting = append(o.waiting, w)
	p.waiting++
	p.serve()
	if p.waiting > most {
		// One too many: the last one of the owner with the most that wait is refused.
		var name string
		var crowded *owner
		for who, other := range p.owners {
			if crowded == nil || len(other.waiting) > len(crowded.waiting) {
				name, crowded = who, other
			}
		}
		last := len(crowded.waiting) - 1
		late := crowded.waiting[last]
		crowded.waiting = crowded.waiting[:last]
		p.waiting--
		p.forget(name, crowded)
		late.refused = true
		close(late.ready)
	}
	return w
}

// forget leaves an owner out that has nothing and waits for nothing. The lock is held.
func (p *pool) forget(name string, o *owner) {
	if o.held == 0 && len(o.waiting) == 0 {
		delete(p.owners, name)
	}
}

// give takes n back and lends what is free. gone, if not nil, is a waiter that gives up: if it
// got its part at the last moment, this part is taken back too.
func (p *pool) give(by string, n int64, gone *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.owners[by]
	if gone != nil {
		if gone.refused {
			return
		}
		if i := slices.Index(o.waiting, gone); i >= 0 {
			o.waiting = slices.Delete(o.waiting, i, i+1)
			p.waiting--
		} else {
			n += gone.n
		}
	}
	if n > 0 {
		p.tick++
		o.last = p.tick
	}
	o.held -= n
	p.free += n
	if p.waiting > 0 {
		p.serve()
	}
	p.forget(by, o)
}

// serve lends what is free to waiters. The lock is held.
func (p *pool) serve() {
	for o := p.next(); o != nil && o.waiting[0].n <= p.free; o = p.next() {
		w := o.waiting[0]
		o.waiting = slices.Delete(o.waiting, 0, 1)
		p.waiting--
		p.tick++
		o.last, o.held, p.free = p.tick, o.held+w.n, p.free-w.n
		close(w.ready)
	}
}

// next returns the owner that gets the next part. Candidates are owners that wait and have
// enough of their share left. The one with the oldest last wins. A new owner starts with the
// current tick, because otherwise a stream of new owners could keep the others waiting for
// ever.
func (p *pool) next() (first *owner) {
	for _, o := range p.owners {
		if len(o.waiting) == 0 || o.held+o.waiting[0].n > p.share {
			continue
		}
		if first == nil || o.last < first.last {
			first = o
		}
	}
	return first
}

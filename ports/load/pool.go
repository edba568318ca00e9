package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// pool is an amount that is lent in parts. Owners take turns, so that one who
// asks for a lot keeps another waiting for what is lent already and no more. None
// holds more than its share, so that one who is slow to give back leaves something
// to others.
type pool struct {
	mu      sync.Mutex
	share   int64 // of one owner at most
	free    int64
	tick    int64             // counts what was asked for, lent and given back
	owners  map[string]*owner // those who hold something or wait
	waiting int               // requests of all owners
}

// owner is on whose behalf parts are lent.
type owner struct {
	held    int64
	last    int64 // tick at which it last got a part or gave one back, or before that the one at which it came
	waiting []*waiter
}

type waiter struct {
	n       int64
	ready   chan struct{} // closed when it has its part, or is refused
	refused bool
}

// crowd is how many requests may wait for memory or for a turn: each of them has a connection,
// of which a service has several times as many (limits.connections). Any number may wait for
// cores and for the return of a turn: each waits for a short time, and then goes on without.
const (
	crowd     = 1000
	anyNumber = math.MaxInt
)

// errCrowd says that as many wait already.
var errCrowd = errors.New("too many requests wait")

func newPool(size, share int64) *pool {
	return &pool{share: share, free: size, owners: map[string]*owner{}}
}

// take lends n, or all of a share when n is more than that, and returns how much that was. No
// more than most wait: with one more, the last one of the owner with the most of them is refused.
func (p *pool) take(ctx context.Context, by string, n int64, most int) (int64, error) {
	if n <= 0 {
		return 0, nil
	}
	n = min(n, p.share)
	w := p.enqueue(by, n, most)
	if w == nil {
		return n, nil
	}
	defer Away(ctx)() // who has what is waited for may wait for a turn
	var cause error
	select {
	case <-w.ready: // also when ctx has ended: what is there needs no waiting
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

// enqueue lends n at once if no others wait and there is enough, and returns nil.
// Otherwise it returns what waits for it, and refuses one if more than most wait.
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

// give takes a part back and hands out what is free. gone, if not nil, waits no longer: its part
// may have come at the last moment, and is given back too.
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

// serve hands out what is free. The lock is held.
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

// next returns the owner whose turn it is: of those who wait, and may have what they wait
// for, the one that has had nothing, or been there without anything, for longest. New
// owners do not come before all others, who would wait for as long as new ones come.
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

// Package load bounds the memory and the processors of requests under way. A request asks
// for room before it takes text in and before it makes a tree of it; it waits until there
// is some, and gives all of it back when it ends. Visitors of the portal, whom anybody can
// be, take turns at processors, so that what others write finds one free.
package load

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CodeFull is the code of the fault of a request for which there was no room in
// time.
const CodeFull = "load.full"

// What a document costs while it is checked, changed and stored: several copies
// of its text, and several trees of its values.
const (
	perByte  = 12
	perValue = 600
)

// Small requests have a room of their own, so that large ones cannot keep them
// waiting.
const (
	smallText = 1 << 20
	smallWork = 4 << 20
)

// free is how much text needs no room: a connection costs as much.
const free = 16 << 10

// coreWait is how long a large request waits for a core. Then it goes on without: who has
// one may be waiting for something else, such as a server far away.
const coreWait = 5 * time.Second

// Room is the memory that requests may take together.
type Room struct {
	text, work [2]*pool // for small and for large requests
	answers    *pool    // for large parts of answers
	cores      *pool    // for large requests that work: all but one, so that small ones find one free
	visits     *pool    // for visits, as many
	pressure   func(bool)
	mu         sync.Mutex
	heavy      int // large requests that work
}

// DefaultRoom is the size of a room in bytes unless said otherwise.
const DefaultRoom = 160 << 20

// NewRoom returns a room of a size in bytes; 0: DefaultRoom. pressure, if not
// nil, is called with true when the first large request begins to work, and with
// false when the last has ended.
func NewRoom(size int64, pressure func(bool)) *Room {
	if size <= 0 {
		size = DefaultRoom
	}
	if pressure == nil {
		pressure = func(bool) {}
	}
	// Text is held for as long as a client takes to send it, so one owner has a part of
	// it at most: two of the largest, one of which comes while the other is worked on.
	// Work ends by itself.
	part := size / 8
	cores := int64(max(1, runtime.GOMAXPROCS(0)-1))
	return &Room{pressure: pressure,
		text:    [2]*pool{newPool(part, part/2), newPool(3*part, 2*part)},
		work:    [2]*pool{newPool(part, part), newPool(size-5*part, size-5*part)},
		cores:   newPool(cores, cores),
		visits:  newPool(cores, cores), // of their own: a long import delays no page, and no page an import
		answers: newPool(2*part, part)} // beside the rest: an answer may be made while its request holds room
}

// Request is what one request holds. The methods of nil allow everything: work
// that comes from no client is not bounded here.
type Request struct {
	room  *Room
	owner string
	held  []part                // of texts and answers
	work  part                  // of the pools for work
	cost  int64                 // what all its work takes
	core  bool                  // it has one of the room's cores
	heavy bool                  // it works on something large
	outer *Request              // for which this one works in the same process, or nil
	visit atomic.Pointer[visit] // nil: it takes no turns; what goes on after the request may ask
}

// part is what a request holds of a pool.
type part struct {
	of *pool
	n  int64
}

type key struct{}

// Begin returns a request that holds nothing yet, and a context that knows it.
func (r *Room) Begin(ctx context.Context) (context.Context, *Request) {
	q := &Request{room: r, outer: Of(ctx)}
	return context.WithValue(ctx, key{}, q), q
}

// For says on whose behalf the request takes room, before it takes any. Owners
// share the room: one that takes all it can get leaves the others theirs.
func (q *Request) For(owner string) {
	if q != nil {
		q.owner = owner
	}
}

// Of returns the request that a context belongs to, or nil.
func Of(ctx context.Context) *Request {
	q, _ := ctx.Value(key{}).(*Request)
	return q
}

// Text makes room for so many bytes of text.
func (q *Request) Text(ctx context.Context, bytes int64) error {
	if q == nil || bytes <= free {
		return nil
	}
	of := q.room.text[0]
	if bytes > smallText {
		of = q.room.text[1]
	}
	return q.hold(ctx, of, bytes)
}

// Work makes room for work on a document of so many bytes and values, beside what
// the request works on already. Who asks for more gives back first and waits for all
// of it: of two that keep what the other waits for neither would end.
func (q *Request) Work(ctx context.Context, bytes, values int64) error {
	if q == nil {
		return nil
	}
	cost := q.cost + bytes*perByte + values*perValue
	of := q.room.work[0]
	if cost > smallWork {
		of = q.room.work[1]
	}
	if q.cost = cost; min(cost, of.share) == q.work.n {
		return nil
	}
	// Those who wait for memory leave their core to those who give it back.
	q.leave()
	n, err := of.take(ctx, q.owner, cost, crowd)
	if err != nil {
		return err
	}
	q.work = part{of, n}
	if of == q.room.work[0] {
		return nil
	}
	if !q.heavy {
		q.heavy = true
		q.room.heavier(1)
	}
	brief, cancel := context.WithTimeout(ctx, coreWait)
	defer cancel()
	_, err = q.room.cores.take(brief, q.owner, 1, anyNumber)
	q.core = err == nil
	return nil
}

// leave gives back what the request holds for work.
func (q *Request) leave() {
	if q.core {
		q.room.cores.give(q.owner, 1, nil)
		q.core = false
	}
	if q.work.n > 0 {
		q.work.of.give(q.owner, q.work.n, nil)
		q.work = part{}
	}
}

// Answer makes room for so many bytes of an answer, or of a part that is sent
// before the next one is made.
func (q *Request) Answer(ctx context.Context, bytes int64) error {
	if q == nil {
		return nil
	}
	return q.hold(ctx, q.room.answers, bytes)
}

// All makes room for work whose cost is not known: as much as one request may have.
func (q *Request) All(ctx context.Context) error { return q.Work(ctx, 1<<40, 0) }

// Turn waits for a core to make a long part of an answer, and returns a function that gives it
// back, before a client reads. A caller that waits too long goes on without.
func (q *Request) Turn(ctx context.Context) (end func()) {
	if q == nil {
		return func() {}
	}
	brief, cancel := context.WithTimeout(ctx, coreWait)
	defer cancel()
	if _, err := q.room.cores.take(brief, q.owner, 1, anyNumber); err != nil {
		return func() {}
	}
	return func() { q.room.cores.give(q.owner, 1, nil) }
}

// hold takes a part of a pool until the request ends.
func (q *Request) hold(ctx context.Context, p *pool, n int64) error {
	n, err := p.take(ctx, q.owner, n, crowd)
	if n > 0 {
		q.held = append(q.held, part{p, n})
	}
	return err
}

func (r *Room) heavier(by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.heavy
	if r.heavy += by; (was == 0) != (r.heavy == 0) {
		r.pressure(r.heavy > 0)
	}
}

// End gives everything back.
func (q *Request) End() {
	if q == nil {
		return
	}
	q.leave()
	q.visit.Swap(nil).end()
	for _, p := range q.held {
		p.of.give(q.owner, p.n, nil)
	}
	if q.heavy {
		q.room.heavier(-1)
	}
	q.held, q.heavy, q.cost = nil, false, 0
}

// CodeBusy is the code of the fault of a visit whose turn did not come in time.
const CodeBusy = "load.busy"

// visitWait is how long a visit waits for its turn: longer than a hundred visitors at once
// make it, and no longer than browsers and people have patience.
const visitWait = 10 * time.Second

// visit is the turn of a request at the processors of visitors.
type visit struct {
	pool  *pool
	owner string
	mu    sync.Mutex
	has   bool
}

// Visit waits until the request may take a processor on behalf of an owner, and keeps it
// until the request ends. Requests of one owner wait for each other, those of others come in
// between. A request for which another one works has its turn already, and waits for
// nothing: it would wait for itself.
func (q *Request) Visit(ctx context.Context, owner string) error {
	if q == nil || q.visiting() != nil {
		return nil
	}
	v := &visit{pool: q.room.visits, owner: owner}
	if !v.begin(ctx, crowd, visitWait) {
		return fault.New(fault.Unavailable, CodeBusy, "Too many people visit this portal just now; try again").Because(ctx.Err())
	}
	q.visit.Store(v)
	return nil
}

// visiting returns the turn of the request, or of the one for which it works, or nil.
func (q *Request) visiting() *visit {
	for ; q != nil; q = q.outer {
		if v := q.visit.Load(); v != nil {
			return v
		}
	}
	return nil
}

// Away leaves the turn of the visit that a context belongs to, if it has one, to others while
// something else is waited for, such as a server far away. back waits until it has one again.
// Who waits too long goes on without: what was begun has to end.
func Away(ctx context.Context) (back func()) {
	v := Of(ctx).visiting()
	if !v.end() {
		return func() {}
	}
	return func() { v.begin(ctx, anyNumber, coreWait) }
}

// begin waits for a processor, among no more than most, and reports whether it has one.
func (v *visit) begin(ctx context.Context, most int, patience time.Duration) bool {
	brief, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := v.pool.take(brief, v.owner, 1, most); err != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.has = true
	return true
}

// end gives the processor back, and reports whether there was one.
func (v *visit) end() bool {
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	had := v.has
	if v.has = false; had {
		v.pool.give(v.owner, 1, nil)
	}
	return had
}

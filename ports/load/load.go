// Package load limits the memory and the processors that concurrent requests use. A request
// reserves room before it reads a body and before it parses it into a tree. It waits until
// there is room, and gives all of it back when it ends. Visitors of the portal are not
// authenticated, so they take turns at processors, and requests that write always find a
// processor free.
package load

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// CodeFull is the code of the fault of a request that got no room in time.
const CodeFull = "load.full"

// The cost of a document while it is checked, changed and stored: several copies of its text,
// and several trees of its values.
const (
	perByte  = 12
	perValue = 600
)

// Small requests have pools of their own, so that large requests cannot block them.
const (
	smallText = 1 << 20
	smallWork = 4 << 20
)

// free is the largest text that needs no room: a connection costs as much anyway.
const free = 16 << 10

// coreWait is how long a large request waits for a core. Then it goes on without one, because
// the holder of the core may itself be waiting, for example for a remote server.
const coreWait = 5 * time.Second

// Room is the memory and the cores that all requests share.
type Room struct {
	text, work [2]*pool // for small and for large requests
	answers    *pool    // for large parts of answers
	cores      *pool    // for large requests that work: all cores but one, which stays free for small ones
	visits     *pool    // for visits: as many as cores
	pressure   func(bool)
	mu         sync.Mutex
	heavy      int // number of large requests that work
}

// DefaultRoom is the size of a room in bytes unless said otherwise.
const DefaultRoom = 160 << 20

// NewRoom returns a room of a size in bytes; 0: DefaultRoom. pressure, if not nil, is called
// with true when the first large request begins to work, and with false when the last one has
// ended.
func NewRoom(size int64, pressure func(bool)) *Room {
	if size <= 0 {
		size = DefaultRoom
	}
	if pressure == nil {
		pressure = func(bool) {}
	}
	// A client decides how long it takes to send its text, so one owner gets only a part of the
	// pool: room for two of the largest texts, so that the second can arrive while the first is
	// processed. Work is limited by the server.
	part := size / 8
	cores := int64(max(1, runtime.GOMAXPROCS(0)-1))
	return &Room{pressure: pressure,
		text:    [2]*pool{newPool(part, part/2), newPool(3*part, 2*part)},
		work:    [2]*pool{newPool(part, part), newPool(size-5*part, size-5*part)},
		cores:   newPool(cores, cores),
		visits:  newPool(cores, cores), // separate: a long import delays no page, and a page delays no import
		answers: newPool(2*part, part)} // separate: an answer may be made while its request holds room
}

// Request is the room that one request holds. The methods of nil allow everything: work that
// does not come from a client is not limited here.
type Request struct {
	room  *Room
	owner string
	held  []part                // of the pools for texts and answers
	work  part                  // of the pools for work
	cost  int64                 // of all its work so far
	core  bool                  // it holds one of the room's cores
	heavy bool                  // it works on something large
	outer *Request              // the request, in the same process, that made this one, or nil
	visit atomic.Pointer[visit] // nil: it takes no turns; atomic because goroutines may use it after the request has ended
}

// part is an amount of a pool that a request holds.
type part struct {
	of *pool
	n  int64
}

type key struct{}

// Begin returns a request that holds nothing yet, and a context that carries it.
func (r *Room) Begin(ctx context.Context) (context.Context, *Request) {
	q := &Request{room: r, outer: Of(ctx)}
	return context.WithValue(ctx, key{}, q), q
}

// For sets the owner for whom the request takes room. It is called before the request takes
// any. Owners share the room: a greedy owner cannot use up the share of others.
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

// Text reserves room for so many bytes of text.
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

// Work reserves room for a document of so many bytes and values, in addition to the request's
// earlier work. A request that needs more first gives back what it has and then waits for the
// total: two requests that kept their parts while waiting for each other would deadlock.
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
	// While the request waits for memory, its core goes to requests that will free memory.
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

// leave gives back the memory and the core that the request holds for work.
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

// Answer reserves room for so many bytes of an answer, or of a part that is sent before the
// next one is made.
func (q *Request) Answer(ctx context.Context, bytes int64) error {
	if q == nil {
		return nil
	}
	return q.hold(ctx, q.room.answers, bytes)
}

// All reserves room for work of unknown cost: as much as one request may have.
func (q *Request) All(ctx context.Context) error { return q.Work(ctx, 1<<40, 0) }

// Turn waits for a core to make a long part of an answer. It returns a function that gives the
// core back, to be called before the client reads. After coreWait it goes on without a core.
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

// visitWait is how long a visit waits for its turn: longer than it takes with a hundred
// visitors at once, and no longer than browsers and people wait.
const visitWait = 10 * time.Second

// visit is the turn of a request at the processors for visits.
type visit struct {
	pool  *pool
	owner string
	mu    sync.Mutex
	has   bool
}

// Visit waits until the request gets a processor on behalf of an owner, and keeps it until the
// request ends. Requests of one owner wait for each other; requests of other owners come in
// between. If the request, or an outer one, has a turn already, Visit does not wait: the
// request would wait for itself.
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

// visiting returns the turn of the request, or of the nearest outer request with one, or nil.
func (q *Request) visiting() *visit {
	for ; q != nil; q = q.outer {
		if v := q.visit.Load(); v != nil {
			return v
		}
	}
	return nil
}

// Away gives up the turn of the visit in ctx, if it has one, while the caller waits for
// something else, such as a remote server. back waits until the visit has a turn again. After
// coreWait it returns without one, because work that was begun has to end.
func Away(ctx context.Context) (back func()) {
	v := Of(ctx).visiting()
	if !v.end() {
		return func() {}
	}
	return func() { v.begin(ctx, anyNumber, coreWait) }
}

// begin waits for a processor, and reports whether it got one. most limits how many may wait.
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

package load

import (
	"context"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

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
	if !v.begin(ctx, v.pool.line, visitWait) {
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
	return func() { v.begin(ctx, v.pool.take, coreWait) }
}

// begin waits for a processor, and reports whether it has one.
func (v *visit) begin(ctx context.Context, take func(context.Context, string, int64) (int64, error), most time.Duration) bool {
	brief, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if _, err := take(brief, v.owner, 1); err != nil {
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

package delivery

import (
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// queue has the lanes with deliveries to send. The deliveries themselves are in the
// store.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	lanes   map[string]*lane
	ready   []*lane // in the order in which they became ready
	busy    map[tenant.ID]int
	most    int // lanes of one organisation that are served concurrently
	closed  bool
}

// lane is one receiver.
type lane struct {
	org   tenant.ID
	key   string
	busy  bool
	again bool // a delivery was added while the lane was busy
	timer *time.Timer

	unwritten []step // attempts that the store does not have yet; used by the worker that serves the lane
}

// add adds a lane with deliveries to send.
func (q *queue) add(org tenant.ID, key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch l := q.lanes[key]; {
	case l == nil:
		l = &lane{org: org, key: key}
		q.lanes[key] = l
		q.push(l)
	case l.busy:
		l.again = true
	}
}

func (q *queue) push(l *lane) {
	q.ready = append(q.ready, l)
	q.changed.Signal()
}

// take waits for a lane that can be served. It returns nil after close.
func (q *queue) take() *lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed {
		i := slices.IndexFunc(q.ready, func(l *lane) bool { return q.busy[l.org] < q.most })
		if i >= 0 {
			l := q.ready[i]
			q.ready = slices.Delete(q.ready, i, i+1)
			l.busy = true
			q.busy[l.org]++
			return l
		}
		q.changed.Wait()
	}
	return nil
}

// outcome says whether a lane has more deliveries, and after which time.
type outcome struct {
	more  bool
	after time.Duration
}

// back returns a lane after it was served.
func (q *queue) back(l *lane, o outcome) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.busy = false
	if q.busy[l.org]--; q.busy[l.org] == 0 {
		delete(q.busy, l.org)
	}
	q.changed.Signal()
	again := l.again
	l.again = false
	switch {
	case q.closed || !o.more && !again:
		delete(q.lanes, l.key)
	case o.more && o.after > 0:
		l.timer = time.AfterFunc(o.after, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if !q.closed {
				q.push(l)
			}
		})
	default:
		q.push(l)
	}
}

// close makes take return nil.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, l := range q.lanes {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
	q.changed.Broadcast()
}

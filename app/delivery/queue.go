package delivery

import (
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// queue knows which lanes have something to send. What that is stays in the store.
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	lanes   map[string]*lane
	ready   []*lane // in the order in which they became so
	busy    map[tenant.ID]int
	most    int // lanes of one organisation that are worked on at once
	closed  bool
}

// lane is one receiver.
type lane struct {
	org   tenant.ID
	key   string
	busy  bool
	again bool // something came while it was busy
	timer *time.Timer

	unwritten []step // attempts that the store has not taken yet; for the worker that has the lane
}

// add says that a lane has something to send.
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

// take waits for a lane that can be worked on; nil means that there will be none.
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

// outcome is what is left of a lane: nothing, or something after a while.
type outcome struct {
	more  bool
	after time.Duration
}

// back returns a lane that has been worked on.
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

// close ends take.
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

package sql

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// writer lets units of work take turns on the one connection that writes. A caller that
// finds the writer idle does the work: its own, and that of callers that have queued up
// meanwhile. So a single caller waits only for the disk, and for no other goroutine.
type writer struct {
	s      *Store
	mu     sync.Mutex
	queue  queue
	busy   bool
	closed bool
	idle   sync.Cond // signalled when the writer is idle

	ses   *session // these three belong to the caller that works
	hot   *hot
	begun *begun // nil: no transaction is open between two groups
}

// submit queues a unit and waits. Once work on the unit has begun, the caller waits for
// the outcome even if its context ends: an error means that nothing was written, unless
// the database was lost.
func (w *writer) submit(u *unit) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	u.done = make(chan struct{})
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return store.ErrClosed
	}
	w.queue.add(u)
	lead := !w.busy
	w.busy = true
	w.mu.Unlock()
	if lead {
		w.work(u)
	}
	select {
	case <-u.done:
	case <-u.ctx.Done():
		if u.claimed.CompareAndSwap(false, true) {
			return u.ctx.Err()
		}
		<-u.done
	}
	if u.panic != nil {
		panic(u.panic)
	}
	return u.err
}

// work executes queued units until there are none. After the caller's own unit is done,
// a new goroutine does the rest.
func (w *writer) work(own *unit) {
	finished := false
	defer func() {
		if !finished { // a closure has ended this goroutine; another goroutine continues the work
			go w.work(nil)
		}
	}()
	for batch := w.take(); batch != nil; batch = w.take() {
		w.group(batch)
		if own != nil && own.over() {
			finished = true
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.queue.size > 0 {
				go w.work(nil)
				return
			}
			w.busy = false
			w.idle.Broadcast()
			return
		}
	}
	finished = true
}

// take returns some of the queued units, or nil when there are none: while one group
// waits for the disk, the next one forms.
func (w *writer) take() []*unit {
	runtime.Gosched() // callers that are about to submit a unit can join: each group waits for the disk once
	w.mu.Lock()
	defer w.mu.Unlock()
	group := w.queue.take()
	if group == nil {
		w.busy = false
		w.idle.Broadcast()
	}
	return group
}

// putBack returns units that did not run to the queue.
func (w *writer) putBack(units []*unit) {
	for _, u := range units {
		u.claimed.Store(false)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue.putBack(units)
}

// charge adds the costs of units to the usage of their organisations.
func (w *writer) charge(units []*unit) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range units {
		w.queue.charge(u, time.Now())
	}
}

// group executes a batch: units of work together, jobs one by one.
func (w *writer) group(batch []*unit) {
	var together []*unit
	for _, u := range batch {
		switch {
		case !u.claimed.CompareAndSwap(false, true):
		case u.ctx.Err() != nil:
			u.err = u.ctx.Err()
			close(u.done)
		case u.job != nil, u.pause != nil:
			w.giveUp()
			began := time.Now()
			if u.pause != nil {
				u.err = u.pause(u.ctx)
			} else if u.err = w.tryJob(u); w.again(u.err) { // the kept connection was dead: this uses a new one
				u.err = w.tryJob(u)
			}
			u.load = time.Since(began)
			w.charge([]*unit{u})
			close(u.done)
		default:
			together = append(together, u)
		}
	}
	if len(together) == 0 {
		w.giveUp()
	} else {
		defer func() { w.salvage(together) }()
		n := w.commit(together)
		w.charge(together[:n])
		w.putBack(together[n:])
		together = together[:n]
	}
}

// errEnded is the outcome of a unit whose closure did not return.
var errEnded = errors.New("sql: the unit of work ended its goroutine")

// salvage runs when a closure has ended the goroutine within a group: it rolls back the
// transaction, and queues the other units again.
func (w *writer) salvage(units []*unit) {
	units = slices.DeleteFunc(units, (*unit).over)
	if len(units) == 0 {
		return
	}
	w.drop()
	var again []*unit
	for _, u := range units {
		if u.ended {
			u.err = errEnded
			close(u.done)
			continue
		}
		again = append(again, u)
	}
	w.putBack(again)
}

// tries bounds how often a transaction that lost a race runs again, and tryFor for how
// long: each try may wait for a database that another program has locked.
const (
	tries  = 10
	tryFor = 10 * time.Second
)

// commit runs units in one transaction, at most as many as a group may have, and
// returns how many. When the whole transaction fails, each unit runs once more alone,
// so that the error of one unit does not affect another.
func (w *writer) commit(units []*unit) (n int) {
	began := time.Now()
	n, err := w.attempt(units)
	for try := 1; try < tries && time.Since(began) < tryFor && w.again(err); try++ {
		n, err = w.attempt(units)
	}
	_, unsure := errors.AsType[*unsureError](err)
	if err != nil && n > 1 && !unsure && !w.s.Dialect.Lost(err) && !w.again(err) {
		for _, u := range units[:n] {
			w.commit([]*unit{u})
		}
		return n
	}
	for _, u := range units[:n] {
		if err != nil { // also for a refused unit: the state that it was refused for was not committed
			u.err = err
		}
		close(u.done)
	}
	return n
}

// attempt runs units in one transaction, at most as many as a group may have. It
// returns how many, and the error of the transaction; the error of a unit is in the
// unit.
func (w *writer) attempt(units []*unit) (n int, err error) {
	ctx, cancel := w.s.patience()
	defer cancel()
	wrote := false
	defer func() {
		if wrote || err != nil {
			w.s.trouble.note(w.s.explain(err))
		}
	}()
	defer w.lookDead(w.ses != nil, &err)
	head, err := w.begin(ctx)
	if err != nil {
		w.drop()
		return len(units), err
	}
	if w.hot.head != head {
		w.hot.reset(head)
		w.s.committed.Store(uint64(head)) // a unit that is refused now is refused because of this state
	}
	g := &group{s: w.s, ses: w.ses, q: w.ses, ctx: ctx, hot: w.hot, head: head, over: &overlay{entries: map[address]*entry{}}, docs: map[*store.Record]*longText{}}
	for _, u := range units {
		if n > 0 && g.load > groupTime {
			break
		}
		if n++; u.panic == nil && !u.ended {
			g.run(u)
		}
	}
	if len(g.commits) == 0 {
		return n, w.end(ctx, "rollback")
	}
	g.until = time.Now().Add(w.s.Hold)
	if err := g.flush(); err != nil {
		_ = w.end(ctx, "rollback")
		return n, w.taken(err)
	}
	if err := w.s.present(); err != nil {
		return n, errors.Join(err, w.end(ctx, "rollback"))
	}
	defer w.s.recent.ending()()
	if err := w.finish(ctx); err != nil {
		return n, err
	}
	if err := w.s.present(); err != nil {
		return n, &unsureError{err}
	}
	wrote = true
	w.s.youngest.took(g.taken, g.large)
	if g.freed {
		w.s.sweeper.wake()
	}
	w.hot.learn(g)
	w.s.committed.Store(uint64(w.hot.head))
	if w.s.Note != nil {
		w.s.Note(w.hot.head)
	}
	commits := make([]store.Commit, len(g.commits))
	for i, c := range g.commits {
		commits[i] = c.Commit
	}
	w.s.recent.add(commits)
	return n, nil
}

// patience returns the context of a transaction, which is independent of callers since
// it may serve many. A local database waits for nothing but the disk; watching a
// deadline there costs as much as the statement.
func (s *Store) patience() (context.Context, context.CancelFunc) {
	if s.Dialect.Local {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), s.Timeout)
}

// tryJob runs a job in a transaction of its own.
func (w *writer) tryJob(u *unit) (err error) {
	ctx, cancel := w.s.patience()
	defer cancel()
	defer w.lookDead(w.ses != nil, &err)
	if w.ses == nil {
		if w.ses, err = newSession(ctx, w.s.Writers, w.s.Dialect); err != nil {
			return err
		}
	}
	if err := w.ses.exec(ctx, w.s.Dialect.Begin); err != nil {
		w.drop()
		return err
	}
	if err := u.job(ctx, w.ses); err != nil {
		return errors.Join(err, w.end(ctx, "rollback"))
	}
	if err := w.end(ctx, "commit"); err != nil {
		return &unsureError{err}
	}
	return nil
}

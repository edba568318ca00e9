package opa

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// maxStuck is how many tasks of an organisation may run on after their deadline.
// Comparing two values that share their parts can take for ever, and no evaluator stops
// in the middle of a comparison.
const maxStuck = 2

var errStuck = errors.New("opa: earlier evaluations of rules of this organisation have not ended since they were stopped")

// stuck counts, by organisation, the tasks that run after their deadline.
type stuck struct {
	mu   sync.Mutex
	by   map[tenant.ID]int
	crew crew
}

// crew runs tasks on goroutines that wait for more tasks for a while: an evaluation
// needs a deep stack, and growing one takes as long as a decision.
type crew struct {
	once sync.Once
	jobs chan func()
}

// patience is how long a goroutine waits for another task.
const patience = 10 * time.Second

func (c *crew) do(job func()) {
	c.once.Do(func() { c.jobs = make(chan func()) })
	select {
	case c.jobs <- job: // an idle goroutine takes the job
	default:
		go func() {
			t := time.NewTimer(patience)
			defer t.Stop()
			for {
				job()
				t.Reset(patience)
				select {
				case job = <-c.jobs:
				case <-t.C:
					return
				}
			}
		}()
	}
}

func (s *stuck) add(org tenant.ID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[tenant.ID]int{}
	}
	if s.by[org] += n; s.by[org] == 0 {
		delete(s.by, org)
	}
}

// within runs a task of an organisation while ctx lasts. When ctx ends, within returns
// at once; the task is counted as stuck until it ends.
func within[T any](ctx context.Context, s *stuck, org tenant.ID, work func() (T, error)) (T, error) {
	var none T
	s.mu.Lock()
	full := s.by[org] >= maxStuck
	s.mu.Unlock()
	if full {
		return none, errStuck
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	s.crew.do(func() {
		var o outcome
		defer func() {
			switch p := recover().(type) {
			case nil:
			case error:
				o = outcome{none, fmt.Errorf("opa: the evaluator gave up: %w", p)}
			default:
				o = outcome{none, fmt.Errorf("opa: the evaluator gave up: %v", p)}
			}
			done <- o
		}()
		o.value, o.err = work()
	})
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		s.add(org, 1)
		go func() {
			<-done
			s.add(org, -1)
		}()
		return none, ctx.Err()
	}
}

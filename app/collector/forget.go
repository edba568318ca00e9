package collector

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/retry"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// Old records are deleted now and then in small steps, between which records are
// stored. Days are joined the same way, some time after they have ended, because
// records may come late.
const (
	forgetEvery = time.Minute
	rollEvery   = 15 * time.Minute
	rollAfter   = 2 * time.Hour
	betweenSome = 20 * time.Millisecond
)

// forget deletes calls and counters that are too old, or too many.
func (s *Service) forget(ctx context.Context) {
	trouble, now := s.trouble("old analytics cannot be forgotten"), system.Steady(s.now)
	defer trouble(nil)
	for retry.Sleep(ctx, forgetEvery) == nil {
		trouble(s.each(func(sink analytics.Sink) error {
			keep := analytics.Retention{Now: now(), Calls: s.Calls, Bytes: s.Bytes, Counters: s.Counters}
			s.mu.Lock()
			for _, c := range s.pending {
				keep.Open = append(keep.Open, c.Claim)
			}
			s.mu.Unlock()
			var total int64
			err := some(ctx, func() (bool, error) {
				n, more, err := sink.Forget(ctx, keep)
				total += n
				return more, err
			})
			if total > 0 {
				s.log.Info("old analytics forgotten", "rows", total)
			}
			return err
		}))
	}
}

// each does something with every sink and returns all failures: a sink that works says
// nothing about one that does not.
func (s *Service) each(do func(analytics.Sink) error) error {
	var wrong []error
	for _, sink := range s.Sinks {
		if err := do(sink); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", sink.Name(), err))
		}
	}
	return errors.Join(wrong...)
}

// roll joins the counters of days that have ended.
func (s *Service) roll(ctx context.Context) {
	trouble := s.trouble("counters of past days cannot be joined; questions about long periods take longer")
	defer trouble(nil)
	for pause := forgetEvery; retry.Sleep(ctx, pause) == nil; pause = rollEvery {
		trouble(s.each(func(sink analytics.Sink) error {
			return some(ctx, func() (bool, error) {
				_, more, err := sink.Roll(ctx, s.now().Add(-rollAfter))
				return more, err
			})
		}))
	}
}

// some calls step until it reports that there is no more to do.
func some(ctx context.Context, step func() (more bool, err error)) error {
	for {
		more, err := step()
		if err != nil || !more {
			return err
		}
		if err := retry.Sleep(ctx, betweenSome); err != nil {
			return err
		}
	}
}

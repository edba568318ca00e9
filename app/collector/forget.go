package collector

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// What is old is looked for now and then, and deleted in small steps, between which
// records are stored.
const (
	forgetEvery = time.Minute
	forgetPause = 20 * time.Millisecond
)

// forget deletes what is older than wanted.
func (s *Service) forget(ctx context.Context) {
	trouble := s.trouble("old analytics cannot be forgotten")
	defer trouble(nil)
	for retry.Sleep(ctx, forgetEvery) == nil {
		for _, sink := range s.Sinks {
			trouble(s.forgetIn(ctx, sink))
		}
	}
}

func (s *Service) forgetIn(ctx context.Context, sink analytics.Sink) error {
	keep := analytics.Retention{Now: s.now(), Calls: s.Calls, Bytes: s.Bytes, Counters: s.Counters}
	s.mu.Lock()
	for _, c := range s.pending {
		keep.Open = append(keep.Open, c.Claim)
	}
	s.mu.Unlock()
	var total int64
	for {
		n, more, err := sink.Forget(ctx, keep)
		total += n
		if err == nil && more {
			err = retry.Sleep(ctx, forgetPause)
		}
		if err != nil || !more {
			if total > 0 {
				s.log.Info("old analytics forgotten", "rows", total)
			}
			return err
		}
	}
}

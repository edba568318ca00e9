package collector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// askTimeout bounds one call of the queue, or a few. Lists expire after a minute.
const askTimeout = 10 * time.Second

// claim claims the entries of the lists, again and again. It does not wait until they
// are stored, because the lists expire.
func (s *Service) claim(ctx context.Context) {
	trouble := s.trouble("records of gateways cannot be claimed")
	defer trouble(nil)
	pause := retry.New(s.Every, max(s.Every, 5*time.Second))
	for ctx.Err() == nil {
		err := s.round(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble(err)
		if err != nil {
			_ = pause.Wait(ctx)
			continue
		}
		pause.Reset()
	}
}

// round reads the lengths of the lists, waits, reads them again, and claims the lists.
// Between the two reads a list only grows, unless another program takes entries from it
// or it expires.
func (s *Service) round(ctx context.Context) error {
	if err := s.recover(ctx); err != nil {
		return err
	}
	lists := analytics.Lists()
	before, err := s.levels(ctx, lists)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := retry.Sleep(ctx, s.Every/2); err != nil {
		return err
	}
	now, err := s.levels(ctx, lists)
	if err != nil {
		return err
	}
	for i, l := range lists {
		if b := before[i]; now[i].Entries < b.Entries && (b.Expires == 0 || b.Expires > time.Since(began)+time.Second) {
			s.meet(ctx, l)
		}
		if now[i].Entries == 0 {
			continue
		}
		s.mu.Lock()
		full := s.full()
		s.mu.Unlock()
		if full {
			return fmt.Errorf("%d entries wait to be stored (analytics.collect_backlog); no more are claimed, and gateways drop them after a minute", s.Backlog)
		}
		if err := s.take(ctx, l); err != nil {
			return err
		}
	}
	return retry.Sleep(ctx, s.Every/2)
}

func (s *Service) levels(ctx context.Context, lists []analytics.List) ([]analytics.Level, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return s.Queue.Levels(ctx, lists)
}

// take claims the entries of one list.
func (s *Service) take(ctx context.Context, l analytics.List) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	// The name begins with the time, so that claims are stored in the order in which
	// they were made.
	c, ok, err := s.Queue.Claim(ctx, l, fmt.Sprintf("%016x-%08x", s.now().UnixNano(), rand.Uint32()))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.lost = true // the list may have been claimed all the same
		return err
	}
	if ok {
		s.pending = append(s.pending, c)
		s.signal()
	}
	return nil
}

// recover adds claims that this process does not know to pending: those of a process
// that died, and those for which the response of the queue was lost.
func (s *Service) recover(ctx context.Context) error {
	s.mu.Lock()
	lost := s.lost
	s.mu.Unlock()
	if !lost {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	open, err := s.Queue.Open(ctx)
	if err != nil {
		return err
	}
	shared, err := s.Queue.Shared(ctx, analytics.Lists())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range shared { // what the process before noticed
		if _, known := s.others[l.Name]; !known {
			s.others[l.Name] = s.now()
		}
	}
	known := map[string]bool{}
	for _, c := range s.pending {
		known[c.Claim] = true
	}
	for _, c := range open {
		if !known[c.Claim] {
			s.pending = append(s.pending, c)
		}
	}
	s.lost = false
	s.signal()
	return nil
}

func (s *Service) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// meet notes that another program takes entries from a list. It tells other processes
// and commands as well.
func (s *Service) meet(ctx context.Context, l analytics.List) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := s.Queue.Share(ctx, l, othersFor); err != nil {
		s.log.Debug("that another program reads a list cannot be noted", "error", err)
	}
	s.mu.Lock()
	last := s.others[l.Name]
	s.others[l.Name] = s.now()
	s.mu.Unlock()
	if s.now().Sub(last) >= othersFor {
		s.log.Warn("another program takes records from the list of the gateways, most likely tyk-pump: each of both gets a share, so that numbers are too low in both; stop the other one or switch analytics.collect off", "list", l.Name)
	}
}

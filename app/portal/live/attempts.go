package live

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// flights are the running login attempts. They count as failed: an attempt that would exceed
// the limit waits until one of them succeeds, or all have failed.
type flights struct {
	by      map[string]int // by the limit they count against
	landed  chan struct{}  // closed when the next attempt ends
	waiting int
}

// Bounds of waiting for concurrent attempts.
const (
	flightPatience = 5 * time.Second
	maxWaiting     = queued
)

// attempt makes a login attempt if the account and the network have attempts left. It counts
// as failed before it is made, so that concurrent attempts cannot exceed the limit. Unknown
// accounts are locked as well.
func (s *Service) attempt(ctx context.Context, in loginIn, rules setting.Settings, make func() (bool, error)) (right bool, err error) {
	name, from := account.Address(in.Login.Email), operation.Network(in.Origin.Remote)
	if len(name) > password.Longest {
		name = name[:password.Longest]
	}
	end := time.NewTimer(flightPatience)
	defer end.Stop()
	for {
		over, taken := s.take(name, from, rules)
		if taken {
			break
		}
		if over == nil {
			return false, wrong
		}
		if err := s.outlast(ctx, over, end.C); err != nil {
			return false, err
		}
	}
	defer func() { s.land(name, from, err != nil || right) }()
	return make()
}

// outlast waits until a running attempt has ended.
func (s *Service) outlast(ctx context.Context, over <-chan struct{}, end <-chan time.Time) error {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.flights.waiting--
	}()
	select {
	case <-over:
		return nil
	case <-end:
		return wrong
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take begins an attempt. If none is left, it returns a channel that is closed when a running
// attempt ends; nil: none is running, or too many callers wait already.
func (s *Service) take(name, from string, rules setting.Settings) (over <-chan struct{}, taken bool) {
	window, now, f := time.Duration(rules.LoginLockTime)*time.Second, s.Now(), &s.flights
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names.Limit, s.names.Window = int(rules.LoginAttempts), window
	s.networks.Limit, s.networks.Window = wrongPerNetwork, window
	against := ""
	switch {
	case s.networks.Take(now, from) > 0:
		against = byNetwork + from
	case s.names.Take(now, name) > 0:
		s.networks.GiveBack(from)
		against = byName + name
	default:
		f.by[byNetwork+from]++
		f.by[byName+name]++
		return nil, true
	}
	if f.by[against] == 0 || f.waiting >= maxWaiting {
		return nil, false
	}
	f.waiting++
	return f.landed, false
}

// The limits that flights count against.
const (
	byNetwork = "network "
	byName    = "name "
)

// land ends an attempt.
func (s *Service) land(name, from string, right bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if right {
		s.networks.GiveBack(from)
		s.names.GiveBack(name)
	}
	f := &s.flights
	for _, against := range []string{byNetwork + from, byName + name} {
		if f.by[against]--; f.by[against] == 0 {
			delete(f.by, against)
		}
	}
	close(f.landed)
	f.landed = make(chan struct{})
}

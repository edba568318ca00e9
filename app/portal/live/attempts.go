package live

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/setting"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// flights are the attempts to log in that are under way. They count as wrong: an attempt for
// which they leave no room waits until one of them has turned out right, or all wrong.
type flights struct {
	by      map[string]int // by what they count against
	landed  chan struct{}  // closed when the next one is over
	waiting int
}

// Bounds of waiting for the attempts of the same moment.
const (
	flightPatience = 5 * time.Second
	maxWaiting     = queued
)

// attempt makes an attempt to log in if the account and the network have some left. It is
// counted as wrong before it is made, so that many at once are no way around the limit. An
// account is locked whether or not there is one.
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

// outlast waits until an attempt that is under way has ended.
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

// take begins an attempt. Where there is none left, it returns what is closed when one that is
// under way has ended; nil: none is, or too many wait already.
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

// What flights count against.
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

package keys

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/retry"
)

// Gateways load a policy about a second after it is created, gets another ID, or is
// published. Scripts create a policy and then, at once, a key with it.
const (
	young    = 10 * time.Second // policies that gateways may not have loaded yet
	patience = 3 * time.Second  // how long gateways get to load them
)

// fresh reports whether one of the policies of a session changed less than young ago.
func (s *Service) fresh(k sight, ids []string) bool {
	for _, id := range ids {
		if p, known := k.Policies[id]; known && s.Now().Sub(p.Changed()) < young {
			return true
		}
	}
	return false
}

// patiently calls ask again when a gateway refuses the call because it may not have
// loaded a policy yet.
func patiently(ctx context.Context, fresh bool, ask func() error) error {
	end := time.Now().Add(patience)
	pause := retry.New(50*time.Millisecond, 500*time.Millisecond)
	for {
		err := ask()
		if !fresh || !errors.Is(err, gateway.ErrRefused) || time.Now().After(end) {
			return err
		}
		if ended := pause.Wait(ctx); ended != nil {
			return err
		}
	}
}

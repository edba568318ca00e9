package rulebook

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// ReplayOf replays the last writes with a text as rules.
func (s *Service) ReplayOf(ctx context.Context, scope tenant.Scope, who operation.Principal, text string, last int) (Replay, error) {
	return s.Replay(ctx, replayIn{scope, who, replayed{policyBody{&policyText{&text}}, &last}})
}

// Hurry sets the time limit of replays to a past time.
func (s *Service) Hurry() { s.replayTime = -time.Second }

// Busy occupies all replays that may run at once.
func (s *Service) Busy() {
	for range maxReplays {
		s.replays <- struct{}{}
	}
}

// MaxLooked is how many records a replay reads.
const MaxLooked = maxLooked

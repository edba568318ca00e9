package rulebook

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// ReplayOf replays the newest writes with a text.
func (s *Service) ReplayOf(ctx context.Context, scope tenant.Scope, who operation.Principal, text string, last int) (Replay, error) {
	return s.Replay(ctx, replayIn{scope, who, replayed{policyBody{&policyText{&text}}, &last}})
}

// Hurry leaves no time for replays.
func (s *Service) Hurry() { s.replayTime = -time.Second }

// Busy takes the place of all replays that may be under way.
func (s *Service) Busy() {
	for range maxReplays {
		s.replays <- struct{}{}
	}
}

// MaxLooked is how many records a replay looks through.
const MaxLooked = maxLooked

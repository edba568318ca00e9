package keys

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
)

// purge is all there is to say of the removal of all keys.
type purge struct{}

// Purge removes the keys of an organisation that is gone from gateways. While gateways are
// away, that goes on later: what is begun is an intent (docs/wire/organisations.md#replace-and-delete).
func (s *Service) Purge(ctx context.Context, scope tenant.Scope) error {
	err := s.empty.Run(ctx, scope, intent.Subject{Kind: "keys", ID: string(scope.Org())}, &purge{})
	if errors.Is(err, gateway.ErrUnreachable) || errors.Is(err, gateway.ErrUncertain) || errors.Is(err, context.DeadlineExceeded) {
		return nil // it goes on later
	}
	return err
}

// purging removes one key after the other. An organisation that was created anew meanwhile
// keeps its keys.
func (s *Service) purging(org tenant.ID, _ *purge) intents.Plan {
	return intents.Plan{Steps: []intents.Step{{Name: "delete", Do: func(ctx context.Context) error {
		hashes, err := s.Gateways.Keys(ctx, org, "")
		if err != nil {
			return err
		}
		for _, hash := range hashes {
			switch there, err := s.Exists(ctx, org); {
			case err != nil:
				return err
			case there:
				return fault.New(fault.Conflict, codePurge, "the organisation was created anew meanwhile; its keys stay")
			}
			err := s.Gateways.DeleteKey(ctx, org, gateway.KeyName{Text: hash, By: gateway.ByHash})
			if err != nil && !errors.Is(err, gateway.ErrUnknown) {
				return err
			}
		}
		return nil
	}}}}
}

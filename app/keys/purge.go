package keys

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/app/intents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/intent"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// purge is all there is to say of the removal of all keys.
type purge struct{}

// Purge removes from gateways what an organisation that is gone has there: keys,
// certificates and limits. While gateways are away, that goes on later: what is begun is an
// intent (docs/wire/organisations.md#replace-and-delete).
func (s *Service) Purge(ctx context.Context, scope tenant.Scope) error {
	err := s.empty.Run(ctx, scope, intent.Subject{Kind: "keys", ID: string(scope.Org())}, &purge{})
	if gateway.Away(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil // it goes on later
	}
	return err
}

// purging removes one thing after the other. An organisation that was created anew meanwhile
// keeps what is left.
func (s *Service) purging(org tenant.ID, _ *purge) intents.Plan {
	return intents.Plan{Did: store.Deleted, Steps: []intents.Step{
		{Name: "delete", Do: func(ctx context.Context) error {
			hashes, err := s.Gateways.Keys(ctx, org, "")
			for ; err == nil && len(hashes) > 0; hashes = hashes[1:] {
				err = s.take(ctx, org, func() error {
					return s.Gateways.DeleteKey(ctx, org, gateway.KeyName{Text: hashes[0], By: gateway.ByHash})
				})
			}
			return err
		}},
		{Name: "delete certificates", Do: func(ctx context.Context) error {
			all, err := s.Certificates.ListCertificates(ctx, org)
			for ; err == nil && len(all) > 0; all = all[1:] {
				err = s.take(ctx, org, func() error { return s.Certificates.DeleteCertificate(ctx, org, all[0].ID) })
			}
			return err
		}},
		{Name: "delete limits", Do: func(ctx context.Context) error {
			return s.take(ctx, org, func() error { return s.Limits.DeleteOrgKey(ctx, org) })
		}},
	}}
}

// take removes one thing unless the organisation is there again.
func (s *Service) take(ctx context.Context, org tenant.ID, remove func() error) error {
	there, err := s.Exists(ctx, org)
	if err != nil {
		return err
	}
	if there {
		return fault.New(fault.Conflict, codePurge, "the organisation was created anew meanwhile; what it has in gateways stays")
	}
	if err := remove(); !errors.Is(err, gateway.ErrUnknown) {
		return err
	}
	return nil
}

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

// purge is the intent to delete all keys. It has no data.
type purge struct{}

// Purge removes from gateways what belongs to a deleted organisation: keys,
// certificates and limits. If gateways are unreachable, the purge continues later,
// because it is an intent (docs/wire/organisations.md#replace-and-delete).
func (s *Service) Purge(ctx context.Context, scope tenant.Scope) error {
	err := s.empty.Run(ctx, scope, intent.Subject{Kind: "keys", ID: string(scope.Org())}, &purge{})
	if gateway.Away(err) || errors.Is(err, context.DeadlineExceeded) {
		return nil // the purge continues later
	}
	return err
}

// purging returns the plan that removes one record after the other. If the organisation
// is created again meanwhile, it keeps the rest.
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

// take removes one record, unless the organisation exists again.
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

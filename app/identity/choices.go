package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Choose changes the settings that an organisation makes for itself, if the condition
// holds, and returns the serial of the organisation.
func (s *Service) Choose(ctx context.Context, scope tenant.Scope, when store.Condition, fn func(identity.Organisation) (identity.Organisation, error)) (store.Serial, error) {
	return store.Write(ctx, s.Store, scope, func(w store.Writer) (store.Serial, error) {
		o, err := organisations.Revise(ctx, w, string(scope.Org()), when, fn)
		return o.Serial, err
	})
}

// Custom returns the additional permissions of an organisation, by name and label.
func (s *Service) Custom(o identity.Organisation) map[string]string {
	if len(o.AdditionalPermissions) == 0 && !o.NoAdditional && s.Preset != nil {
		return s.Preset
	}
	return o.AdditionalPermissions
}

// Someone returns a user of an organisation as calls of that user would be decided
// about, or a NotFound fault.
func (s *Service) Someone(ctx context.Context, scope tenant.Scope, id string) (p operation.Principal, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		u, err := users.Get(ctx, r, id)
		if err != nil {
			return err
		}
		p, err = principal(ctx, r, u.Value)
		return err
	})
	return p, err
}

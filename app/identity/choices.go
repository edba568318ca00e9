package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Choose changes what an organisation decides itself, if the condition holds, and
// returns the serial of the organisation.
func (s *Service) Choose(ctx context.Context, scope tenant.Scope, when store.Condition, fn func(identity.Organisation) (identity.Organisation, error)) (store.Serial, error) {
	return store.Write(ctx, s.Store, scope, func(w store.Writer) (store.Serial, error) {
		o, err := organisations.Revise(ctx, w, string(scope.Org()), when, fn)
		return o.Serial, err
	})
}

// Someone returns a user of an organisation as calls of that user would be decided
// about, or a NotFound fault.
func (s *Service) Someone(ctx context.Context, scope tenant.Scope, id string) (p operation.Principal, err error) {
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		u, err := users.Get(ctx, r, id)
		p = principal(u.Value)
		return err
	})
	return p, err
}

// principal is a user as operations see the caller.
func principal(u identity.User) operation.Principal {
	return operation.Principal{ID: u.ID, OrgID: u.OrgID, GroupID: u.GroupID, Email: u.Email, Active: u.Active, Permissions: u.Effective()}
}

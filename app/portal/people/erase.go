package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Erase deletes a user who wants to go, after what the user has at others has ended. Admins
// are deleted by other admins.
func (s *Service) Erase(ctx context.Context, st store.Store, in tenant.Scope, at crud.Stamp, id table.ID) error {
	find := func(ctx context.Context, r store.Reader) (account.User, error) {
		u, err := portal.Find(ctx, r, Users, id.String())
		if err == nil && u.Admin() {
			err = fault.New(fault.Invalid, CodeCaller, "An admin cannot delete the own account: another admin can")
		}
		return u, err
	}
	c := &change{Op: store.Deleted, Scope: in}
	return insist(ctx, c, func(ctx context.Context) error {
		if err := st.View(ctx, in, func(r store.Reader) (err error) {
			c.Old, err = find(ctx, r)
			return err
		}); err != nil {
			return err
		}
		if err := s.prepareUser(ctx, c); err != nil {
			return err
		}
		_, err := st.Update(ctx, in, func(w store.Writer) error {
			u, err := find(ctx, w)
			if err == nil {
				err = portal.Remove(ctx, w, Users, id, at)
			}
			if err == nil {
				err = s.follow(ctx, w, at, &u, nil)
			}
			return err
		})
		return err
	})
}

package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Leaver returns a user who may delete the own account: admins are deleted by other admins.
func Leaver(ctx context.Context, r store.Reader, id table.ID) (account.User, error) {
	u, err := portal.Find(ctx, r, Users, id.String())
	if err == nil && u.Admin() {
		err = fault.New(fault.Invalid, CodeCaller, "An admin cannot delete the own account: another admin can")
	}
	return u, err
}

// Remove deletes a user who wants to go, in a unit of work and after what the user had at
// others has ended: a fault with CodeMore says that there is more by now.
func (s *Service) Remove(ctx context.Context, w store.Writer, at crud.Stamp, id table.ID) error {
	u, err := Leaver(ctx, w, id)
	if err == nil {
		err = portal.Remove(ctx, w, Users, id, at)
	}
	if err == nil {
		err = s.follow(ctx, w, at, &u, nil)
	}
	return err
}

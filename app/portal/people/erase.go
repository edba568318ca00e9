package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Leaver returns a user whose account may be deleted: by the user, or by an admin when sent
// says so. Admins are deleted by other admins, and the last super-admin stays.
func Leaver(ctx context.Context, r store.Reader, id table.ID, sent bool) (account.User, error) {
	u, err := portal.Find(ctx, r, Users, id.String())
	switch {
	case err != nil:
	case sent:
		err = stays(ctx, r, u)
	case u.Admin():
		err = ownAccount()
	}
	return u, err
}

// Remove deletes a user as Leaver lets, in a unit of work and after what the user had at
// others has ended: a fault with CodeMore says that there is more by now.
func (s *Service) Remove(ctx context.Context, w store.Writer, at crud.Stamp, id table.ID, sent bool) error {
	u, err := Leaver(ctx, w, id, sent)
	if err == nil {
		err = portal.Remove(ctx, w, Users, id, at)
	}
	if err == nil {
		err = s.follow(ctx, w, at, &u, nil)
	}
	return err
}

package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Records is the kind of users, for packages that refer to users in records of their
// own.
var Records = users

// ByAddress returns up to most active users with a mail address, in all organisations
// that exist or in one. Users without organisation are left out: they do not log in
// with a browser.
func (s *Service) ByAddress(ctx context.Context, email string, org tenant.ID, most int) (found []identity.User, err error) {
	err = s.Store.View(ctx, tenant.Everyone("log in"), func(r store.Reader) error {
		for u, err := range users.Find(ctx, r, store.Query{Index: byEmail, Value: email}) {
			if err != nil {
				return err
			}
			if v := u.Value; !v.Active || v.OrgID == "" || org != "" && v.OrgID != org {
				continue
			}
			if err := s.alive(ctx, r, u.Value.OrgID); fault.KindOf(err) == fault.Unauthenticated {
				continue
			} else if err != nil {
				return err
			}
			if found = append(found, u.Value); len(found) == most {
				return nil
			}
		}
		return nil
	})
	return found, err
}

// InOrganisation returns the user with a mail address in the organisation of the
// reader's scope, or a NotFound fault.
func (s *Service) InOrganisation(ctx context.Context, r store.Reader, email string) (identity.User, error) {
	u, err := users.ByKey(ctx, r, byEmail, email)
	return u.Value, err
}

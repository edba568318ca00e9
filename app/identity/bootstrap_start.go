package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// carriedOut returns what an earlier start has made of the same settings and admins have changed
// since: the organisation has another admin, or another slug, or is deleted, so that nothing is
// there. It returns nil where the rest of a bootstrap is to look itself.
func (s *Service) carriedOut(ctx context.Context, f First) (*Bootstrapped, error) {
	org, err := s.organisationOf(ctx, f)
	if err != nil {
		return nil, err
	}
	if org == "" {
		return s.missed(ctx, f)
	}
	if u, err := s.byEmail(ctx, org, f.Email); err != nil || u != nil {
		return nil, err
	}
	scope, err := tenant.Of(org)
	if err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, scope, func(r store.Reader) error { return s.keepAdmin(ctx, r, org) })
	switch {
	case err == nil:
		return &Bootstrapped{OrgID: org}, nil
	case fault.CodeOf(err) != codeLastAdmin:
		return nil, err
	case f.OrgID != "" || s.MultiOrg:
		return nil, nil
	}
	u, _, err := s.anywhere(ctx, f) // another organisation may have got the slug of the one that was renamed
	if err != nil || u == nil {
		return nil, err
	}
	return &Bootstrapped{OrgID: u.OrgID, UserID: u.ID}, nil
}

// missed is carriedOut where the organisation is not there. One that was deleted has left its
// users: made again under its identifier it would have all its records again, and under
// another one an admin with the key and the password of the deleted one.
func (s *Service) missed(ctx context.Context, f First) (*Bootstrapped, error) {
	if f.OrgID != "" {
		scope, err := tenant.Of(tenant.ID(f.OrgID))
		if err != nil {
			return nil, err
		}
		n := 0
		err = s.Store.View(ctx, scope, func(r store.Reader) error {
			_, err := organisations.Locate(ctx, r, f.OrgID)
			if fault.KindOf(err) != fault.NotFound {
				return err // another replica has just made it
			}
			n, err = r.Count(ctx, store.Query{Kind: users.Name})
			return err
		})
		if err != nil || n == 0 {
			return nil, err
		}
		return &Bootstrapped{}, nil
	}
	u, gone, err := s.anywhere(ctx, f)
	if err != nil {
		return nil, err
	}
	if u != nil {
		return &Bootstrapped{OrgID: u.OrgID, UserID: u.ID}, nil
	}
	if empty, err := s.Empty(ctx); err != nil || empty || !gone {
		return nil, err
	}
	return &Bootstrapped{}, nil
}

// anywhere returns the user who has the address or the access key of the first admin, in
// whatever organisation there is, or nil, and whether one of a deleted organisation has the
// address.
func (s *Service) anywhere(ctx context.Context, f First) (found *identity.User, gone bool, err error) {
	email, err := identity.CleanEmail(f.Email)
	if err != nil {
		return nil, false, err
	}
	err = s.Store.View(ctx, tenant.Everyone("bootstrap"), func(r store.Reader) (err error) {
		if found, gone, err = s.living(ctx, r, byEmail, email); err == nil && found == nil {
			found, err = s.keyed(ctx, r, f.AccessKey)
		}
		return err
	})
	return found, gone, err
}

// keyed returns the user of an organisation that is there who has an access key, or nil.
func (s *Service) keyed(ctx context.Context, r store.Reader, key string) (*identity.User, error) {
	if key == "" {
		return nil, nil
	}
	for _, digest := range s.Keys.Digests(key) {
		if u, _, err := s.living(ctx, r, byKey, digest); err != nil || u != nil {
			return u, err
		}
	}
	return nil, nil
}

package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// carriedOut returns the result of an earlier start with the same settings, if admins
// have changed it since: the organisation has another admin or another slug, or was
// deleted, so that it does not exist. It returns nil if Bootstrap has to go on and look
// for itself.
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
	u, _, err := s.anywhere(ctx, f) // another organisation may have taken the slug of the renamed one
	if err != nil || u == nil {
		return nil, err
	}
	return &Bootstrapped{OrgID: u.OrgID, UserID: u.ID}, nil
}

// missed is carriedOut for an organisation that does not exist. A deleted organisation
// leaves its users behind. Created again under the same ID, it would have all its
// records again. Created under another ID, it would get an admin with the access key
// and the password of the deleted organisation's admin.
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
				return err // another replica has just created it
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

// anywhere returns the user of any existing organisation that has the mail address or
// the access key of the first admin, or nil. gone reports whether a user of a deleted
// organisation has the mail address.
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

// keyed returns the user of an existing organisation that has an access key, or nil.
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

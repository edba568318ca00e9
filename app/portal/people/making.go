package people

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/organisation"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Make stores a new user in the organisation and teams of the user's role.
func (s *Service) Make(ctx context.Context, w store.Writer, at crud.Stamp, u account.User) (account.User, error) {
	u, err := settled(ctx, w, account.User{}, u)
	if err != nil {
		return u, err
	}
	if u, err = portal.Add(ctx, w, Users, at, u); err != nil {
		return u, err
	}
	err = s.follow(ctx, w, at, nil, &u)
	return u, err
}

// Move changes a user and puts it into an organisation.
func (s *Service) Move(ctx context.Context, w store.Writer, at crud.Stamp, id, to table.ID, fn func(account.User) account.User) (account.User, error) {
	return s.Edit(ctx, w, id, at, func(before account.User) (account.User, error) {
		u := fn(before)
		u.OrganisationID = to
		return settled(ctx, w, before, u)
	})
}

// MakeOrganisation stores a new organisation and its default team.
func (s *Service) MakeOrganisation(ctx context.Context, w store.Writer, at crud.Stamp, o organisation.Organisation) (organisation.Organisation, error) {
	o, err := portal.Add(ctx, w, Organisations, at, o)
	if err == nil {
		_, err = portal.Add(ctx, w, Teams, at, o.FirstTeam())
	}
	return o, err
}

// Unnamed reports whether no organisation has this name.
func Unnamed(ctx context.Context, r store.Reader, name string) (bool, error) {
	_, err := Organisations.ByKey(ctx, r, "name", store.Indexed(name))
	if fault.KindOf(err) == fault.NotFound {
		return true, nil
	}
	return false, err
}

// HandOver transfers a user's belongings to another user of the organisation.
func (s *Service) HandOver(ctx context.Context, w store.Writer, at crud.Stamp, from, to table.ID) error {
	for _, f := range s.Followers {
		if f.HandOver == nil {
			continue
		}
		if err := f.HandOver(ctx, w, at, from, to); err != nil {
			return err
		}
	}
	return nil
}

// Of returns the users of an organisation, in order of number.
func Of(ctx context.Context, r store.Reader, id table.ID) ([]account.User, error) {
	return usersBy(ctx, r, byOrganisation, id)
}

// Listed returns a user for lists.
func Listed(u account.User) ListedUser {
	return ListedUser{u.ID, u.CID, u.Active, u.Email, u.First, u.Last, u.OrganisationID, u.Role, u.Provider}
}

// Acceptable returns an error for a password that violates the rules.
func Acceptable(ctx context.Context, r store.Reader, password string) error {
	lacks, err := Lacking(ctx, r, password)
	if err == nil && len(lacks) > 0 {
		err = table.Problems(lacks).Err()
	}
	return err
}

// Personal redacts personal data of bodies and records in the audit trail, in other logs
// and elsewhere, so that they need not be erased there; numbers stay.
func Personal(more ...string) operation.Option {
	return operation.Redact(append([]string{"Email", "First", "Last", "CustomAttributes", "Attributes", "Password", "JWTToken"}, more...)...)
}

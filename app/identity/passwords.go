package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/password"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// PasswordSettings says which passwords users may have, and for how long
// (docs/wire/authentication.md#passwords).
type PasswordSettings struct {
	Policy  password.Policy
	History int  // the last passwords that are refused, the current one among them; 0: none
	MaxDays int  // for which a password may be kept; 0: for ever
	First   bool // a password that somebody else chose is changed before anything else
}

// Codes of the faults of passwords that are chosen.
const (
	CodeNewPassword  = identity.UserKind + ".new_password"
	CodeUsedPassword = identity.UserKind + ".password_used" // the user has had it
)

// Chosen returns the hash of a password that a user chooses, or says what it lacks.
func (s *Service) Chosen(ctx context.Context, u identity.User, chosen string) (string, error) {
	if err := s.acceptable("new_password", u, chosen); err != nil {
		return "", err
	}
	if err := s.anew(ctx, u, chosen); err != nil {
		return "", err
	}
	return s.Passwords.Hash(chosen)
}

// Choosing returns a user with a password that it chose.
func (s *Service) Choosing(u identity.User, hash string) identity.User {
	return s.withPassword(u, hash, false)
}

// acceptable refuses a password that breaks the policy, or that the user has had.
func (s *Service) acceptable(field string, u identity.User, chosen string) error {
	if lacks := s.Policy.Lacks(chosen); lacks != "" {
		return fault.New(fault.Invalid, identity.UserKind+"."+field, "%s must have %s", field, lacks).At(field)
	}
	had := append([]string{u.Credentials.PasswordHash}, u.Credentials.Earlier...)
	for _, hash := range had[:min(len(had), s.History, password.MostKept)] {
		if hash != "" && s.Passwords.Verify(hash, chosen) {
			return fault.New(fault.Invalid, CodeUsedPassword, "%s must differ from the last %d passwords", field, s.History).At(field)
		}
	}
	return nil
}

// anew refuses the current password as the one that a user chooses while it must be changed.
func (s *Service) anew(ctx context.Context, u identity.User, chosen string) error {
	must := false
	err := s.Store.View(ctx, Home(u), func(r store.Reader) (err error) {
		must, err = s.MustChange(ctx, r, u)
		return err
	})
	if h := u.Credentials.PasswordHash; err == nil && must && h != "" && s.Passwords.Verify(h, chosen) {
		err = fault.New(fault.Invalid, CodeUsedPassword, "new_password must differ from the current password, which has to be changed").At("new_password")
	}
	return err
}

// withPassword returns a user with another password. given says that somebody else
// chose it.
func (s *Service) withPassword(u identity.User, hash string, given bool) identity.User {
	c := &u.Credentials
	c.Earlier = password.Kept(c.PasswordHash, c.Earlier, s.History)
	c.PasswordHash, u.PasswordUpdated, u.PasswordGiven = hash, s.Now(), given
	return u
}

// MustChange reports whether a user must choose another password before anything else.
func (s *Service) MustChange(ctx context.Context, r store.Reader, u identity.User) (bool, error) {
	if s.First && u.PasswordGiven {
		return true, nil
	}
	list, err := groupsOf(ctx, r, u)
	if err != nil {
		return false, err
	}
	var days []int
	for _, g := range list {
		if g.Active {
			days = append(days, g.PasswordMaxDays)
		}
	}
	return password.Expired(u.PasswordUpdated, password.Days(u.PasswordMaxDays, days, s.MaxDays), s.Now()), nil
}

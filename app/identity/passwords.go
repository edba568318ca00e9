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
	History int  // number of last passwords that are refused, including the current one; 0: none
	MaxDays int  // after which a password must be changed; 0: never
	First   bool // a password that another user chose must be changed before anything else
}

// Codes of the faults of new passwords.
const (
	CodeNewPassword  = identity.UserKind + ".new_password"
	CodeUsedPassword = identity.UserKind + ".password_used" // the user has had this password before
)

// Chosen returns the hash of a password that a user chooses, or an error that says what
// it lacks.
func (s *Service) Chosen(ctx context.Context, u identity.User, chosen string) (string, error) {
	if err := s.acceptable("new_password", u, chosen); err != nil {
		return "", err
	}
	if err := s.anew(ctx, u, chosen); err != nil {
		return "", err
	}
	return s.Passwords.Hash(chosen)
}

// Choosing returns a user with a password that the user chose itself.
func (s *Service) Choosing(u identity.User, hash string) identity.User {
	return s.withPassword(u, hash, false)
}

// acceptable refuses a password that breaks the policy, or that the user has had
// before.
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

// anew refuses the current password as the new one while the user must change its
// password.
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

// withPassword returns a user with another password. given: another user chose it.
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

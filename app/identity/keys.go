package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ErrKeys means that users exist and that none of their access keys can be opened: the
// configured encryption keys are not those that the store was written with.
var ErrKeys = errors.New("the access keys of all users are protected with another encryption key")

// FitKeys returns ErrKeys when users exist and the configured encryption keys open no
// access key. It stops at the first access key that opens.
func (s *Service) FitKeys(ctx context.Context) error {
	return s.Store.View(ctx, tenant.Everyone("encryption keys"), func(r store.Reader) error {
		var wrong error
		for u, err := range users.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if _, _, err := s.Keys.Open(u.Value.Credentials.KeySealed); err == nil {
				return nil
			}
			wrong = ErrKeys
		}
		return wrong
	})
}

// Renewed is a user with its new access key.
type Renewed struct {
	OrgID     tenant.ID
	UserID    string
	Email     string
	AccessKey string
}

// ResetKeys gives a new access key to every user whose access key no configured
// encryption key opens. It passes each new key to tell before it stores the key, and
// stores no key that tell fails for: the key cannot be read any other way, and the old
// one would be gone.
func (s *Service) ResetKeys(ctx context.Context, tell func(Renewed) error) error {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "keys reset", Operation: "keys.reset"})
	var lost []identity.User
	err := s.Store.View(ctx, tenant.Everyone("keys reset"), func(r store.Reader) error {
		for u, err := range users.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if _, _, err := s.Keys.Open(u.Value.Credentials.KeySealed); err != nil {
				lost = append(lost, u.Value)
			}
		}
		return nil
	})
	for _, u := range lost {
		if err != nil {
			break
		}
		key := s.Keys.NewKey()
		if err = tell(Renewed{OrgID: u.OrgID, UserID: u.ID, Email: u.Email, AccessKey: key}); err != nil {
			return fmt.Errorf("user %s keeps the old access key: %w", u.ID, err)
		}
		_, err = s.Store.Update(ctx, Home(u), func(w store.Writer) error {
			_, err := users.Edit(ctx, w, u.ID, nil, func(v identity.User) (identity.User, error) { return s.sealed(v, key) })
			return err
		})
		if err != nil {
			err = fmt.Errorf("user %s keeps the old access key, not the one that was told last: %w", u.ID, err)
		}
	}
	return err
}

// sealed returns a user with an access key that is encrypted with the current secret.
func (s *Service) sealed(u identity.User, key string) (_ identity.User, err error) {
	u.Credentials.KeyDigest = s.Keys.Digests(key)[0]
	u.Credentials.KeySealed, err = s.Keys.Seal(key)
	return u, err
}

// Package door gives access to the developer portal: its first admin, the tokens of its
// API, and the probes (docs/wire/portal.md#start).
package door

import (
	"context"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Seed stores initial records of a portal.
type Seed func(ctx context.Context, w store.Writer, at crud.Stamp) error

// Config is the configuration of a Service.
type Config struct {
	crud.Tools
	Keys       secret.Keys
	Passwords  secret.Passwords
	Scope      tenant.Scope // of the portal; the zero Scope: there is none
	SigningKey string       // of tokens; "": a random key made at bootstrap
	Seeds      []Seed       // in order
	Stopping   func() bool  // reports whether changes are refused because the process is about to end; nil: never
}

// Service has the operations for access to the portal.
type Service struct{ Config }

// installation is the record that a portal has once.
type installation struct {
	Portal     tenant.ID `json:"org_id"`
	SigningKey string    `json:"signing_key"` // sealed
}

const installed = "installation"

var installations = &store.Kind[installation]{
	Name: "portal-installation", Noun: "portal",
	ID:  func(installation) string { return installed },
	Org: func(i installation) tenant.ID { return i.Portal },
}

// Registration returns the registration of the kind of installations.
func Registration() crud.Registration {
	return crud.Facts[installation]{Kind: installations, Sealed: func(i *installation) *string { return &i.SigningKey }, Sample: func(at crud.Stamp) (installation, error) {
		return installation{Portal: at.Org, SigningKey: "sealed"}, nil
	}}.Registration()
}

// Codes of faults.
const (
	CodeNotBootstrapped = "portal.not_bootstrapped"
	CodeBootstrapped    = "portal.bootstrapped"
	CodeNotAdmin        = "portal.not_admin"
)

// Authenticate is the guard's Authenticator of the portal: it sets the principal to the
// admin whose token the call has, from the current record.
func (s *Service) Authenticate(ctx context.Context, c *operation.Call) error {
	var u account.User
	err := s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		key, err := s.key(ctx, r)
		if err != nil {
			return err
		}
		name, ok := account.Verify(key, c.Token)
		if !ok {
			return guard.Unauthenticated()
		}
		u, err = people.ByToken(ctx, r, name)
		if fault.KindOf(err) == fault.NotFound {
			return guard.Unauthenticated()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !u.Active && u.Admin():
		s.Log.Warn("inactive admin of the portal refused", "user_id", int64(u.ID))
		return guard.Unauthenticated()
	case !u.Admin():
		return fault.New(fault.Denied, CodeNotAdmin, "access denied")
	}
	c.Scope = s.Scope
	c.Principal = operation.Principal{ID: account.Principal(u.ID), OrgID: s.Scope.Org(), Active: true} // the audit trail must not contain the email address
	return nil
}

// Bootstrapped is the guard's SetUp of the portal.
func (s *Service) Bootstrapped(ctx context.Context) error {
	return s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		_, err := installations.Get(ctx, r, installed)
		return there(err)
	})
}

// Begun reports whether the portal has its first admin.
func (s *Service) Begun(ctx context.Context) (bool, error) {
	err := s.Bootstrapped(ctx)
	if fault.CodeOf(err) == CodeNotBootstrapped {
		return false, nil
	}
	return err == nil, err
}

// there turns a NotFound error into the fault for a portal that is not bootstrapped.
func there(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.Unavailable, CodeNotBootstrapped, "portal is not bootstrapped")
	}
	return err
}

// key returns the key that signs tokens, or an error if the portal is not bootstrapped.
func (s *Service) key(ctx context.Context, r store.Reader) (string, error) {
	key, err := Signing(ctx, r, s.Keys, s.SigningKey)
	return key, there(err)
}

// Signing returns the key that signs the tokens of a portal: set unless that is "", else
// the stored key. A portal that has not been bootstrapped is a NotFound fault.
func Signing(ctx context.Context, r store.Reader, keys secret.Keys, set string) (string, error) {
	i, err := installations.Get(ctx, r, installed)
	if err != nil || set != "" {
		return set, err
	}
	key, _, err := keys.Open(i.Value.SigningKey)
	return key, err
}

package sso

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/app/portal/live"
	"github.com/gatehouse-io/gatehouse/app/portal/people"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/account"
	"github.com/gatehouse-io/gatehouse/core/portal/sso"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/login"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Fault codes of single sign-on.
const (
	CodeNonce   = "portal_sso.nonce"
	CodeRefused = "portal_sso.refused"
)

const byDigest = "digest"

var nonces = &store.Kind[sso.Nonce]{
	Name: sso.NonceKind, Noun: "nonce",
	ID:      func(n sso.Nonce) string { return n.ID },
	Org:     func(n sso.Nonce) tenant.ID { return n.Portal },
	Indexes: []store.Index[sso.Nonce]{store.Unique(byDigest, "nonce", func(n sso.Nonce) string { return n.Digest })},
}

// Nonces returns the registration of the kind of nonces.
func Nonces() crud.Registration {
	return crud.Facts[sso.Nonce]{Kind: nonces, Sample: func(at crud.Stamp) (sso.Nonce, error) {
		return sso.Nonce{ID: at.ID, Portal: at.Org, Digest: at.ID, Person: sso.Person{Email: "ada@example.com"}, Expires: at.Now().Add(sso.NonceLife)}, nil
	}}.Registration()
}

// Settings say who may log in.
type Settings struct {
	Secret   string // of identity brokers; "": no broker is accepted
	NoAdmins bool   // single sign-on creates no admins
	// Provider calls the identity providers of profiles; nil: only external brokers are used.
	Provider login.Provider
	// Key is part of the key that protects running logins: a new one invalidates them.
	Key string
}

// Config is the configuration of a Service.
type Config struct {
	Settings
	Scope  tenant.Scope // of the portal; the zero Scope: there is none
	People *people.Service
	Live   *live.Service
	// Profiles has the login profiles, and the address of the portal.
	Profiles *Profiles
	// Equal compares a secret with the caller's, in constant time.
	Equal func(secret, presented string) bool
}

// Service has the operations of single sign-on.
type Service struct {
	Config
	crud.Tools
}

// broker is the name of brokers in the audit trail.
const broker = "broker"

// Authenticate is the guard's Authenticator of calls by brokers, which send the secret.
func (s *Service) Authenticate(_ context.Context, c *operation.Call) error {
	if !s.Equal(s.Secret, c.Token) {
		return guard.Unauthenticated()
	}
	c.Scope, c.Principal = s.Scope, operation.Principal{ID: broker, OrgID: s.Scope.Org(), Active: true}
	return nil
}

func (s *Service) digests(nonce string) []string {
	return s.People.Keys.Digests("portal-sso\x00" + nonce)
}

// note stores a nonce by its digest.
func (s *Service) note(ctx context.Context, w store.Writer, text string, n sso.Nonce) error {
	n.ID, n.Portal, n.Digest, n.Expires = s.NewID(), s.Scope.Org(), s.digests(text)[0], s.Now().Add(sso.NonceLife)
	return nonces.Insert(ctx, w, n)
}

// spent is the fault for nonces that are unknown, used, or expired.
var spent error = fault.New(fault.Unauthenticated, CodeNonce, "This link has been used or is too old; log in again")

func refused(why string) error { return fault.New(fault.Denied, CodeRefused, "access denied: %s", why) }

// visitor is the browser that wants to log in.
type visitor struct {
	Origin  operation.Origin
	Browser operation.Browser
}

type enterIn struct {
	visitor
	Nonce string `query:"nonce" doc:"Nonce from the operation that creates nonces."`
}

// Enter begins the session of a person whom a broker has recognised. If two browsers use the
// same nonce, one succeeds.
func (s *Service) Enter(ctx context.Context, in enterIn) (out operation.Landing, err error) {
	n, err := s.nonce(ctx, in.Nonce)
	if err != nil {
		return out, err
	}
	out, err = s.enter(ctx, in.visitor, func(w store.Writer, at crud.Stamp) (u account.User, err error) {
		if _, err := nonces.Delete(ctx, w, n.ID, nil); fault.KindOf(err) == fault.NotFound {
			return u, spent
		} else if err != nil {
			return u, err
		}
		if n.UserID == 0 {
			return s.admit(ctx, w, at, n.Person)
		}
		u, err = portal.Find(ctx, w, people.Users, n.UserID.String())
		if fault.KindOf(err) == fault.NotFound {
			return u, spent
		}
		if why := (sso.Person{}).Meets(u); err == nil && why != "" {
			err = refused(why)
		}
		return u, err
	})
	// A nonce whose person was refused is used up as well. If it cannot be deleted it stays
	// valid for its minute, and the person is refused again.
	if code := fault.CodeOf(err); code == CodeRefused || code == live.CodeClosed {
		_, failed := s.Store.Update(store.Attribute(ctx, pruning), s.Scope, func(w store.Writer) error {
			_, err := nonces.Delete(ctx, w, n.ID, nil)
			return err
		})
		if failed != nil && fault.KindOf(failed) != fault.NotFound {
			s.Log.Warn("a nonce with which somebody was refused could not be forgotten", "error", failed)
		}
	}
	return out, err
}

// enter begins the session of the user that admit returns, in the same unit of work.
func (s *Service) enter(ctx context.Context, in visitor, admit func(store.Writer, crud.Stamp) (account.User, error)) (out operation.Landing, err error) {
	at := s.Stamp(s.Scope)
	_, err = s.Store.Update(ctx, s.Scope, func(w store.Writer) error {
		u, err := admit(w, at)
		if err == nil {
			out, err = s.Live.Enter(ctx, w, u, in.Browser, in.Origin)
		}
		return err
	})
	if code := fault.CodeOf(err); code == CodeRefused || code == live.CodeClosed {
		s.Log.Info("single sign-on refused", "reason", err.Error()) // the error names no person
	}
	return out, err
}

// nonce returns a nonce that is still valid.
func (s *Service) nonce(ctx context.Context, text string) (n sso.Nonce, err error) {
	err = s.Store.View(ctx, s.Scope, func(r store.Reader) error {
		for _, digest := range s.digests(text) {
			v, err := nonces.ByKey(ctx, r, byDigest, digest)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			n = v.Value
			return err
		}
		return spent
	})
	if err == nil && n.Over(s.Now()) {
		err = spent
	}
	return n, err
}

// admit returns the user account for a person. A person without an account may get one.
func (s *Service) admit(ctx context.Context, w store.Writer, at crud.Stamp, p sso.Person) (account.User, error) {
	if p.Refused {
		return account.User{}, refused(sso.ByBroker)
	}
	u, err := s.known(ctx, w, p)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return s.newcomer(ctx, w, at, p)
	case err != nil:
		return u, err
	}
	if why := p.Meets(u); why != "" {
		return u, refused(why)
	}
	links := p.Key != "" && u.SSOKey != p.Key && !p.Admin
	if !links && !u.Unproven {
		return u, nil
	}
	return s.People.Edit(ctx, w, u.ID, at, func(u account.User) (account.User, error) {
		if links {
			u.SSOKey = p.Key
		}
		return u.Vouched(), nil
	})
}

// known finds the account of a person: developers by key, others by address.
func (s *Service) known(ctx context.Context, r store.Reader, p sso.Person) (account.User, error) {
	if p.Key != "" && !p.Admin {
		if u, err := people.BySSOKey(ctx, r, p.Key); fault.KindOf(err) != fault.NotFound {
			return u, err
		}
	}
	return people.ByEmail(ctx, r, p.Email)
}

// newcomer creates an account for a person without one.
func (s *Service) newcomer(ctx context.Context, w store.Writer, at crud.Stamp, p sso.Person) (u account.User, err error) {
	if p.Registered || p.Admin && s.NoAdmins {
		return u, refused(sso.Unknown)
	}
	u = p.Newcomer(0)
	if p.Team != "" && !p.Admin {
		t, err := portal.Find(ctx, w, people.Teams, p.Team)
		if fault.KindOf(err) == fault.NotFound {
			return u, refused(sso.NoTeam)
		}
		if err != nil {
			return u, err
		}
		u = p.Newcomer(t.ID)
		u.OrganisationID = t.OrganisationID
	}
	u.Token, u.TokenAt = people.NewToken(s.People.Keys), at.Now()
	return s.People.Make(ctx, w, at, u)
}

// pruneEvery is how often expired nonces are deleted.
const pruneEvery = time.Minute

// pruning is the attribution of commits that delete nonces.
var pruning = store.Attribution{Actor: "sessions", Operation: "portal-sso.prune"}

// Run deletes expired nonces, until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	if s.Scope.IsZero() {
		return nil
	}
	return crud.Every(ctx, pruneEvery, func() {
		if err := s.Prune(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("old nonces of the portal could not be forgotten; trying again later", "error", err)
		}
	})
}

// Prune deletes expired nonces.
func (s *Service) Prune(ctx context.Context) error {
	ctx, now := store.Attribute(ctx, pruning), s.Now()
	_, err := crud.Forget(ctx, s.Store, s.Scope, nonces, func(n sso.Nonce) bool { return n.Over(now) })
	return err
}

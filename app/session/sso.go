package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"

	users "github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/app/signon"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of the faults of single sign-on.
const (
	CodeNoOrg   = "sso.org"
	CodeOff     = "sso.off"
	CodeNonce   = "sso.nonce"
	CodeRefused = "sso.refused"
)

type mintIn struct {
	Scope tenant.Scope
	Data  session.AccessData `body:""`
}

// switchedOff refuses callers whose organisation has no single sign-on. Callers without
// organisation name the organisation in the body.
func (s *Service) switchedOff(ctx context.Context, c *operation.Call) error {
	org := c.Scope.Org()
	if org == "" {
		return nil
	}
	o, err := s.users.Organisation(ctx, org)
	if err == nil && !o.Value.SSOEnabled {
		return fault.New(fault.Denied, CodeOff, "SSO not enabled for org.")
	}
	return fault.AbsentFine(err) // Mint returns the fault
}

// Mint creates a nonce with which one browser begins a session for a person, once,
// within a minute. The caller vouches for the person.
func (s *Service) Mint(ctx context.Context, in mintIn) (operation.Receipt, error) {
	org := in.Data.OrgID
	o, err := s.users.Organisation(ctx, org)
	if fault.KindOf(err) == fault.NotFound || org == "" || !in.Scope.Admits(org) {
		return operation.Receipt{}, fault.New(fault.Invalid, CodeNoOrg, "Cannot create an SSO session for an invalid payload: [Error: Org id not found ('%.64s').]", org).At("OrgID")
	}
	if err != nil {
		return operation.Receipt{}, err
	}
	if !o.Value.SSOEnabled {
		return operation.Receipt{}, fault.New(fault.Denied, CodeOff, "SSO not enabled for org.")
	}
	email, _ := identity.CleanEmail(in.Data.EmailAddress) // Guest refuses an invalid address
	p, err := in.Data.Guest(email)
	if err != nil {
		return operation.Receipt{}, err
	}
	text := make([]byte, 24)
	rand.Read(text)
	// Base64 of hexadecimal digits is the same in every alphabet and needs no escaping
	// in URLs.
	nonce := base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString(text)))
	scope, err := tenant.Of(org)
	if err != nil {
		return operation.Receipt{}, err
	}
	_, err = s.users.Store.Update(ctx, scope, func(w store.Writer) error {
		return nonces.Insert(ctx, w, session.Nonce{ID: s.users.NewID(), OrgID: org, Digest: s.nonceDigests(nonce)[0], Person: p, Expires: s.users.Now().Add(session.NonceLife)})
	})
	return operation.Receipt{Message: "SSO Nonce created", Meta: nonce}, err
}

func (s *Service) nonceDigests(nonce string) []string { return s.users.Keys.Digests("sso\x00" + nonce) }

type tapIn struct {
	comes
	Nonce string `query:"nonce" doc:"Nonce from the operation that creates nonces."`
}

// Tap begins a session for a person whom an identity broker has authenticated.
func (s *Service) Tap(ctx context.Context, in tapIn) (operation.Landing, error) {
	return s.turned(s.redeem(ctx, in))
}

// turned redirects browsers of people who are refused to the ErrorURL, if there is one.
func (s *Service) turned(out operation.Landing, err error) (operation.Landing, error) {
	if code := fault.CodeOf(err); s.cfg.ErrorURL != "" && slices.Contains([]string{CodeNonce, CodeRefused, signon.CodeSpent, signon.CodeRefused}, code) {
		s.users.Log.Info("single sign-on refused", "reason", code)
		return operation.Landing{Location: s.cfg.ErrorURL}, nil
	}
	return out, err
}

// redeem exchanges a nonce for a session, in one unit of work: of two browsers with one
// nonce, only one succeeds.
func (s *Service) redeem(ctx context.Context, in tapIn) (operation.Landing, error) {
	n, err := s.nonce(ctx, in.Nonce)
	if err != nil {
		return operation.Landing{}, err
	}
	if _, err := s.users.Organisation(ctx, n.OrgID); fault.KindOf(err) == fault.NotFound {
		return operation.Landing{}, spent // the organisation was deleted meanwhile, and its people cannot log in
	} else if err != nil {
		return operation.Landing{}, err
	}
	out, err := s.admitted(ctx, n.OrgID, n.Person, in.comes, func(w store.Writer) error {
		_, err := nonces.Delete(ctx, w, n.ID, nil)
		if fault.KindOf(err) == fault.NotFound {
			return spent
		}
		return err
	})
	if fault.CodeOf(err) != CodeRefused {
		return out, err
	}
	// A nonce works once, also when the person is refused. If the nonce cannot be
	// deleted, it stays valid for its minute, and the person is refused again.
	scope, failed := tenant.Of(n.OrgID)
	if failed == nil {
		_, failed = s.users.Store.Update(store.Attribute(ctx, pruning), scope, func(w store.Writer) error {
			_, err := nonces.Delete(ctx, w, n.ID, nil)
			return err
		})
	}
	if failed != nil && fault.KindOf(failed) != fault.NotFound {
		s.users.Log.Warn("a nonce with which somebody was refused could not be forgotten", "error", failed)
	}
	return out, err
}

// admitted begins a session for a person. once runs in the same unit of work, and makes
// sure that this happens only once.
func (s *Service) admitted(ctx context.Context, org tenant.ID, p session.Person, from comes, once func(store.Writer) error) (operation.Landing, error) {
	scope, err := tenant.Of(org)
	if err != nil {
		return operation.Landing{}, err
	}
	var opened session.Session
	var token string
	_, err = s.users.Store.Update(ctx, scope, func(w store.Writer) error {
		if err := once(w); err != nil {
			return err
		}
		opened, token = s.begin(org, "", from)
		if err := s.admit(ctx, w, p, &opened); err != nil {
			return err
		}
		if !opened.Guest {
			_, err := users.Records.Edit(ctx, w, opened.UserID, nil, func(v identity.User) (identity.User, error) {
				v.LastLogin = opened.Created
				return v, nil
			})
			if err != nil {
				return err
			}
		}
		return s.keep(ctx, w, opened)
	})
	if err != nil {
		return operation.Landing{}, err
	}
	out := s.entered(opened, token)
	out.Location = "/"
	return out, nil
}

// spent is the response to a nonce that is unknown, used, too old, or for another
// section.
var spent error = fault.New(fault.Unauthenticated, CodeNonce, "This link has been used or is too old; log in again")

// nonce returns a nonce if it is valid.
func (s *Service) nonce(ctx context.Context, text string) (n session.Nonce, err error) {
	err = s.users.Store.View(ctx, tenant.Everyone("single sign-on"), func(r store.Reader) error {
		for _, digest := range s.nonceDigests(text) {
			v, err := nonces.ByKey(ctx, r, byDigest, digest)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			n = v.Value
			return err
		}
		return spent
	})
	if err == nil && (n.Over(s.users.Now()) || n.Person.Section != session.Dashboard) {
		err = spent
	}
	return n, err
}

// admit sets the user of a session from a person, or refuses the person.
func (s *Service) admit(ctx context.Context, r store.Reader, p session.Person, opened *session.Session) error {
	refuse := func(why string) error {
		return fault.New(fault.Denied, CodeRefused, "access denied: %s", why)
	}
	if p.Refused {
		return refuse("the identity provider refuses this person")
	}
	opened.Person = &p
	if p.Email != "" && (s.cfg.Grants.Lookup || p.Registered) {
		u, err := s.users.InOrganisation(ctx, r, p.Email)
		switch {
		case err == nil && !u.Active:
			return refuse("the user is not active")
		case err == nil:
			opened.UserID = u.ID
			return nil
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
	}
	if p.Registered {
		return refuse("there is no user with this address")
	}
	// The ID is the same for every session, and does not reveal the mail address.
	sum := sha256.Sum256([]byte(string(opened.OrgID) + "\x00" + p.Email))
	opened.UserID, opened.Guest = "sso-"+hex.EncodeToString(sum[:10]), true
	exist, err := s.users.GroupsAmong(ctx, r, opened.OrgID, s.cfg.Grants.Groups(p))
	if err != nil {
		return err
	}
	if _, ok := s.cfg.Grants.Source(p, exist); !ok {
		return refuse("no permissions are set for this person; name a group, or set sso_default_group_id or sso_permission_defaults")
	}
	return nil
}

// guest returns a person without a user as a member of the groups that give it
// permissions now, and its further permissions.
func (s *Service) guest(ctx context.Context, r store.Reader, found *session.Session) (identity.User, access.Map, error) {
	exist, err := s.users.GroupsAmong(ctx, r, found.OrgID, s.cfg.Grants.Groups(*found.Person))
	source, _ := s.cfg.Grants.Source(*found.Person, exist)
	u := identity.User{ID: found.UserID, OrgID: found.OrgID, Email: found.Person.Email, Active: true, Permissions: access.Map{}, Grouped: true}
	return in(u, source.Groups), source.Defaults, err
}

// in returns a user as a member of exactly these groups.
func in(u identity.User, groups []string) identity.User {
	if len(groups) == 0 {
		return u.In("", nil)
	}
	return u.In(groups[0], groups[1:])
}

// LoginPage redirects browsers to the login page.
func (s *Service) LoginPage(context.Context, struct{}) (operation.Landing, error) {
	if s.cfg.LoginURL == "" {
		return operation.Landing{}, fault.New(fault.NotFound, "login.page", "Not Found")
	}
	return operation.Landing{Location: s.cfg.LoginURL}, nil
}

package identity

import (
	"cmp"
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// First describes the first organisation and its admin.
type First struct {
	OrgID     string // "" : generated
	OwnerName string // "": "Default"
	OwnerSlug string // "": "default"
	Rules     string // of the organisation, if it is made; "": none of its own
	Email     string
	FirstName string // "": "Admin"
	LastName  string // "": "User"
	Password  string // "": none yet
	AccessKey string // "": generated
	// AtStart marks settings that every start finds again: they are carried out once, and
	// make nothing anew that admins have renamed or deleted since.
	AtStart bool
}

// Bootstrapped says what there is now.
type Bootstrapped struct {
	OrgID     tenant.ID
	UserID    string // "": the organisation has another admin
	AccessKey string
	Created   bool // false: it had all been there before
}

// Bootstrap makes sure that an organisation with an active admin exists. It
// changes nothing about what is there already, so it can run at every start:
// the organisation is found by ID, or else by slug; the admin by address.
func (s *Service) Bootstrap(ctx context.Context, f First) (Bootstrapped, error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "bootstrap", Operation: "bootstrap"})
	f.OwnerName, f.OwnerSlug = cmp.Or(f.OwnerName, "Default"), cmp.Or(f.OwnerSlug, "default")
	if f.AtStart {
		if done, err := s.carriedOut(ctx, f); err != nil || done != (Bootstrapped{}) {
			return done, err
		}
	}
	org, created, err := s.ensureOrganisation(ctx, f)
	if err != nil {
		return Bootstrapped{}, err
	}
	u, err := s.byEmail(ctx, org, f.Email)
	if err != nil {
		return Bootstrapped{}, err
	}
	if u == nil {
		if u, err = s.firstAdmin(ctx, org, f); err != nil {
			return Bootstrapped{}, err
		}
		created = true
	}
	v, err := s.view(*u)
	return Bootstrapped{OrgID: org, UserID: u.ID, AccessKey: v.AccessKey, Created: created}, err
}

// carriedOut returns what an earlier start has made of the same settings and admins have changed
// since: the organisation has another admin, or it has another slug and the admin is in it. It
// returns nothing where the rest of a bootstrap is to look itself.
func (s *Service) carriedOut(ctx context.Context, f First) (done Bootstrapped, err error) {
	org, err := s.organisationOf(ctx, f)
	if err != nil {
		return done, err
	}
	if org == "" && f.OrgID != "" {
		return done, nil
	}
	if org == "" {
		u, err := s.anywhere(ctx, f)
		if err != nil || u == nil {
			return done, err
		}
		return Bootstrapped{OrgID: u.OrgID, UserID: u.ID}, nil
	}
	if u, err := s.byEmail(ctx, org, f.Email); err != nil || u != nil {
		return done, err
	}
	scope, err := tenant.Of(org)
	if err != nil {
		return done, err
	}
	err = s.Store.View(ctx, scope, func(r store.Reader) error { return s.keepAdmin(ctx, r, org) })
	switch {
	case err == nil:
		return Bootstrapped{OrgID: org}, nil
	case fault.CodeOf(err) == codeLastAdmin:
		return done, nil
	}
	return done, err
}

// anywhere returns the user who has the address or the access key of the first admin, in
// whatever organisation there is, or nil.
func (s *Service) anywhere(ctx context.Context, f First) (found *identity.User, err error) {
	email, err := identity.CleanEmail(f.Email)
	if err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, tenant.Everyone("bootstrap"), func(r store.Reader) (err error) {
		for u, err := range users.Find(ctx, r, store.Query{Index: byEmail, Value: email}) {
			if err != nil {
				return err
			}
			if lives, err := s.lives(ctx, r, u.Value); err != nil || lives {
				found = &u.Value
				return err
			}
		}
		found, err = s.keyed(ctx, r, f.AccessKey)
		return err
	})
	return found, err
}

// lives reports whether the organisation of a user is there.
func (s *Service) lives(ctx context.Context, r store.Reader, u identity.User) (bool, error) {
	err := s.alive(ctx, r, u.OrgID)
	if fault.KindOf(err) == fault.Unauthenticated {
		return false, nil
	}
	return err == nil, err
}

// keyed returns the user of an organisation that is there who has an access key, or nil.
func (s *Service) keyed(ctx context.Context, r store.Reader, key string) (*identity.User, error) {
	if key == "" {
		return nil, nil
	}
	for _, digest := range s.Keys.Digests(key) {
		u, err := s.holder(ctx, r, digest)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		if lives, err := s.lives(ctx, r, u); err != nil || lives {
			return &u, err
		}
	}
	return nil, nil
}

func (s *Service) ensureOrganisation(ctx context.Context, f First) (id tenant.ID, created bool, err error) {
	if id, err = s.organisationOf(ctx, f); err != nil || id != "" {
		return id, false, err
	}
	if err := s.possible(ctx, f); err != nil { // no organisation is left without its admin
		if fault.KindOf(err) == fault.Conflict { // another replica may have been quicker
			if id, found := s.organisationOf(ctx, f); found == nil && id != "" {
				return id, false, nil
			}
		}
		return "", false, err
	}
	o, err := identity.NewOrganisation(tenant.ID(s.NewID()), identity.OrganisationDraft{ID: tenant.ID(f.OrgID), OwnerName: f.OwnerName, OwnerSlug: f.OwnerSlug,
		OpenPolicy: identity.OpenPolicy{Rules: f.Rules}})
	var scope tenant.Scope
	if err == nil {
		scope, err = tenant.Of(o.ID)
	}
	if err == nil {
		_, err = s.Store.Update(ctx, scope, func(w store.Writer) error { return organisations.Insert(ctx, w, o) })
	}
	if fault.KindOf(err) == fault.Conflict { // another replica was quicker
		return o.ID, false, nil
	}
	return o.ID, true, err
}

// byEmail returns the user of an organisation with an address, or nil.
func (s *Service) byEmail(ctx context.Context, org tenant.ID, email string) (found *identity.User, err error) {
	email, err = identity.CleanEmail(email)
	if err != nil {
		return nil, err
	}
	scope, err := tenant.Of(org)
	if err != nil {
		return nil, err
	}
	err = s.Store.View(ctx, scope, func(r store.Reader) error {
		for u, err := range users.Find(ctx, r, store.Query{Index: byEmail, Value: email, Limit: 1}) {
			if err != nil {
				return err
			}
			found = &u.Value
		}
		return nil
	})
	return found, err
}

// organisationOf returns the organisation that is bootstrapped if it exists, or "".
func (s *Service) organisationOf(ctx context.Context, f First) (id tenant.ID, err error) {
	err = s.Store.View(ctx, tenant.Everyone("bootstrap"), func(r store.Reader) error {
		for o, err := range organisations.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if string(o.Value.ID) == f.OrgID || f.OrgID == "" && o.Value.OwnerSlug == f.OwnerSlug {
				id = o.Value.ID
				return nil
			}
		}
		return nil
	})
	return id, err
}

// possible says why the first admin of an organisation that is yet to be made cannot be.
func (s *Service) possible(ctx context.Context, f First) error {
	u, err := identity.NewUser("", time.Time{}, f.admin(""))
	if err == nil && f.Password != "" {
		err = s.acceptable("password", u, f.Password)
	}
	if err != nil {
		return err
	}
	return s.Store.View(ctx, tenant.Everyone("bootstrap"), func(r store.Reader) error {
		return cmp.Or(s.free(ctx, r, u), s.unshared(ctx, r, f.AccessKey))
	})
}

func (f First) admin(org tenant.ID) identity.UserDraft {
	return identity.UserDraft{
		OrgID: org, Email: f.Email, Password: f.Password,
		FirstName: cmp.Or(f.FirstName, "Admin"), LastName: cmp.Or(f.LastName, "User"),
		Permissions: access.Map{string(access.IsAdmin): access.LevelAdmin},
	}
}

func (s *Service) firstAdmin(ctx context.Context, org tenant.ID, f First) (*identity.User, error) {
	u, _, err := s.prepare(f.admin(org), cmp.Or(f.AccessKey, s.Keys.NewKey()))
	if err != nil {
		return nil, err
	}
	if _, err = s.add(ctx, u, func(w store.Writer) error { return s.unshared(ctx, w, f.AccessKey) }); fault.KindOf(err) == fault.Conflict { // another replica was quicker
		if other, err := s.byEmail(ctx, org, f.Email); err != nil || other != nil {
			return other, err
		}
	}
	return &u, err
}

// unshared refuses an access key that somebody has: of two users with one key, a call would be
// that of either.
func (s *Service) unshared(ctx context.Context, r store.Reader, key string) error {
	u, err := s.keyed(ctx, r, key)
	if err == nil && u != nil {
		err = fault.New(fault.Invalid, identity.UserKind+".access_key", "access_key: another user has this access key; choose another one").At("access_key")
	}
	return err
}

// Empty reports whether there is no organisation yet.
func (s *Service) Empty(ctx context.Context) (empty bool, err error) {
	err = s.Store.View(ctx, tenant.Everyone("first start"), func(r store.Reader) error {
		n, err := r.Count(ctx, store.Query{Kind: organisations.Name})
		empty = n == 0
		return err
	})
	return empty, err
}

// Rekey seals and digests with the current secret every access key that an
// older one protects, and returns how many there were. Once it has run, the
// older secret can go.
func (s *Service) Rekey(ctx context.Context) (n int, err error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "rekey", Operation: "rekey"})
	var old []store.Stored[identity.User]
	err = s.Store.View(ctx, tenant.Everyone("rekey"), func(r store.Reader) error {
		for u, err := range users.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if _, current, err := s.Keys.Open(u.Value.Credentials.KeySealed); err != nil {
				s.Log.Error("the access key of a user cannot be opened with any configured encryption key", "user_id", u.Value.ID)
			} else if !current {
				old = append(old, u)
			}
		}
		return nil
	})
	for _, u := range old {
		if err != nil {
			return n, err
		}
		_, err = s.Store.Update(ctx, Home(u.Value), func(w store.Writer) error {
			_, err := users.Edit(ctx, w, u.Value.ID, nil, func(v identity.User) (identity.User, error) {
				key, _, err := s.Keys.Open(v.Credentials.KeySealed)
				if err != nil {
					return v, err
				}
				return s.sealed(v, key)
			})
			return err
		})
		if err == nil {
			n++
		}
	}
	return n, err
}

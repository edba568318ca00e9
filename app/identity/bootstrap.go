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
	Rules     string // of the organisation, if Bootstrap creates it; "": no rules of its own
	Email     string
	FirstName string // "": "Admin"
	LastName  string // "": "User"
	Password  string // "": no password yet
	AccessKey string // "": generated
	// AtStart marks settings that every start reads again. They are applied once:
	// Bootstrap does not create again what admins have renamed or deleted since.
	AtStart bool
}

// Bootstrapped says which organisation and admin exist after Bootstrap.
type Bootstrapped struct {
	OrgID     tenant.ID
	UserID    string // "": the organisation has another admin, or was deleted and is not created again
	AccessKey string
	Created   bool // false: everything existed before
}

// Bootstrap makes sure that an organisation with an active admin exists. It changes no
// record that exists already, so it can run at every start. It finds the organisation
// by ID, or else by slug, and the admin by mail address.
func (s *Service) Bootstrap(ctx context.Context, f First) (Bootstrapped, error) {
	ctx = store.Attribute(ctx, store.Attribution{Actor: "bootstrap", Operation: "bootstrap"})
	f.OwnerName, f.OwnerSlug = cmp.Or(f.OwnerName, "Default"), cmp.Or(f.OwnerSlug, "default")
	if f.AtStart {
		done, err := s.carriedOut(ctx, f)
		if err != nil {
			return Bootstrapped{}, err
		}
		if done != nil {
			return *done, nil
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

func (s *Service) ensureOrganisation(ctx context.Context, f First) (id tenant.ID, created bool, err error) {
	if id, err = s.organisationOf(ctx, f); err != nil || id != "" {
		return id, false, err
	}
	if err := s.possible(ctx, f); err != nil { // no organisation is left without its admin
		if fault.KindOf(err) == fault.Conflict { // another replica may have been first
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
	if fault.KindOf(err) == fault.Conflict { // another replica was first
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

// organisationOf returns the ID of the organisation that Bootstrap is about, or "" if
// it does not exist.
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

// possible returns an error if the admin of an organisation that does not exist yet
// could not be created.
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
	if _, err = s.add(ctx, u, func(w store.Writer) error { return s.unshared(ctx, w, f.AccessKey) }); fault.KindOf(err) == fault.Conflict { // another replica was first
		if other, err := s.byEmail(ctx, org, f.Email); err != nil || other != nil {
			return other, err
		}
	}
	return &u, err
}

// unshared refuses an access key that another user has: with two users of one key, the
// caller of a request would be ambiguous.
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

// Rekey seals and digests with the current secret every access key that an older secret
// protects, and returns the number of these keys. After it has run, the older secret
// can be removed.
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

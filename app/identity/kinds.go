// Package identity holds the use cases around organisations and their users: the
// operations of the super-admin and of users on them, the authentication of callers,
// and the bootstrap of the first organisation.
package identity

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/session"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

var organisations = &store.Kind[identity.Organisation]{
	Name: identity.OrganisationKind, Noun: "organisation",
	ID:  func(o identity.Organisation) string { return string(o.ID) },
	Org: func(o identity.Organisation) tenant.ID { return o.ID },
}

// Indexes of users.
const (
	byEmail = "email_address"
	byKey   = "access_key"
)

var users = &store.Kind[identity.User]{
	Name: identity.UserKind, Noun: "user",
	ID:  func(u identity.User) string { return u.ID },
	Org: func(u identity.User) tenant.ID { return u.OrgID },
	Indexes: []store.Index[identity.User]{
		store.Unique(byEmail, "email_address", func(u identity.User) string { return u.Email }),
		store.Lookup(byKey, func(u identity.User) string { return u.Credentials.KeyDigest }),
	},
	// A group may be deleted while it has members: they then lose the permissions that
	// it gives.
	Refs: func(u identity.User) (refs []integrity.Ref) {
		for _, id := range u.Groups() {
			refs = append(refs, integrity.Ref{Target: integrity.Target{Kind: identity.GroupKind, ID: id}, Field: "group_id", OnDelete: integrity.Tolerate})
		}
		return refs
	},
}

// sampleGroup is the group in samples: references of users may dangle.
const sampleGroup = "5f1a0c5d8e3b2a1f00000007"

// UserRegistration returns the registration of the kind of users.
func UserRegistration() crud.Registration {
	return crud.Facts[identity.User]{Kind: users, Name: func(u identity.User) string { return u.Email }, Sample: func(at crud.Stamp) (identity.User, error) {
		return identity.NewUser(at.ID, at.Now(), identity.UserDraft{OrgID: at.Org, Email: "ada@example.com", GroupID: sampleGroup})
	}}.Registration()
}

// Service has the dependencies of all use cases of the package.
type Service struct {
	Store     store.Store
	Keys      secret.Keys
	Passwords secret.Passwords
	PasswordSettings
	NewID    system.NewID
	Now      system.Clock
	Log      *slog.Logger
	PageSize int
	uses     crud.Uses[keyUse] // of keys of service accounts
	guessing sync.Mutex
	guesses  session.Attempts // wrong proofs of current passwords, by user; guarded by guessing
	// MultiOrg lets the same address exist in several organisations
	// (enable_multi_org_users).
	MultiOrg bool
	// AdminResets lets admins set other users' passwords
	// (security.allow_admin_reset_password).
	AdminResets bool
	// HideKeys shows admins no access keys but their own
	// (security.forbid_admin_view_access_token).
	HideKeys bool
	// KeepKeys lets users renew no access key but their own
	// (security.forbid_admin_reset_access_token).
	KeepKeys bool
	// RulesDecide says that rules decide in place of permission maps
	// (security.open_policy.enabled).
	RulesDecide bool
	// Preset is the additional permissions of organisations that define none of their
	// own, by name and label (security.additional_permissions).
	Preset map[string]string
	// Disown removes a user as an owner, in the unit of work that deletes the user;
	// nil: users own nothing.
	Disown func(ctx context.Context, w store.Writer, userID string) error
	// Gains reports whether a write gives access to APIs that the caller does not see:
	// those that the principal after owns, by its ID or its groups, and the principal
	// before does not own; nil: APIs have no owners.
	Gains func(ctx context.Context, r store.Reader, who, before, after operation.Principal) (bool, error)
	// EndSessions ends all sessions of a user, in the unit of work that locks the user
	// out or changes its password; nil: there are no sessions.
	EndSessions func(ctx context.Context, w store.Writer, userID string) error
}

// Organisation returns one organisation, or a NotFound fault.
func (s *Service) Organisation(ctx context.Context, id tenant.ID) (store.Stored[identity.Organisation], error) {
	return Organisation(ctx, s.Store, id)
}

// Organisation returns one organisation of a store, or a NotFound fault.
func Organisation(ctx context.Context, st store.Store, id tenant.ID) (o store.Stored[identity.Organisation], err error) {
	err = st.View(ctx, tenant.Everyone("look up an organisation"), func(r store.Reader) error {
		o, err = organisations.Locate(ctx, r, string(id))
		return err
	})
	return o, err
}

// user returns a user of any organisation, or a NotFound fault.
func (s *Service) user(ctx context.Context, id string) (u store.Stored[identity.User], err error) {
	err = s.Store.View(ctx, tenant.Everyone("look up a user"), func(r store.Reader) error {
		u, err = users.Locate(ctx, r, id)
		return err
	})
	return u, err
}

// Home returns the scope in which a user is changed: its organisation, or everyone for
// a user without organisation.
func Home(u identity.User) tenant.Scope {
	scope, err := tenant.Of(u.OrgID)
	if err != nil {
		return tenant.Everyone("change a user without organisation")
	}
	return scope
}

// View is a user as the API shows it: without password hash, and with the access key in
// plain text only in responses that show it.
type View struct {
	APIModel        struct{}          `json:"api_model"`
	FirstName       string            `json:"first_name"`
	LastName        string            `json:"last_name"`
	Email           string            `json:"email_address"`
	OrgID           tenant.ID         `json:"org_id"`
	Active          bool              `json:"active"`
	ID              string            `json:"id"`
	AccessKey       string            `json:"access_key"`
	Permissions     access.Map        `json:"user_permissions"`
	GroupID         string            `json:"group_id"`
	GroupIDs        []string          `json:"group_ids,omitempty" doc:"Further groups of the user."`
	PasswordMaxDays int               `json:"password_max_days"`
	PasswordUpdated time.Time         `json:"password_updated"`
	PWHistory       []json.RawMessage `json:"PWHistory"` // always empty: hashes are never returned
	LastLogin       time.Time         `json:"last_login_date"`
	Created         time.Time         `json:"created_at"`
}

// view shows a user with its access key.
func (s *Service) view(u identity.User) (View, error) {
	key, _, err := s.Keys.Open(u.Credentials.KeySealed)
	if err != nil {
		return View{}, errors.Join(errors.New("identity: the access key of user "+u.ID+" cannot be opened; is the encryption key it was sealed with still configured?"), err)
	}
	v := shown(u)
	v.AccessKey = key
	return v, nil
}

// shown returns a user without its access key.
func shown(u identity.User) View {
	return View{
		FirstName: u.FirstName, LastName: u.LastName, Email: u.Email, OrgID: u.OrgID, Active: u.Active, ID: u.ID,
		Permissions: u.Permissions, GroupID: u.GroupID, GroupIDs: u.GroupIDs, PasswordMaxDays: u.PasswordMaxDays, PasswordUpdated: u.PasswordUpdated,
		PWHistory: []json.RawMessage{}, LastLogin: u.LastLogin, Created: u.Created,
	}
}

// viewFor returns a user as a caller sees it. The access key is shown to the user
// itself and, unless HideKeys is set, to admins of its organisation. A super user does
// not see access keys: it may only read, and with the key of an admin it could write.
// An access key that cannot be opened is logged and does not make the response fail.
func (s *Service) viewFor(who operation.Principal, u identity.User) View {
	if who.ID != u.ID && (s.HideKeys || who.OrgID == "" || !who.Permissions.Admin()) {
		return shown(u)
	}
	v, err := s.view(u)
	if err != nil {
		s.Log.Error("an access key is not shown", "error", err)
		return shown(u)
	}
	return v
}

package identity

import (
	"context"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var accounts = &store.Kind[identity.ServiceAccount]{
	Name: identity.AccountKind, Noun: "service account",
	ID:  func(a identity.ServiceAccount) string { return a.ID },
	Org: func(a identity.ServiceAccount) tenant.ID { return a.OrgID },
	Indexes: []store.Index[identity.ServiceAccount]{
		store.Unique("name", "name", func(a identity.ServiceAccount) string { return a.Name }),
		{Name: byKey, Values: func(a identity.ServiceAccount) (digests []string) {
			for _, k := range a.Keys {
				digests = append(digests, k.Digest)
			}
			return digests
		}},
	},
	Refs: func(a identity.ServiceAccount) (refs []integrity.Ref) {
		for _, id := range a.GroupIDs {
			refs = append(refs, integrity.Ref{Target: integrity.Target{Kind: identity.GroupKind, ID: id}, Field: "group_ids", OnDelete: integrity.Tolerate})
		}
		return refs
	},
}

// AccountRegistration returns the registration of the kind of service accounts.
func AccountRegistration() crud.Registration {
	return crud.Facts[identity.ServiceAccount]{Kind: accounts, Name: func(a identity.ServiceAccount) string { return a.Name },
		Sample: func(at crud.Stamp) (identity.ServiceAccount, error) {
			return identity.NewAccount(at.ID, at.Org, at.Now(), identity.AccountDraft{Name: "deploy", GroupIDs: []string{sampleGroup}, Permissions: access.Map{"apis": access.LevelWrite}})
		}}.Registration()
}

// AccountView is a service account as the API shows it: no digest of a key.
type AccountView struct {
	ID          string     `json:"id"`
	OrgID       tenant.ID  `json:"org_id"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Active      bool       `json:"active"`
	Permissions access.Map `json:"user_permissions"`
	GroupIDs    []string   `json:"group_ids"`
	Created     time.Time  `json:"created_at"`
	Keys        []KeyView  `json:"keys"`
}

// KeyView is a key as the API shows it.
type KeyView struct {
	ID          string     `json:"id"`
	Name        string     `json:"name"`
	Permissions []string   `json:"permissions" doc:"Permissions that limit the key. Empty: the key has all permissions of the account."`
	Created     time.Time  `json:"created_at"`
	Expires     *time.Time `json:"expires_at" doc:"Expiry; null: never."`
	Used        *time.Time `json:"last_used" doc:"Last use, accurate to about a minute; null: not used yet."`
}

// showAccount shows a service account with the last use of its keys.
func showAccount(ctx context.Context, r store.Reader, a identity.ServiceAccount) (AccountView, error) {
	v := AccountView{ID: a.ID, OrgID: a.OrgID, Name: a.Name, Description: a.Description, Active: a.Active, Permissions: a.Permissions,
		GroupIDs: append([]string{}, a.GroupIDs...), Created: a.Created, Keys: []KeyView{}}
	for _, k := range a.Keys {
		key := KeyView{ID: k.ID, Name: k.Name, Permissions: append([]string{}, k.Permissions...), Created: k.Created}
		if !k.Expires.IsZero() {
			key.Expires = &k.Expires
		}
		switch use, err := keyUses.Locate(ctx, r, k.ID); {
		case err == nil && use.Value.OrgID == a.OrgID:
			key.Used = &use.Value.At
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return v, err
		}
		v.Keys = append(v.Keys, key)
	}
	return v, nil
}

// authenticateAccount makes the service account whose key the call presents the
// principal of the call. The permissions are those that the account and its groups have
// now, limited to those of the key if the key has a limit.
func (s *Service) authenticateAccount(ctx context.Context, c *operation.Call) error {
	return s.Store.View(ctx, tenant.Everyone("authenticate"), func(r store.Reader) error {
		for _, digest := range s.Keys.Digests(c.Token) {
			a, err := accounts.ByKey(ctx, r, byKey, digest)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			key, good := a.Value.KeyBy(digest, s.Now())
			if !good {
				return guard.Unauthenticated()
			}
			if err := s.Recognise(ctx, r, a.Value.User(), c); err != nil {
				return err
			}
			c.Principal.Permissions = c.Principal.Permissions.Limit(key.Permissions)
			s.uses.Note(key.ID, keyUse{ID: key.ID, OrgID: a.Value.OrgID, Account: a.Value.ID, At: s.Now()})
			c.Scope, err = tenant.Of(a.Value.OrgID)
			return err
		}
		return guard.Unauthenticated()
	})
}

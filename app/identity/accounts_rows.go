package identity

import (
	"context"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ServiceAccounts has the operations of users on service accounts.
type ServiceAccounts struct{ *Service }

// Codes of faults about service accounts that come from the store or from stored
// records.
const (
	accountMissing = identity.AccountKind + ".not_found"
	accountTaken   = identity.AccountKind + ".taken"
	keyMissing     = identity.AccountKind + ".key_not_found"
)

// Operations lists the operations of users on service accounts.
func (s ServiceAccounts) Operations() []operation.Operation {
	choosing := []string{identity.CodeAccountName, identity.CodeAccountText, identity.CodeAccountMap, identity.CodeAccountEmpty, identity.CodeAccountTooMany, codeNoGroup, codeGrant}
	draft := map[string]any{"name": "deploy", "description": "Publishes APIs", "user_permissions": map[string]string{"apis": "write", "policies": "read"}}
	view := AccountView{ID: exampleUser.ID, OrgID: exampleOrg, Name: "deploy", Description: "Publishes APIs", Active: true,
		Permissions: access.Map{"apis": access.LevelWrite, "policies": access.LevelRead}, GroupIDs: []string{}, Keys: []KeyView{{ID: exampleOrg, Name: "pipeline", Permissions: []string{"apis"}}}}
	made := map[string]string{"id": exampleOrg, "key": "0123456789abcdef0123456789abcdef"}
	return operation.Group{
		Surface: operation.Management, Name: "service-accounts", Path: "/api/service-accounts", Tag: "Service accounts", Permission: access.Users,
		Style: operation.Style{Word: "OK", ListKey: "service_accounts"},
	}.Rows(
		operation.GET("list", "", "List service accounts", s.List, operation.Lists(operation.Item{Kind: identity.AccountKind, ID: "id", Name: "name"}), operation.Example(nil, operation.Page[AccountView]{Items: []AccountView{view}, Pages: 1})),
		operation.POST("create", "", "Create a service account", s.Create, operation.Faulting(append(choosing, accountTaken)...),
			operation.Notes("A new account has no key. Callers who are not admins can grant only permissions that they have."),
			operation.Example(draft, done("Service account created", exampleUser.ID))),
		operation.GET("get", "/{accountId}", "Fetch a service account", s.Get, operation.Faulting(accountMissing), operation.Example(nil, view)),
		operation.GET("permissions", "/{accountId}/permissions", "Explain the permissions of a service account", s.Permissions, operation.Faulting(accountMissing),
			operation.Example(nil, exampleExplanation()),
			operation.Notes("The format is that of users.permissions. user_id is the name of the account in the history and in lists of owners. A key with a limited set of permissions may do less than the account.")),
		operation.PUT("replace", "/{accountId}", "Replace a service account", s.Replace, operation.Faulting(append(choosing, accountMissing)...),
			operation.Notes("Absent members become empty, except active, which keeps its value. The name cannot be changed; a different name is refused. The keys do not change, and have the new permissions at once."),
			operation.Example(map[string]any{"description": "Publishes APIs", "user_permissions": map[string]string{"apis": "write"}}, done("Service account updated", nil))),
		operation.DELETE("delete", "/{accountId}", "Delete a service account and its keys", s.Delete, operation.Faulting(accountMissing), operation.Example(nil, done("Service account deleted", nil))),
		operation.POST("keys.create", "/{accountId}/keys", "Create a key of a service account", s.CreateKey,
			operation.Faulting(accountMissing, identity.CodeKeyName, identity.CodeAccountText, identity.CodeKeyExpiry, identity.CodeKeyPermission, identity.CodeAccountTooMany, codeGrant),
			operation.Notes("Only this response shows the key. Callers who are not admins can create a key only if they have all its permissions. Unknown permission names are refused."),
			operation.Example(map[string]any{"name": "pipeline", "expires_at": "2027-01-01T00:00:00Z", "permissions": []string{"apis"}}, done("Service account key created", made))),
		operation.DELETE("keys.delete", "/{accountId}/keys/{keyId}", "Delete a key of a service account", s.DeleteKey, operation.Faulting(accountMissing, keyMissing),
			operation.Example(nil, done("Service account key deleted", nil))),
	)
}

// List lists the service accounts of the organisation.
func (s ServiceAccounts) List(ctx context.Context, in listIn) (out operation.Page[AccountView], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		page, err := operation.List(ctx, accounts, r, in.Paging, s.PageSize)
		out = operation.Page[AccountView]{Items: make([]AccountView, 0, len(page.Items)), Pages: page.Pages}
		for _, a := range page.Items {
			v, err := showAccount(ctx, r, a)
			if err != nil {
				return err
			}
			out.Items = append(out.Items, v)
		}
		return err
	})
	return out, err
}

type newAccountIn struct {
	caller
	Draft identity.AccountDraft `body:""`
}

// Create creates a service account without keys.
func (s ServiceAccounts) Create(ctx context.Context, in newAccountIn) (operation.Receipt, error) {
	a, err := identity.NewAccount(s.NewID(), in.Scope.Org(), s.Now(), in.Draft)
	if err != nil {
		return operation.Receipt{}, err
	}
	at, err := store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		if err := s.admit(ctx, w, in.Who, identity.User{Grouped: true}, a.User()); err != nil {
			return 0, err
		}
		return accounts.Create(ctx, w, a)
	})
	return operation.Receipt{Message: "Service account created", Meta: a.ID, Tag: operation.Tag(at)}, err
}

// admit refuses groups that do not exist, and permissions that the caller cannot give.
func (s ServiceAccounts) admit(ctx context.Context, r store.Reader, who operation.Principal, before, after identity.User) error {
	if err := s.grouped(ctx, r, before, after); err != nil {
		return err
	}
	return Users(s).grant(ctx, r, who, before, after)
}

type accountIn struct {
	caller
	ID string `path:"accountId" doc:"Identifier of the service account."`
}

// Get returns one service account.
func (s ServiceAccounts) Get(ctx context.Context, in accountIn) (out operation.Entity[AccountView], err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		a, err := accounts.Get(ctx, r, in.ID)
		if err != nil {
			return err
		}
		out.Tag = operation.Tag(a.Serial)
		out.Value, err = showAccount(ctx, r, a.Value)
		return err
	})
	return out, err
}

type writeAccountIn struct {
	accountIn
	Match operation.Match
}

type replaceAccountIn struct {
	writeAccountIn
	Draft identity.AccountDraft `body:""`
}

// Replace replaces the fields of a service account that clients may set.
func (s ServiceAccounts) Replace(ctx context.Context, in replaceAccountIn) (operation.Receipt, error) {
	at, err := s.edit(ctx, in.writeAccountIn, func(w store.Writer, a identity.ServiceAccount) (identity.ServiceAccount, error) {
		b, err := a.Replace(in.Draft)
		if err != nil {
			return b, err
		}
		return b, s.admit(ctx, w, in.Who, a.User(), b.User())
	})
	return operation.Receipt{Message: "Service account updated", Tag: operation.Tag(at)}, err
}

func (s ServiceAccounts) edit(ctx context.Context, in writeAccountIn, fn func(store.Writer, identity.ServiceAccount) (identity.ServiceAccount, error)) (store.Serial, error) {
	return store.Write(ctx, s.Store, in.Scope, func(w store.Writer) (store.Serial, error) {
		v, err := accounts.Revise(ctx, w, in.ID, in.Match.Check, func(a identity.ServiceAccount) (identity.ServiceAccount, error) { return fn(w, a) })
		return v.Serial, err
	})
}

// Delete deletes a service account with its keys, and removes it as an owner of APIs.
func (s ServiceAccounts) Delete(ctx context.Context, in writeAccountIn) (operation.Receipt, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		a, err := accounts.Delete(ctx, w, in.ID, in.Match.Check)
		if err != nil {
			return err
		}
		if err := s.reaching(ctx, w, in.Who, operation.Principal{}, operation.Principal{ID: a.Principal()}); err != nil {
			return err // an API without an owner is open to every user of the organisation
		}
		for _, k := range a.Keys {
			if err := forgetUse(ctx, w, k.ID); err != nil {
				return err
			}
		}
		if s.Disown == nil {
			return nil
		}
		return s.Disown(ctx, w, a.Principal())
	})
	return operation.Receipt{Message: "Service account deleted"}, err
}

type newKeyIn struct {
	writeAccountIn
	Draft identity.KeyDraft `body:""`
}

// CreateKey creates a key of a service account. Only this response shows the key.
func (s ServiceAccounts) CreateKey(ctx context.Context, in newKeyIn) (operation.Receipt, error) {
	id, key, now := s.NewID(), s.Keys.NewKey(), s.Now()
	at, err := s.edit(ctx, in.writeAccountIn, func(w store.Writer, a identity.ServiceAccount) (identity.ServiceAccount, error) {
		b, err := a.WithKey(id, s.Keys.Digests(key)[0], now, in.Draft)
		if err != nil {
			return b, err
		}
		may, err := potential(ctx, w, a.User())
		if err != nil {
			return b, err
		}
		o, err := organisations.Locate(ctx, w, string(a.OrgID))
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return b, err
		}
		if err := in.Draft.Means(may, s.Custom(o.Value)); err != nil {
			return b, err
		}
		if err := s.reaching(ctx, w, in.Who, operation.Principal{}, operation.Principal{ID: a.Principal(), Groups: a.User().Groups()}); err != nil {
			return b, err
		}
		return b, granting(in.Who, nil, may.Limit(in.Draft.Permissions)) // the holder of the key gets these permissions
	})
	return operation.Receipt{Message: "Service account key created", Meta: map[string]string{"id": id, "key": key}, Tag: operation.Tag(at)}, err
}

type keyIn struct {
	writeAccountIn
	KeyID string `path:"keyId" doc:"Identifier of the key."`
}

// DeleteKey deletes a key of a service account. Calls with the key are refused from
// then on.
func (s ServiceAccounts) DeleteKey(ctx context.Context, in keyIn) (operation.Receipt, error) {
	at, err := s.edit(ctx, in.writeAccountIn, func(w store.Writer, a identity.ServiceAccount) (identity.ServiceAccount, error) {
		b, ok := a.WithoutKey(in.KeyID)
		if !ok {
			return b, fault.New(fault.NotFound, keyMissing, "the service account has no such key").At("keyId")
		}
		return b, forgetUse(ctx, w, in.KeyID)
	})
	return operation.Receipt{Message: "Service account key deleted", Tag: operation.Tag(at)}, err
}

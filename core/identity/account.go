package identity

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/caps"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// AccountKind is the name of service accounts in storage, history and references.
const AccountKind = "serviceaccount"

// ServiceAccount is a program that calls the management API (docs/wire/service-accounts.md).
type ServiceAccount struct {
	ID          string       `json:"id"`
	OrgID       tenant.ID    `json:"org_id"`
	Name        string       `json:"name"` // never changes: it identifies the account in history and as owner
	Description string       `json:"description"`
	Active      bool         `json:"active"`
	Permissions access.Map   `json:"user_permissions"`
	GroupIDs    []string     `json:"group_ids,omitempty"`
	Created     time.Time    `json:"created_at"`
	Keys        []AccountKey `json:"keys,omitempty"`
}

// AccountKey is one key of a service account. The key itself is not stored.
type AccountKey struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Digest      string    `json:"digest"`                // keyed digest
	Permissions []string  `json:"permissions,omitempty"` // limits the key to these permissions; empty: all permissions of the account
	Created     time.Time `json:"created_at"`
	Expires     time.Time `json:"expires_at,omitzero"` // zero: never
}

// AccountDraft is the input of a client for a service account.
type AccountDraft struct {
	Name        string     `json:"name,omitempty" doc:"1 to 64 lower-case letters, digits, '.', '_' or '-'. It cannot be changed."`
	Description string     `json:"description,omitempty" doc:"For people."`
	Active      *bool      `json:"active,omitempty" doc:"When absent, a new account is active, and an existing one keeps its value."`
	Permissions access.Map `json:"user_permissions,omitempty" doc:"Permissions of the keys of the account: read, write or deny for each."`
	GroupIDs    []string   `json:"group_ids,omitempty" doc:"User groups of the account. Their permissions replace user_permissions."`
}

// KeyDraft is the input of a client for a key.
type KeyDraft struct {
	Name        string   `json:"name" doc:"For people."`
	Expires     string   `json:"expires_at,omitempty" doc:"Expiry in RFC 3339. Absent: never."`
	Permissions []string `json:"permissions,omitempty" doc:"Permissions to which the key is limited. Absent: the key has all permissions of the account."`
}

// Codes of the faults of drafts of accounts and keys.
const (
	CodeAccountName    = AccountKind + ".name"
	CodeAccountText    = AccountKind + ".text"
	CodeAccountMap     = AccountKind + ".user_permissions"
	CodeAccountEmpty   = AccountKind + ".empty"
	CodeAccountTooMany = AccountKind + ".too_many"
	CodeKeyName        = AccountKind + ".key_name"
	CodeKeyExpiry      = AccountKind + ".expires_at"
	CodeKeyPermission  = AccountKind + ".key_permission"
)

// accountName matches names that are usable in a path, in history and in a log line.
var accountName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// NewAccount makes a service account from a draft, or returns a fault that names the wrong
// field.
func NewAccount(id string, org tenant.ID, now time.Time, d AccountDraft) (ServiceAccount, error) {
	if !accountName.MatchString(d.Name) {
		return ServiceAccount{}, fault.New(fault.Invalid, CodeAccountName, "name must be 1 to 64 lower-case letters, digits, '.', '_' or '-', and begin with a letter or a digit").At("name")
	}
	return ServiceAccount{ID: id, OrgID: org, Name: d.Name, Active: true, Created: now}.Replace(d)
}

// Replace returns a with the values of the draft.
func (a ServiceAccount) Replace(d AccountDraft) (ServiceAccount, error) {
	if d.Name != "" && d.Name != a.Name {
		return a, fault.New(fault.Invalid, CodeAccountName, "the name of a service account cannot be changed; create another account").At("name")
	}
	if err := checkText(AccountKind, "description", d.Description); err != nil {
		return a, err
	}
	if err := checkMap(AccountKind, d.Permissions); err != nil {
		return a, err
	}
	if err := caps.ServiceAccount.Count("group_ids", len(d.GroupIDs)); err != nil {
		return a, err
	}
	a.GroupIDs = User{}.In("", d.GroupIDs).GroupIDs
	if a.Permissions = choose(a.Permissions, d.Permissions); len(a.Permissions) == 0 && len(a.GroupIDs) == 0 {
		return a, fault.New(fault.Invalid, CodeAccountEmpty, "name a permission in user_permissions, or a group in group_ids").At("user_permissions")
	}
	if d.Active != nil {
		a.Active = *d.Active
	}
	a.Description = d.Description
	return a, nil
}

// User returns the account as a user, for permissions and groups. An empty map never makes it
// an admin.
func (a ServiceAccount) User() User {
	return User{ID: a.Principal(), OrgID: a.OrgID, Active: a.Active, Permissions: a.Permissions, GroupIDs: a.GroupIDs, Grouped: true}
}

// Principal returns the name of the account in history and among owners of APIs.
func (a ServiceAccount) Principal() string { return "service:" + a.Name }

// WithKey returns a with another key, or a fault that names the wrong field.
func (a ServiceAccount) WithKey(id, digest string, now time.Time, d KeyDraft) (ServiceAccount, error) {
	if d.Name == "" {
		return a, fault.New(fault.Invalid, CodeKeyName, "name must not be empty: it identifies the key for people").At("name")
	}
	var expires time.Time
	if d.Expires != "" {
		var err error
		if expires, err = time.Parse(time.RFC3339, d.Expires); err != nil || !expires.After(now) {
			return a, fault.New(fault.Invalid, CodeKeyExpiry, "expires_at must be a time in the future, such as 2031-12-31T23:59:59Z").At("expires_at")
		}
	}
	if err := checkName(AccountKind, "name", d.Name, ""); err != nil {
		return a, err
	}
	if err := caps.ServiceAccount.Count("permissions", len(d.Permissions)); err != nil {
		return a, err
	}
	for _, name := range d.Permissions {
		if err := checkText(AccountKind, "permissions", name); err != nil {
			return a, err
		}
	}
	k := AccountKey{ID: id, Name: d.Name, Digest: digest, Permissions: slices.Clone(d.Permissions), Created: now, Expires: expires}
	a.Keys = append(slices.Clone(a.Keys), k)
	return a, caps.ServiceAccount.Count("keys", len(a.Keys))
}

// Means refuses a limit with an unknown name, which would allow nothing: it is neither a
// permission of the product, nor a custom one of the organisation, nor one of the account.
func (d KeyDraft) Means(may access.Map, custom map[string]string) error {
	for i, name := range d.Permissions {
		if _, has := may[name]; !has && !access.Known(name, custom) {
			return fault.New(fault.Invalid, CodeKeyPermission, "permissions[%d]: there is no permission %q; name one of the product or an additional permission of the organisation", i, name).
				At("permissions[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

// WithoutKey returns a without a key; ok is false if there is no key with this ID.
func (a ServiceAccount) WithoutKey(id string) (_ ServiceAccount, ok bool) {
	n := len(a.Keys)
	a.Keys = slices.DeleteFunc(slices.Clone(a.Keys), func(k AccountKey) bool { return k.ID == id })
	return a, len(a.Keys) < n
}

// KeyBy returns the key with a digest, if it has not expired.
func (a ServiceAccount) KeyBy(digest string, now time.Time) (AccountKey, bool) {
	i := slices.IndexFunc(a.Keys, func(k AccountKey) bool { return k.Digest == digest })
	if i < 0 || !a.Keys[i].Expires.IsZero() && !now.Before(a.Keys[i].Expires) {
		return AccountKey{}, false
	}
	return a.Keys[i], true
}

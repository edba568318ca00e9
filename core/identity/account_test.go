package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
)

var accountNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestAccounts: required values of a service account.
func TestAccounts(t *testing.T) {
	read := access.Map{"apis": "read"}
	for want, d := range map[string]identity.AccountDraft{
		"":                      {Name: "ci-1.x", Permissions: read},
		"name":                  {Name: "CI", Permissions: read},
		"user_permissions":      {Name: "ci"},
		"user_permissions.apis": {Name: "ci", Permissions: access.Map{"apis": "all"}},
		"description":           {Name: "ci", Permissions: read, Description: strings.Repeat("x", 1001)},
		"group_ids":             {Name: "ci", GroupIDs: strings.Split(strings.Repeat("g,", 101), ",")},
	} {
		if a, err := identity.NewAccount("1", "o", accountNow, d); field(err) != want || err == nil && (!a.Active || a.Principal() != "service:ci-1.x" || a.User().Effective().Admin()) {
			t.Errorf("%q: %+v, %v", want, a, err)
		}
	}
	a, err := identity.NewAccount("1", "o", accountNow, identity.AccountDraft{Name: "ci", GroupIDs: []string{"g"}})
	if err != nil || a.User().Effective().Admin() {
		t.Fatal(a, err)
	}
	if _, err := a.Replace(identity.AccountDraft{Name: "other", GroupIDs: []string{"g"}}); field(err) != "name" {
		t.Error(err)
	}
}

// TestAccountKeys: required values of a key, and when it is valid.
func TestAccountKeys(t *testing.T) {
	a := identity.ServiceAccount{Name: "ci"}
	for want, d := range map[string]identity.KeyDraft{
		"name": {}, "expires_at": {Name: "k", Expires: accountNow.Format(time.RFC3339)}, "permissions": {Name: "k", Permissions: make([]string, 101)},
	} {
		if _, err := a.WithKey("k", "digest", accountNow, d); field(err) != want {
			t.Errorf("%q: %v", want, err)
		}
	}
	b, err := a.WithKey("k", "digest", accountNow, identity.KeyDraft{Name: "k", Expires: accountNow.Add(time.Hour).Format(time.RFC3339)})
	if err != nil || len(a.Keys) != 0 {
		t.Fatal(b, err)
	}
	for after, good := range map[time.Duration]bool{0: true, time.Hour - 1: true, time.Hour: false, 2 * time.Hour: false} {
		if _, ok := b.KeyBy("digest", accountNow.Add(after)); ok != good {
			t.Errorf("after %s: %v", after, ok)
		}
	}
	if _, ok := b.KeyBy("other", accountNow); ok {
		t.Error("another key is good")
	}
	if c, ok := b.WithoutKey("k"); !ok || len(c.Keys) != 0 || len(b.Keys) != 1 {
		t.Error(c, b)
	}
	if _, ok := b.WithoutKey("x"); ok {
		t.Error("a key that is not there is removed")
	}
	for range 19 {
		if b, err = b.WithKey("k", "d", accountNow, identity.KeyDraft{Name: "k"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err = b.WithKey("k", "d", accountNow, identity.KeyDraft{Name: "k"}); field(err) != "keys" {
		t.Error(err)
	}
}

// TestKeysAreLimitedToWhatThereIs: a limit with an unknown name is refused with its place.
func TestKeysAreLimitedToWhatThereIs(t *testing.T) {
	may, custom := access.Map{"legacy": "read"}, map[string]string{"billing": "Bills"}
	for want, names := range map[string][]string{
		"": {"apis", "policy", "IsAdmin", "legacy", "billing"}, "permissions[0]": {"appis"}, "permissions[1]": {"apis", "", "x"}, "permissions[2]": {"apis", "billing", "*"},
	} {
		if err := (identity.KeyDraft{Permissions: names}).Means(may, custom); field(err) != want {
			t.Errorf("%q: %v", names, err)
		}
	}
}

// TestLimit: the permissions of a limited key.
func TestLimit(t *testing.T) {
	admin, full := access.Map{"IsAdmin": "admin", "keys": "deny"}, access.Map{"apis": "write", "keys": "read", "oauth": "read"}
	for name, c := range map[string]struct {
		have access.Map
		p    access.Permission
		want access.Level
	}{
		"not limited":                        {full.Limit(nil), "keys", "read"},
		"what is named":                      {full.Limit([]string{"apis"}), "apis", "write"},
		"what is not named":                  {full.Limit([]string{"apis"}), "keys", "deny"},
		"what another one would speak for":   {full.Limit([]string{"apis"}), "oauth", "deny"},
		"what the account does not have":     {full.Limit([]string{"hooks"}), "hooks", "deny"},
		"of an admin":                        {admin.Limit([]string{"apis"}), "apis", "write"},
		"of an admin, denied":                {admin.Limit([]string{"keys"}), "keys", "deny"},
		"of an admin, not named":             {admin.Limit([]string{"apis"}), "hooks", "deny"},
		"of an admin, to be one":             {admin.Limit([]string{"IsAdmin"}), "IsAdmin", "admin"},
		"of an admin, not to be one":         {admin.Limit([]string{"apis"}), "IsAdmin", "deny"},
		"an account that is none, to be one": {full.Limit([]string{"IsAdmin"}), "IsAdmin", "deny"},
	} {
		if got := c.have.Level(c.p); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

package identity_test

import (
	"slices"
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
		"user_permissions ":     {Name: "ci", Permissions: access.Map{strings.Repeat("x", 1001): "read"}},
		"group_ids":             {Name: "ci", GroupIDs: strings.Split(strings.Repeat("g,", 101), ",")},
	} {
		if a, err := identity.NewAccount("1", "o", accountNow, d); field(err) != strings.TrimSpace(want) || err == nil && (!a.Active || a.Principal() != "service:ci-1.x" || a.User().Effective().Admin()) {
			t.Errorf("%q: %+v, %v", want, a, err)
		}
	}
	a, err := identity.NewAccount("1", "o", accountNow, identity.AccountDraft{Name: "ci", GroupIDs: []string{"g"}})
	if err != nil || a.User().Effective().Admin() {
		t.Fatal(a, err)
	}
	off := false
	if a, err := a.Replace(identity.AccountDraft{Name: "ci", GroupIDs: []string{"g"}, Active: &off}); err != nil || a.Active {
		t.Error("the account stays active:", err)
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
		"name ": {Name: "pay\u202elive"}, "permissions ": {Name: "k", Permissions: []string{"apis", strings.Repeat("x", 1001)}}, "expires_at ": {Name: "k", Expires: "tomorrow"},
	} {
		if _, err := a.WithKey("k", "digest", accountNow, d); field(err) != strings.TrimSpace(want) {
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
	if c, err := a.WithKey("k", "digest", accountNow, identity.KeyDraft{Name: "k", Permissions: []string{"apis"}}); err != nil || !slices.Equal(c.Keys[0].Permissions, []string{"apis"}) || !c.Keys[0].Expires.IsZero() {
		t.Error(c, err)
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

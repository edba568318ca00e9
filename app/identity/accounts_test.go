package identity_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// program creates a service account with a key and returns its ID and the key.
func (h *house) program(t testing.TB, draft, keyDraft string) (id, key string) {
	t.Helper()
	var made struct{ Meta any }
	text, err := h.ask(t, "service-accounts.create", as(t, "root", root, ""), draft)
	if err != nil || json.Unmarshal([]byte(text), &made) != nil {
		t.Fatal(text, err)
	}
	id = made.Meta.(string)
	return id, h.key(t, id, keyDraft)
}

// key creates a key of a service account.
func (h *house) key(t testing.TB, id, draft string) string {
	t.Helper()
	var made struct{ Meta struct{ Key string } }
	c := as(t, "root", root, id)
	c.Path["accountId"] = id
	text, err := h.ask(t, "service-accounts.keys.create", c, draft)
	if err != nil || json.Unmarshal([]byte(text), &made) != nil || made.Meta.Key == "" {
		t.Fatal(text, err)
	}
	return made.Meta.Key
}

// TestPrograms states which principal a service account is to operations, which keys
// are accepted, and that a deleted or expired key is refused.
func TestPrograms(t *testing.T) {
	h := open(t)
	at := now
	h.Now = func() time.Time { return at }
	h.organisation(t, acme)
	g := h.group(t, `{"name":"Publishers","user_permissions":{"apis":"write","hooks":"read"}}`)
	id, first := h.program(t, `{"name":"deploy","group_ids":["`+g+`"],"user_permissions":{"keys":"write"}}`, `{"name":"first","permissions":["apis"]}`)
	second := h.key(t, id, `{"name":"second","expires_at":"`+at.Add(time.Hour).Format(time.RFC3339)+`"}`)
	for key, want := range map[string]access.Map{first: {"apis": "write", "oauth": "deny"}, second: {"apis": "write", "hooks": "read"}} {
		c, err := h.login(t, key, access.APIs, access.Write)
		if err != nil || c.Principal.ID != "service:deploy" || c.Scope.Org() != acme || c.Scope.All() || len(c.Principal.Permissions) != len(want) || len(c.Principal.Groups) != 1 {
			t.Errorf("%+v, %v, want %v", c.Principal, err, want)
		}
		for p, level := range want {
			if c.Principal.Permissions[p] != level {
				t.Errorf("%s: %v", p, c.Principal.Permissions)
			}
		}
	}
	refused := func(key string) {
		t.Helper()
		_, err := h.login(t, key, access.APIs, access.Read)
		wants(t, err, fault.Unauthenticated, "auth.credential")
	}
	at = at.Add(time.Hour)
	refused(second)
	c := as(t, "root", root, id)
	c.Path["accountId"] = id
	for _, active := range []string{"false", "true"} {
		if _, err := h.ask(t, "service-accounts.replace", c, `{"active":`+active+`,"group_ids":["`+g+`"]}`); err != nil {
			t.Fatal(err)
		}
		if _, err := h.login(t, first, access.APIs, access.Read); (err == nil) != (active == "true") {
			t.Errorf("active: %s: %v", active, err)
		}
	}
	if _, err := h.ask(t, "usergroups.delete", as(t, "root", root, g), ""); err != nil {
		t.Fatal(err)
	}
	if c, err := h.login(t, first, access.APIs, access.Read); err != nil || c.Principal.Permissions.Admin() || c.Principal.Permissions.Allows(access.APIs, access.Read) {
		t.Errorf("without its group: %+v, %v", c.Principal, err)
	}
	if _, err := h.ask(t, "service-accounts.delete", c, ""); err != nil {
		t.Fatal(err)
	}
	refused(first)
	h.remove(t, acme, "organisation", acme)
	refused(first)
}

// TestProgramsAreGivenWhatOneHas states that a user cannot gain permissions by a
// service account: neither by its permission map, nor by its groups, nor by a key of an
// account that has more permissions.
func TestProgramsAreGivenWhatOneHas(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	id, _ := h.program(t, `{"name":"root","user_permissions":{"IsAdmin":"admin"}}`, `{"name":"first"}`)
	admins := h.group(t, `{"name":"Admins","active":false,"user_permissions":{"IsAdmin":"admin"}}`)
	for _, c := range []struct{ op, body, code string }{
		{"service-accounts.create", `{"name":"a","user_permissions":{"users":"write"}}`, ""},
		{"service-accounts.create", `{"name":"b","user_permissions":{"apis":"read"}}`, "auth.grant"},
		{"service-accounts.create", `{"name":"c","group_ids":["` + admins + `"]}`, "auth.grant"},
		{"service-accounts.keys.create", `{"name":"mine"}`, "auth.grant"},
		{"service-accounts.keys.create", `{"name":"mine","permissions":["apis"]}`, "auth.grant"},
		{"service-accounts.keys.create", `{"name":"mine","permissions":["users"]}`, ""},
		{"service-accounts.replace", `{"description":"mine","user_permissions":{"IsAdmin":"admin"}}`, ""},
		{"service-accounts.replace", `{"user_permissions":{"users":"write"}}`, ""},
		{"service-accounts.replace", `{"user_permissions":{"IsAdmin":"admin"}}`, "auth.grant"},
	} {
		call := as(t, "manager", manager, id)
		call.Path["accountId"] = id
		_, err := h.ask(t, c.op, call, c.body)
		wants(t, err, fault.Denied, c.code)
	}
}

// TestKeysOfUnknownPermissions: a key may be limited to permissions of the product, of
// the organisation and of the account. An organisation that defines no permissions has
// those of the configuration.
func TestKeysOfUnknownPermissions(t *testing.T) {
	h := open(t)
	h.Preset = map[string]string{"reports": "Reports"}
	h.organisation(t, acme)
	id, _ := h.program(t, `{"name":"deploy","user_permissions":{"apis":"read","legacy":"read"}}`, `{"name":"first"}`)
	for permission, want := range map[string]string{"hooks": "", "legacy": "", "reports": "", "appis": "permissions[0]", "billing": "permissions[0]"} {
		call := as(t, "root", root, id)
		call.Path["accountId"] = id
		_, err := h.ask(t, "service-accounts.keys.create", call, `{"name":"k","permissions":["`+permission+`"]}`)
		var f *fault.Error
		if (err == nil) != (want == "") || err != nil && (!errors.As(err, &f) || f.Field != want || !strings.Contains(f.Error(), permission)) {
			t.Errorf("%s: %v", permission, err)
		}
	}
}

// TestLastUse states that uses of a key are shown once they are written, that they
// change neither the account nor its entity tag, and that no use of a deleted key is
// written.
func TestLastUse(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	id, key := h.program(t, `{"name":"deploy","user_permissions":{"apis":"read"}}`, `{"name":"first"}`)
	call := as(t, "root", root, id)
	call.Path["accountId"] = id
	look := func() string {
		t.Helper()
		text, err := h.ask(t, "service-accounts.get", call, "")
		if err != nil || strings.Contains(text, "digest") || strings.Contains(text, key) {
			t.Fatal(text, err)
		}
		return text
	}
	before := look()
	for range 3 {
		if _, err := h.login(t, key, access.APIs, access.Read); err != nil {
			t.Fatal(err)
		}
	}
	if text := look(); text != before || !strings.Contains(text, `"last_used":null`) {
		t.Errorf("a call writes a use: %s", text)
	}
	programs := identity.ServiceAccounts{Service: h.Service}
	programs.WriteUses(t.Context())
	after := look()
	if want := strings.Replace(before, `"last_used":null`, `"last_used":"`+now.Format(time.RFC3339)+`"`, 1); after != want {
		t.Errorf("%s, want %s", after, want)
	}
	if _, err := h.login(t, key, access.APIs, access.Read); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ask(t, "service-accounts.delete", call, ""); err != nil {
		t.Fatal(err)
	}
	programs.WriteUses(t.Context())
	if n := h.count(t, "serviceaccount_use"); n != 0 {
		t.Errorf("%d uses of keys that are gone", n)
	}
}

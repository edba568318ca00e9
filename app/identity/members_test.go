package identity_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// as returns a call of a user of acme with a permission map, about a user.
func as(t testing.TB, who string, may access.Map, about string) operation.Call {
	t.Helper()
	scope, err := tenant.Of(acme)
	if err != nil {
		t.Fatal(err)
	}
	return operation.Call{Scope: scope, Path: map[string]string{"userId": about, "groupId": about}, Principal: operation.Principal{ID: who, OrgID: acme, Permissions: may}}
}

var (
	root    = access.Map{"IsAdmin": access.LevelAdmin}
	manager = access.Map{"users": access.LevelWrite, "user_groups": access.LevelWrite}
)

const adminDraft = `{"org_id":"` + acme + `","email_address":"%s@example.com","user_permissions":{"IsAdmin":"admin"}}`

// TestAccessKeysAreShown states who sees an access key: the user itself, and admins
// unless they are forbidden to.
func TestAccessKeysAreShown(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	id, key := h.user(t, fmt.Sprintf(adminDraft, "a"))
	for _, c := range []struct {
		who   string
		may   access.Map
		hide  bool
		shown bool
	}{
		{id, root, false, true}, {id, root, true, true}, {id, manager, true, true}, {"other", root, false, true}, {"other", root, true, false}, {"other", manager, false, false},
	} {
		h.HideKeys = c.hide
		for _, op := range []string{"users.get", "users.list", "users.search"} {
			text, err := h.ask(t, op, as(t, c.who, c.may, id), `{"filters":{"query":"EXAMPLE"}}`)
			if err != nil || strings.Contains(text, key) != c.shown || strings.Contains(text, "digest") || strings.Contains(text, "sealed") {
				t.Errorf("%+v: %s: %s, %v", c, op, text, err)
			}
		}
	}
	h.HideKeys, h.Keys = false, keys(t, second) // a key that cannot be opened does not make a list fail
	if text, err := h.ask(t, "users.list", as(t, "other", root, ""), ""); err != nil || !strings.Contains(text, `"access_key":""`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestKeyReset states who may reset the access key of a user, that the old key is
// refused afterwards, and that the response does not show the new one.
func TestKeyReset(t *testing.T) {
	for name, c := range map[string]struct {
		self bool
		keep bool
		code string
	}{"one's own": {self: true}, "one's own, always": {self: true, keep: true}, "another's": {}, "another's, where that is forbidden": {keep: true, code: "user.key_kept"}} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.organisation(t, acme)
			h.KeepKeys = c.keep
			id, key := h.user(t, fmt.Sprintf(adminDraft, "a"))
			who := "other"
			if c.self {
				who = id
			}
			text, err := h.ask(t, "users.key.reset", as(t, who, root, id), "")
			wants(t, err, fault.Denied, c.code)
			_, old := h.login(t, key, access.AnyUser, access.Read)
			if (old == nil) != (c.code != "") {
				t.Errorf("the older key: %v", old)
			}
			var v struct {
				Value struct {
					AccessKey string `json:"access_key"`
				}
			}
			if full, err := h.ask(t, "users.get", as(t, id, nil, id), ""); err != nil || json.Unmarshal([]byte(full), &v) != nil || v.Value.AccessKey == "" || strings.Contains(text, v.Value.AccessKey) {
				t.Errorf("%s, %v; the answer is %s", full, err, text)
			}
			if _, err := h.login(t, v.Value.AccessKey, access.AnyUser, access.Read); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLastAdmin states that an organisation keeps an active admin, whichever operation
// would remove the last one, and that an admin of another organisation does not count.
func TestLastAdmin(t *testing.T) {
	const refused = "auth.last_admin"
	for name, lose := range map[string]func(h *house, user, group string) (string, string, string){
		"deleted":              func(_ *house, u, _ string) (string, string, string) { return "users.delete", u, "" },
		"revoked":              func(_ *house, u, _ string) (string, string, string) { return "users.revoke", u, "" },
		"deactivated":          func(_ *house, u, _ string) (string, string, string) { return "users.replace", u, `{"active":false}` },
		"without its group":    func(_ *house, u, _ string) (string, string, string) { return "users.replace", u, `{"group_id":""}` },
		"its group is deleted": func(_ *house, _, g string) (string, string, string) { return "usergroups.delete", g, "" },
		"its group is deactivated": func(_ *house, _, g string) (string, string, string) {
			return "usergroups.replace", g, `{"name":"g","active":false,"user_permissions":{"IsAdmin":"admin"}}`
		},
		"its group is no admin's": func(_ *house, _, g string) (string, string, string) {
			return "usergroups.replace", g, `{"name":"g","user_permissions":{"apis":"write"}}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.organisation(t, acme)
			h.organisation(t, other)
			h.user(t, `{"org_id":"`+other+`","email_address":"b@example.com","user_permissions":{"IsAdmin":"admin"}}`)
			g := h.group(t, `{"name":"Admins","user_permissions":{"IsAdmin":"admin"}}`)
			id, _ := h.user(t, `{"org_id":"`+acme+`","email_address":"a@example.com","group_id":"`+g+`"}`)
			op, about, body := lose(h, id, g)
			_, err := h.ask(t, op, as(t, "root", root, about), body)
			wants(t, err, fault.Denied, refused)
			h.user(t, `{"org_id":"`+acme+`","email_address":"c@example.com","user_permissions":{"IsAdmin":"true"}}`)
			_, err = h.ask(t, op, as(t, "root", root, about), body)
			wants(t, err, 0, "")
		})
	}
}

// TestNoAdminByLosingAGroup states that an empty permission map, which makes an admin
// of a user that an old script creates, makes no admin of a user who has been in a
// group.
func TestNoAdminByLosingAGroup(t *testing.T) {
	for name, leave := range map[string][2]string{"the group is deleted": {"usergroups.delete", ""}, "the user leaves it": {"users.replace", `{"group_id":"","group_ids":[]}`}} {
		h := open(t)
		h.organisation(t, acme)
		_, bare := h.user(t, `{"org_id":"`+acme+`","email_address":"bare@example.com"}`)
		g := h.group(t, `{"name":"Readers","user_permissions":{"apis":"read"}}`)
		id, key := h.user(t, `{"org_id":"`+acme+`","email_address":"a@example.com","group_id":"`+g+`"}`)
		about := g
		if leave[0] == "users.replace" {
			about = id
		}
		if _, err := h.ask(t, leave[0], as(t, "root", root, about), leave[1]); err != nil {
			t.Fatal(name, err)
		}
		if c, err := h.login(t, key, access.AnyUser, access.Read); err != nil || c.Principal.Permissions.Admin() || c.Principal.Permissions.Allows(access.APIs, access.Read) {
			t.Errorf("%s: %+v, %v", name, c.Principal, err)
		}
		if c, err := h.login(t, bare, access.AnyUser, access.Read); err != nil || !c.Principal.Permissions.Admin() {
			t.Errorf("%s: %+v, %v", name, c.Principal, err)
		}
	}
}

// TestGiving states that users cannot give permissions that they do not have, by any
// operation.
func TestGiving(t *testing.T) {
	const refused = "auth.grant"
	h := open(t)
	h.organisation(t, acme)
	admins := h.group(t, `{"name":"Admins","active":false,"user_permissions":{"IsAdmin":"admin"}}`)
	limited := h.group(t, `{"name":"Limited","user_permissions":{"apis":"read","hooks":"deny"}}`)
	target, _ := h.user(t, fmt.Sprintf(adminDraft, "target"))
	held, _ := h.user(t, `{"org_id":"`+acme+`","email_address":"held@example.com","group_id":"`+limited+`","user_permissions":{"apis":"write"}}`)
	asleep, _ := h.user(t, `{"org_id":"`+acme+`","email_address":"asleep@example.com","active":false,"user_permissions":{"apis":"write"}}`)
	const fresh = `{"first_name":"F","last_name":"L","email_address":"%s@example.com",%s}`
	for i, c := range []struct {
		op, about, body string
		may             access.Map
		code            string
	}{
		{"users.create", "", `"user_permissions":{"users":"write"}`, manager, ""},
		{"users.create", "", `"user_permissions":{"users":"admin"}`, manager, refused},
		{"users.create", "", `"user_permissions":{"users":"read"},"active":false`, manager, ""},
		{"users.create", "", `"user_permissions":{"IsAdmin":"admin"},"active":false`, manager, refused},
		{"users.create", "", `"user_permissions":{"users":"read"},"group_id":"` + limited + `"`, manager, refused},
		{"users.create", "", `"user_permissions":{"users":"read"},"group_ids":["` + admins + `"]`, manager, refused},
		{"users.create", "", `"group_ids":["` + admins + `"]`, root, ""},
		{"users.replace", target, `{"first_name":"New"}`, manager, ""},
		{"users.replace", target, `{"email_address":"mine@example.com"}`, manager, refused},
		{"users.replace", held, `{"group_id":""}`, manager, refused},
		{"users.replace", held, `{"user_permissions":{"apis":"write","keys":"read"}}`, manager, refused},
		{"users.replace", asleep, `{"last_name":"New"}`, manager, ""},
		{"users.replace", asleep, `{"active":true}`, manager, refused},
		{"usergroups.create", "", `{"name":"g","user_permissions":{"users":"write"}}`, manager, ""},
		{"usergroups.create", "", `{"name":"g","active":false,"user_permissions":{"apis":"read"}}`, manager, refused},
		{"usergroups.replace", limited, `{"name":"g","user_permissions":{"apis":"read"}}`, manager, refused},
		{"usergroups.replace", limited, `{"name":"g","user_permissions":{"apis":"deny","hooks":"deny"}}`, manager, ""},
		{"usergroups.replace", limited, `{"name":"g","active":false,"user_permissions":{"apis":"deny","hooks":"deny"}}`, manager, refused},
		{"usergroups.delete", limited, "", manager, refused},
		{"usergroups.replace", admins, `{"name":"g","active":true,"user_permissions":{"IsAdmin":"admin"}}`, manager, refused},
	} {
		if c.op == "users.create" {
			c.body = fmt.Sprintf(fresh, fmt.Sprint("u", i), c.body)
		}
		_, err := h.ask(t, c.op, as(t, "manager", c.may, c.about), c.body)
		wants(t, err, fault.Denied, c.code)
	}
}

// TestShutOut states that a deactivated user loses its sessions, and that a deleted
// user is also removed as an owner.
func TestShutOut(t *testing.T) {
	for op, c := range map[string]struct {
		body string
		want string
	}{
		"users.revoke":    {"", "sessions"},
		"users.replace":   {`{"active":false}`, "sessions"},
		"users.delete":    {"", "owned sessions"},
		"users.key.reset": {"", ""},
	} {
		h := open(t)
		h.organisation(t, acme)
		h.user(t, fmt.Sprintf(adminDraft, "root"))
		id, _ := h.user(t, fmt.Sprintf(adminDraft, "a"))
		done := []string{}
		note := func(what string) func(context.Context, store.Writer, string) error {
			return func(_ context.Context, _ store.Writer, user string) error {
				if user != id {
					t.Errorf("%s: %s of %s", op, what, user)
				}
				done = append(done, what)
				return nil
			}
		}
		h.EndSessions, h.Disown = note("sessions"), note("owned")
		if _, err := h.ask(t, op, as(t, "root", root, id), c.body); err != nil {
			t.Error(op, err)
		}
		if have := strings.Join(done, " "); have != c.want {
			t.Errorf("%s: %q, want %q", op, have, c.want)
		}
	}
}

// TestAddressesStayApart states that an address of another organisation may be used
// only if the setting allows it, also in an update, and that users of other
// organisations are not found.
func TestAddressesStayApart(t *testing.T) {
	for _, multi := range []bool{false, true} {
		h := open(t)
		h.MultiOrg = multi
		h.organisation(t, acme)
		h.organisation(t, other)
		theirs, _ := h.user(t, `{"org_id":"`+other+`","email_address":"b@example.com"}`)
		ours, _ := h.user(t, fmt.Sprintf(adminDraft, "a"))
		_, err := h.ask(t, "users.replace", as(t, "root", root, ours), `{"email_address":"B@example.com"}`)
		wants(t, err, fault.Conflict, map[bool]string{false: "user.taken", true: ""}[multi])
		for _, op := range []string{"users.get", "users.replace", "users.delete", "users.revoke", "users.key.reset"} {
			c := as(t, "root", root, theirs)
			c.Header = map[string]string{"If-Match": `"1"`}
			_, err := h.ask(t, op, c, `{"email_address":"c@example.com"}`)
			wants(t, err, fault.NotFound, "user.not_found")
		}
	}
}

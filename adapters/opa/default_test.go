package opa_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

func TestDefaultRules(t *testing.T) {
	const (
		inactive = "User is not active"
		reset    = "You do not have permission to reset the password for other users."
		resetFor = reset + " Rules of the organisation can allow admins to."
	)
	unknown := func(p string) string {
		return "This action is unknown. You do not have permission to access '" + p + "'."
	}
	missing := func(p string) string { return "You do not have permission to access '" + p + "'." }
	level := func(i string) string { return "You do not have permission to carry out '" + i + "' operation." }
	admin := access.Map{"IsAdmin": "admin"}
	for _, c := range []struct {
		name, op, path string
		m              access.Map
		sleeps         bool // the user is inactive
		allowed        bool // allow_admin_reset_password
		want           []string
	}{
		{name: "a user who may", op: "apis.update", path: "/api/apis/1", m: access.Map{"apis": "write"}},
		{name: "a trailing slash", op: "apis.update", path: "/api/apis/1/", m: access.Map{"apis": "write"}},
		{name: "an admin needs no entry", op: "apis.update", path: "/api/apis/1", m: admin},
		{name: "an admin spelled true", op: "apis.update", path: "/api/apis/1", m: access.Map{"IsAdmin": "true"}},
		{name: "an inactive admin", op: "apis.get", path: "/api/apis/1", m: admin, sleeps: true, want: []string{inactive}},
		{name: "two reasons, sorted", op: "apis.get", path: "/api/apis/1", sleeps: true, want: []string{inactive, missing("/api/apis/1")}},

		{name: "no group", op: "odd", path: "/api/odd", m: access.Map{"apis": "write"}, want: []string{unknown("/api/odd")}},
		{name: "no group for an admin", op: "odd", path: "/api/odd", m: admin, want: []string{unknown("/api/odd")}},
		{name: "a path that is not the row's", op: "apis.get", path: "/api/others/1", m: admin, want: []string{unknown("/api/others/1")}},
		{name: "own user on an unknown path", op: "odd", path: "/api/users/u1"},

		{name: "no entry", op: "apis.get", path: "/api/apis/1", m: access.Map{"keys": "write"}, want: []string{missing("/api/apis/1")}},
		{name: "no map", op: "apis.get", path: "/api/apis/1", want: []string{missing("/api/apis/1")}},
		{name: "not an admin", op: "apis.get", path: "/api/apis/1", m: access.Map{"IsAdmin": "false"}, want: []string{missing("/api/apis/1")}},
		{name: "own user without entry", op: "users.get", path: "/api/users/u1"},
		{name: "own user, trailing slash", op: "users.get", path: "/api/users/u1/"},
		{name: "own user despite deny", op: "users.get", path: "/api/users/u1", m: access.Map{"users": "deny"}},
		{name: "another user", op: "users.get", path: "/api/users/u2", want: []string{missing("/api/users/u2")}},
		{name: "own user is not for writing", op: "users.update", path: "/api/users/u1", want: []string{missing("/api/users/u1")}},
		{name: "me", op: "users.me", path: "/api/users/me"},
		{name: "own key", op: "users.key", path: "/api/users/u1/actions/key/reset"},
		{name: "own key despite deny", op: "users.key", path: "/api/users/u1/actions/key/reset", m: access.Map{"users": "deny"}},
		{name: "own key of an admin despite deny", op: "users.key", path: "/api/users/u1/actions/key/reset", m: access.Map{"users": "deny", "IsAdmin": "admin"}},
		{name: "another's key", op: "users.key", path: "/api/users/u2/actions/key/reset", want: []string{missing("/api/users/u2/actions/key/reset")}},

		{name: "read is not write", op: "apis.update", path: "/api/apis/1", m: access.Map{"apis": "read"}, want: []string{level("write")}},
		{name: "read is not delete", op: "apis.delete", path: "/api/apis/1", m: access.Map{"apis": "read"}, want: []string{level("delete")}},
		{name: "deny is not read", op: "apis.get", path: "/api/apis/1", m: access.Map{"apis": "deny"}, want: []string{level("read")}},
		{name: "write is delete", op: "apis.delete", path: "/api/apis/1", m: access.Map{"apis": "write"}},
		{name: "admin as a level", op: "apis.delete", path: "/api/apis/1", m: access.Map{"apis": "admin"}},
		{name: "a search by POST only reads", op: "users.search", path: "/api/users/search", m: access.Map{"users": "read"}},
		{name: "deny for an admin", op: "apis.get", path: "/api/apis/1", m: access.Map{"apis": "deny", "IsAdmin": "admin"}, want: []string{level("read")}},
		{name: "read is no deny for an admin", op: "apis.delete", path: "/api/apis/1", m: access.Map{"apis": "read", "IsAdmin": "admin"}},

		{name: "any user", op: "schema.get", path: "/api/schema"},
		{name: "any user, whatever the map", op: "schema.get", path: "/api/schema", m: access.Map{"*": "deny"}},
		{name: "only admins", op: "rules.update", path: "/api/org/opa", m: access.Map{"IsAdmin": "write"}, want: []string{level("write")}},
		{name: "policy is policies", op: "policies.create", path: "/api/portal/policies", m: access.Map{"policy": "write", "policies": "deny"}},

		{name: "another's password", op: "users.setpassword", path: "/api/users/u2/actions/reset", m: access.Map{"users": "write"}, want: []string{reset}},
		{name: "another's password, guarded by ResetPassword", op: "users.password", path: "/api/users/u2/actions/reset", m: access.Map{"users": "write"}, want: []string{reset}},
		{name: "another's password without any entry", op: "users.setpassword", path: "/api/users/u2/actions/reset", want: []string{missing("/api/users/u2/actions/reset"), reset}},
		{name: "the setting is for admins only", op: "users.setpassword", path: "/api/users/u2/actions/reset", m: access.Map{"users": "write"}, allowed: true, want: []string{reset}},
		{name: "a holder of ResetPassword", op: "users.password", path: "/api/users/u2/actions/reset", m: access.Map{"ResetPassword": "write"}},
		{name: "own password", op: "users.password", path: "/api/users/u1/actions/reset"},
		{name: "own password, guarded by users", op: "users.setpassword", path: "/api/users/u1/actions/reset"},
		{name: "the first admin's own password", op: "users.password", path: "/api/users/u1/actions/reset", m: admin},
		{name: "another's password by an admin", op: "users.password", path: "/api/users/u2/actions/reset", m: admin, want: []string{resetFor}},
		{name: "the same when allowed", op: "users.password", path: "/api/users/u2/actions/reset", m: admin, allowed: true},
		{name: "the same with ResetPassword", op: "users.password", path: "/api/users/u2/actions/reset", m: access.Map{"IsAdmin": "admin", "ResetPassword": "admin"}},
	} {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/whole table %v", c.name, whole), func(t *testing.T) {
				e := engine(t, opa.Config{WholeTable: whole, Security: map[string]any{"allow_admin_reset_password": c.allowed}})
				call := call(t, things, c.op, c.path, c.m)
				call.Principal.Active = !c.sleeps
				if v := decide(t, e, call); !slices.Equal(v.Denials, c.want) || v.Patch != nil {
					t.Errorf("%q, %s; want %q", v.Denials, v.Patch, c.want)
				}
			})
		}
	}
}

// The default rules and the built-in decision agree, except that a literal deny binds admins here
// (docs/wire/permissions.md#the-permission-map).
func TestDefaultRulesAgreeWithBuiltIn(t *testing.T) {
	groups := []access.Permission{
		access.APIs, access.MCP, access.Keys, access.Policies, access.OAuth, access.Certs, access.Assets, access.Hooks,
		access.Users, access.UserGroups, access.Analytics, access.Logs, access.IDM, access.Portal, access.System,
		access.AuditLogs, access.Governance, access.IsAdmin, access.ResetPassword, access.AnyUser, "custom",
	}
	intents := map[access.Intent]string{access.Read: "GET", access.Write: "PUT", access.Delete: "DELETE"}
	var ops []operation.Operation
	for _, g := range groups {
		for i, method := range intents {
			ops = append(ops, spec(fmt.Sprint(g, i), method, fmt.Sprintf("/api/about/%d", len(ops)), g, i))
		}
	}
	e, err := opa.New(opa.Config{}, ops)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ops {
		for _, m := range maps(ops[i].Permission) {
			c := call(t, ops, ops[i].ID, ops[i].Path, m)
			builtIn, _ := rules.BuiltIn{}.Decide(t.Context(), c)
			entry := ops[i].Permission != access.AnyUser && literalDeny(m, ops[i].Permission)
			want := len(builtIn.Denials) == 0 && !(m.Admin() && entry)
			if v := decide(t, e, c); (len(v.Denials) == 0) != want {
				t.Fatalf("%s %s with %v: %q, want allowed %v", ops[i].Permission, ops[i].Intent, m, v.Denials, want)
			}
		}
	}
}

// maps returns permission maps with all relevant values for a group.
func maps(g access.Permission) (out []access.Map) {
	levels := []access.Level{"", access.LevelDeny, access.LevelRead, access.LevelWrite, access.LevelAdmin, "odd"}
	other := map[access.Permission]string{access.Policies: "policy", access.OAuth: "apis"}[g]
	for _, own := range levels {
		for _, also := range levels {
			for _, admin := range []access.Level{"", "admin", "true", "false", "write"} {
				m := access.Map{"unrelated": "write"}
				for name, l := range map[string]access.Level{string(g): own, other: also, "IsAdmin": admin} {
					if l != "" && name != "" {
						m[name] = l
					}
				}
				out = append(out, m)
			}
			if other == "" {
				break
			}
		}
	}
	return out
}

// literalDeny reports whether the entries for a group say deny, and none of them permits more.
func literalDeny(m access.Map, g access.Permission) bool {
	names := []string{string(g)}
	switch _, own := m[string(g)]; {
	case g == access.Policies:
		names = []string{"policies", "policy"}
	case g == access.OAuth && !own:
		names = []string{"apis"}
	}
	deny := false
	for _, n := range names {
		switch m[n] {
		case access.LevelDeny:
			deny = true
		case access.LevelRead, access.LevelWrite, access.LevelAdmin:
			return false
		}
	}
	return deny
}

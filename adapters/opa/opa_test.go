package opa_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// spec is a row of the table that the tests decide about.
func spec(id, method, path string, p access.Permission, i access.Intent) operation.Operation {
	return operation.Operation{Spec: operation.Spec{
		ID: id, Surface: operation.Management, Method: method, Path: path, Permission: p, Intent: i,
	}}
}

var things = []operation.Operation{
	spec("apis.get", "GET", "/api/apis/{id}", access.APIs, access.Read),
	spec("apis.update", "PUT", "/api/apis/{id}", access.APIs, access.Write),
	spec("apis.delete", "DELETE", "/api/apis/{id}", access.APIs, access.Delete),
	spec("apis.keys", "GET", "/api/apis/keys", access.Keys, access.Read),
	spec("policies.create", "POST", "/api/portal/policies", access.Policies, access.Write),
	spec("users.get", "GET", "/api/users/{id}", access.Users, access.Read),
	spec("users.update", "PUT", "/api/users/{id}", access.Users, access.Write),
	spec("users.search", "POST", "/api/users/search", access.Users, access.Read),
	spec("users.me", "GET", "/api/users/me", access.AnyUser, access.Read),
	spec("users.key", "PUT", "/api/users/{id}/actions/key/reset", access.Users, access.Write),
	spec("users.password", "POST", "/api/users/{id}/actions/reset", access.ResetPassword, access.Write),
	spec("users.setpassword", "POST", "/api/users/{id}/actions/reset", access.Users, access.Write),
	spec("schema.get", "GET", "/api/schema", access.AnyUser, access.Read),
	spec("rules.update", "PUT", "/api/org/opa", access.IsAdmin, access.Write),
	spec("odd", "GET", "/api/odd", "", access.Read),
}

// call is a call by user u1, who is active and has the given permissions.
func call(t testing.TB, ops []operation.Operation, id, path string, m access.Map) *operation.Call {
	t.Helper()
	i := slices.IndexFunc(ops, func(o operation.Operation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("no operation %s", id)
	}
	return &operation.Call{
		Spec: &ops[i].Spec, RawPath: path,
		Principal: operation.Principal{ID: "u1", OrgID: "org1", Email: "u1@example.com", Active: true, Permissions: m},
	}
}

func engine(t testing.TB, cfg opa.Config) *opa.Engine {
	t.Helper()
	e, err := opa.New(cfg, things)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// written writes rules to a file and returns its name.
func written(t testing.TB, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dashboard.rego")
	write(t, name, text)
	return name
}

func write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// orgRules gives every organisation the same rules.
func orgRules(text string) func(context.Context, tenant.ID) (string, error) {
	return func(context.Context, tenant.ID) (string, error) { return text, nil }
}

func decide(t testing.TB, e *opa.Engine, c *operation.Call) rules.Verdict {
	t.Helper()
	v, err := e.Decide(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// always is a rule set that denies everything for one reason.
func always(reason string) string {
	return "package dashboard_users\ndeny[\"" + reason + "\"] { true }\n"
}

// slowly gives rules a lookup that blocks until a channel is closed.
func slowly(end <-chan struct{}, cfg opa.Config) opa.Config {
	cfg.Lookup = func(context.Context, *operation.Call, string) (any, error) {
		<-end
		return true, nil
	}
	return cfg
}

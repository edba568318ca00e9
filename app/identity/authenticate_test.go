package identity_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestAuthenticate states that the caller is the active user of an existing
// organisation whose access key the call presents. All other callers get the same
// response.
func TestAuthenticate(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	h.organisation(t, other)
	g := h.group(t, `{"name":"Readers","user_permissions":{"apis":"read"}}`)
	id, active := h.user(t, `{"org_id":"`+acme+`","email_address":"Ada@Example.com","group_id":"`+g+`","user_permissions":{"hooks":"write"}}`)
	_, asleep := h.user(t, `{"org_id":"`+acme+`","email_address":"b@example.com","active":false}`)
	_, homeless := h.user(t, `{"org_id":"`+other+`","email_address":"c@example.com"}`)
	h.remove(t, other, "organisation", other)
	for name, token := range map[string]string{
		"no key": "", "a key that is unknown": "0123456789abcdef0123456789abcdef", "part of a key": active[:31], "a key in capitals": "A" + active[1:],
		"an inactive user": asleep, "an organisation that is gone": homeless,
	} {
		c, err := h.login(t, token, access.APIs, access.Read)
		wants(t, err, fault.Unauthenticated, guard.Unauthenticated().Code)
		if err != nil && err.Error() != guard.Unauthenticated().Message {
			t.Errorf("%s: a caller is told %q", name, err)
		}
		if !c.Scope.IsZero() {
			t.Errorf("%s reaches %+v", name, c.Scope)
		}
	}
	c, err := h.login(t, active, access.APIs, access.Read)
	if err != nil {
		t.Fatal(err)
	}
	if c.Scope.Org() != acme || c.Scope.All() {
		t.Errorf("the scope is %+v", c.Scope)
	}
	if p := c.Principal; p.ID != id || p.OrgID != acme || p.GroupID != g || p.GroupName != "Readers" || len(p.Groups) != 1 || p.Groups[0] != g || p.Permissions["hooks"] != "" || p.Email != "ada@example.com" || !p.Active || p.Permissions["apis"] != "read" || p.Permissions.Admin() {
		t.Errorf("the principal is %+v", p)
	}
}

// TestSuperUser states that a user without organisation reads in every organisation,
// and writes only what any user may write about itself.
func TestSuperUser(t *testing.T) {
	h := open(t)
	_, key := h.user(t, `{"email_address":"root@example.com"}`)
	for _, c := range []struct {
		permission access.Permission
		intent     access.Intent
		code       string
	}{
		{access.APIs, access.Read, ""}, {access.APIs, access.Write, identity.CodeReadsOnly}, {access.APIs, access.Delete, identity.CodeReadsOnly},
		{access.IsAdmin, access.Write, identity.CodeReadsOnly}, {access.AnyUser, access.Write, ""}, {access.AnyUser, access.Read, ""},
	} {
		call, err := h.login(t, key, c.permission, c.intent)
		wants(t, err, fault.Denied, c.code)
		if call.Scope.All() != (c.code == "") || call.Scope.IsZero() != (c.code != "") {
			t.Errorf("%s %s reaches %+v", c.intent, c.permission, call.Scope)
		}
	}
}

// TestRotatedKey states that a user keeps its access key when the secret is rotated,
// and loses the key when the secret that protects the key is removed.
func TestRotatedKey(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	_, key := h.user(t, `{"org_id":"`+acme+`","email_address":"a@example.com"}`)
	for _, c := range []struct {
		secrets []string
		code    string
	}{{[]string{second, first}, ""}, {[]string{second, third, first}, ""}, {[]string{second}, guard.Unauthenticated().Code}} {
		h.Keys = keys(t, c.secrets...)
		_, err := h.login(t, key, access.APIs, access.Read)
		wants(t, err, fault.Unauthenticated, c.code)
	}
}

// FuzzEqual states that a secret equals only itself, and that an empty secret equals
// nothing.
func FuzzEqual(f *testing.F) {
	f.Add("", "")
	f.Add("secret", "secret")
	f.Add("secret", "secret\x00")
	f.Add("secret", "")
	f.Fuzz(func(t *testing.T, secret, presented string) {
		want := secret != "" && secret == presented
		if identity.Equal(secret, presented) != want {
			t.Errorf("%q and %q: %v", secret, presented, !want)
		}
		c := &operation.Call{Spec: &operation.Spec{}, Token: presented}
		err := identity.AuthenticateAdmin(secret, "the broker's")(t.Context(), c)
		if (err == nil) != want || c.Scope.All() != want || want != (c.Principal.ID == "admin") {
			t.Errorf("%q and %q: %+v, %v", secret, presented, c.Principal, err)
		}
		if !want && c.Scope.Admits(tenant.ID("any")) {
			t.Errorf("%q and %q reach %+v", secret, presented, c.Scope)
		}
	})
}

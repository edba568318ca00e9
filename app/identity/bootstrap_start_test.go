package identity_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/app/identity"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// change calls an operation of the super-admin.
func (h *house) change(t *testing.T, id string, path map[string]string, body string) {
	t.Helper()
	if _, err := h.ask(t, id, operation.Call{Scope: tenant.Everyone("test"), Path: path}, body); err != nil {
		t.Fatal(err)
	}
}

// TestBootstrapAtStart: a later start finds the same settings again. It does not create
// again what admins have renamed or deleted since, as long as there is an admin, and it
// does not fail.
func TestBootstrapAtStart(t *testing.T) {
	const key = "0123456789abcdef0123456789abcdef"
	rename := func(t *testing.T, h *house, b identity.Bootstrapped) {
		h.change(t, "admin.organisations.replace", map[string]string{"orgID": string(b.OrgID)}, `{"owner_name":"Renamed"}`)
	}
	slug := func(t *testing.T, h *house, _ identity.Bootstrapped) { h.organisation(t, "default") }
	move := func(t *testing.T, h *house, b identity.Bootstrapped) {
		h.change(t, "admin.users.update", map[string]string{"userId": b.UserID}, `{"email_address":"new@example.com"}`)
	}
	another := func(t *testing.T, h *house, b identity.Bootstrapped) {
		h.user(t, `{"org_id":"`+string(b.OrgID)+`","email_address":"other@example.com","user_permissions":{"IsAdmin":"admin"}}`)
	}
	gone := func(t *testing.T, h *house, b identity.Bootstrapped) {
		h.remove(t, string(b.OrgID), "user", b.UserID)
	}
	del := func(t *testing.T, h *house, b identity.Bootstrapped) {
		h.change(t, "admin.organisations.delete", map[string]string{"orgID": string(b.OrgID)}, "")
	}
	beside := func(t *testing.T, h *house, _ identity.Bootstrapped) { h.organisation(t, other) }
	for name, c := range map[string]struct {
		id          string // of the organisation, in the settings
		since       []func(*testing.T, *house, identity.Bootstrapped)
		user        bool // the admin is found
		made        bool // an admin is created
		orgs, users int
	}{
		"nothing":                           {"", nil, true, false, 1, 1},
		"nothing, with an ID":               {acme, nil, true, false, 1, 1},
		"the organisation has no slug":      {"", []func(*testing.T, *house, identity.Bootstrapped){rename}, true, false, 1, 1},
		"another one has the slug":          {"", []func(*testing.T, *house, identity.Bootstrapped){rename, slug}, true, false, 2, 1},
		"the admin has another address":     {"", []func(*testing.T, *house, identity.Bootstrapped){move}, false, false, 1, 1},
		"both":                              {"", []func(*testing.T, *house, identity.Bootstrapped){rename, move}, true, false, 1, 1},
		"another admin in place of the one": {acme, []func(*testing.T, *house, identity.Bootstrapped){another, gone}, false, false, 1, 1},
		"no admin is left":                  {"", []func(*testing.T, *house, identity.Bootstrapped){gone}, false, true, 1, 1},
		"the only organisation is deleted":  {"", []func(*testing.T, *house, identity.Bootstrapped){del}, false, true, 1, 2},
		"it is deleted, another is there":   {"", []func(*testing.T, *house, identity.Bootstrapped){beside, del}, false, false, 1, 1},
		"one with an ID is deleted":         {acme, []func(*testing.T, *house, identity.Bootstrapped){del}, false, false, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			f := identity.First{OrgID: c.id, Email: "me@example.com", AccessKey: key, Password: "secret-word", AtStart: true}
			b, err := h.Bootstrap(t.Context(), f)
			if err != nil || !b.Created {
				t.Fatalf("%+v, %v", b, err)
			}
			for _, since := range c.since {
				since(t, h, b)
			}
			again, err := h.Bootstrap(t.Context(), f)
			if err != nil || again.Created != c.made || (again.UserID == b.UserID) != c.user || (again.UserID == "") == (c.user || c.made) {
				t.Errorf("%+v after %+v, %v", again, b, err)
			}
			if orgs, users := h.count(t, "organisation"), h.count(t, "user"); orgs != c.orgs || users != c.users {
				t.Errorf("%d organisations, %d users", orgs, users)
			}
			if !c.made {
				return
			}
			if call, err := h.login(t, key, access.IsAdmin, access.Write); err != nil || call.Principal.ID != again.UserID {
				t.Errorf("the key is that of %+v, %v", call.Principal, err)
			}
		})
	}
}

// TestBootstrapSharesNoKey: an access key that a user has is not given to a second
// user, because calls would then belong to both; and no organisation is created without
// its admin.
func TestBootstrapSharesNoKey(t *testing.T) {
	h := open(t)
	h.organisation(t, acme)
	_, key := h.user(t, `{"org_id":"`+acme+`","email_address":"ann@example.com","user_permissions":{"apis":"read"}}`)
	for _, f := range []identity.First{{OrgID: acme, Email: "me@example.com", AccessKey: key}, {OrgID: other, Email: "me@example.com", AccessKey: key}} {
		_, err := h.Bootstrap(t.Context(), f)
		wants(t, err, fault.Invalid, "user.access_key")
	}
	if orgs, users := h.count(t, "organisation"), h.count(t, "user"); orgs != 1 || users != 1 {
		t.Errorf("%d organisations, %d users", orgs, users)
	}
}

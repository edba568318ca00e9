package identity_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/identity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

func field(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Field
	}
	return ""
}

func TestNewUser(t *testing.T) {
	no, now := false, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	u, err := identity.NewUser("1", now, identity.UserDraft{ID: "chosen", OrgID: "o", Email: " Ada@Example.COM ", FirstName: strings.Repeat("é", 1000), GroupIDs: []string{"g"}})
	if err != nil || u.ID != "1" || u.Email != "ada@example.com" || !u.Active || u.Permissions == nil || !u.Grouped || len(u.Groups()) != 1 || u.Created != now {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err := identity.NewUser("1", now, identity.UserDraft{Email: "a@b.example", Active: &no}); err != nil || u.Active {
		t.Errorf("%+v, %v", u, err)
	}
	for want, d := range map[string]identity.UserDraft{
		"email_address":           {Email: "nobody"},
		"user_permissions.apis":   {Email: "a@b.example", Permissions: access.Map{"apis": "maybe"}},
		"user_permissions":        {Email: "a@b.example", Permissions: access.Map{"": "write"}},
		"user_permissions.portal": {Email: "a@b.example", Permissions: access.Map{"portal": ""}},
		"first_name":              {Email: "a@b.example", FirstName: strings.Repeat("é", 1001)},
		"last_name":               {Email: "a@b.example", LastName: strings.Repeat("é", 1001)},
		"password_max_days":       {Email: "a@b.example", PasswordMaxDays: -1},
		"group_ids":               {Email: "a@b.example", GroupIDs: make([]string, 1001)},
	} {
		if _, err := identity.NewUser("1", now, d); fault.KindOf(err) != fault.Invalid || field(err) != want {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

func TestCleanEmail(t *testing.T) {
	for in, want := range map[string]string{
		"A@b.example": "a@b.example", "a+tag@b.example": "a+tag@b.example", "": "", "a": "", "a@": "", "@b": "", "Ada <a@b.example>": "", "a@b.example, c@d.example": "", "a b@c": "",
		strings.Repeat("a", 64) + "@" + strings.Repeat("b.", 127) + "bb": "",
	} {
		got, err := identity.CleanEmail(in)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// An empty map makes an admin only of some users (docs/wire/permissions.md#the-permission-map).
func TestEffective(t *testing.T) {
	for _, c := range []struct {
		u     identity.User
		admin bool
	}{
		{identity.User{}, true},
		{identity.User{Permissions: access.Map{}}, true},
		{identity.User{GroupID: "g"}, false},
		{identity.User{Permissions: access.Map{"apis": "read"}}, false},
		{identity.User{GroupID: "g", Permissions: access.Map{"IsAdmin": "admin"}}, true},
	} {
		if got := c.u.Effective().Admin(); got != c.admin {
			t.Errorf("%+v: %v", c.u, got)
		}
	}
}

func TestNewOrganisation(t *testing.T) {
	o, err := identity.NewOrganisation("generated", identity.OrganisationDraft{OwnerName: "x"})
	if err != nil || o.ID != "generated" || o.APIs == nil || o.EventOptions == nil || o.AdditionalPermissions == nil {
		t.Errorf("%+v, %v", o, err)
	}
	for id, ok := range map[string]bool{"5f1a0c5d8e3b2a1f00000001": true, "my-org_1.x": true, "a/b": false, "..": false, "a b": false, "ü": false} {
		got, err := identity.NewOrganisation("g", identity.OrganisationDraft{ID: tenant.ID(id)})
		if (err == nil) != ok || err == nil && string(got.ID) != id {
			t.Errorf("%q: %+v, %v", id, got, err)
		}
	}
}

package identity_test

import (
	"maps"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
)

const reset = string(access.ResetPassword)

// TestApplyAll: a map of the super-admin is stored completely; without one, nothing changes.
func TestApplyAll(t *testing.T) {
	for name, c := range map[string]struct{ was, asked, want access.Map }{
		"no map":               {access.Map{"apis": "read", reset: "admin"}, nil, access.Map{"apis": "read", reset: "admin"}},
		"given":                {access.Map{"apis": "read"}, access.Map{"apis": "write", reset: "admin"}, access.Map{"apis": "write", reset: "admin"}},
		"given and alone":      {nil, access.Map{reset: "admin"}, access.Map{reset: "admin"}},
		"taken by leaving out": {access.Map{"apis": "read", reset: "admin"}, access.Map{"apis": "read"}, access.Map{"apis": "read"}},
		"denied":               {access.Map{reset: "admin"}, access.Map{reset: "deny"}, access.Map{reset: "deny"}},
	} {
		was := maps.Clone(c.was)
		u, err := identity.User{Permissions: c.was}.ApplyAll(identity.UserChange{Permissions: c.asked})
		if err != nil || !maps.Equal(u.Permissions, c.want) || !maps.Equal(was, c.was) {
			t.Errorf("%s: %v, %v; was %v", name, u.Permissions, err, c.was)
		}
	}
	if _, err := (identity.User{Permissions: access.Map{reset: "admin"}}).ApplyAll(identity.UserChange{Permissions: access.Map{}}); err == nil {
		t.Error("an empty map is taken: it would say nothing, or make an admin")
	}
}

// TestResetting: giving and removing ResetPassword changes no other permission of a user.
func TestResetting(t *testing.T) {
	for name, u := range map[string]identity.User{
		"a map":            {Permissions: access.Map{"apis": "read"}},
		"an admin":         {Permissions: access.Map{"IsAdmin": "admin"}},
		"implicitly admin": {},
		"had been grouped": {Grouped: true},
		"in a group":       identity.User{}.In("g", nil),
	} {
		before := u.Effective()
		given := u.Resetting(access.LevelAdmin)
		if given.Permissions.Level(access.ResetPassword) != access.LevelAdmin {
			t.Errorf("%s: %v lacks the permission", name, given.Permissions)
		}
		for _, after := range []identity.User{given, given.Resetting(access.LevelDeny), u.Resetting(access.LevelDeny)} {
			if has := after.Effective(); has.Admin() != before.Admin() || has.Level(access.APIs) != before.Level(access.APIs) {
				t.Errorf("%s: may do %v, before it was %v", name, has, before)
			}
		}
		if taken := given.Resetting(access.LevelDeny); taken.Permissions.Level(access.ResetPassword) != access.LevelDeny {
			t.Errorf("%s: %v keeps the permission", name, taken.Permissions)
		}
	}
}

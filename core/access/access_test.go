package access_test

import (
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
)

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		name   string
		m      access.Map
		p      access.Permission
		i      access.Intent
		allows bool
	}{
		{"missing entry", access.Map{"keys": "write"}, access.APIs, access.Read, false},
		{"empty map", access.Map{}, access.APIs, access.Read, false},
		{"nil map", nil, access.APIs, access.Read, false},
		{"read reads", access.Map{"apis": "read"}, access.APIs, access.Read, true},
		{"read does not write", access.Map{"apis": "read"}, access.APIs, access.Write, false},
		{"read does not delete", access.Map{"apis": "read"}, access.APIs, access.Delete, false},
		{"write deletes", access.Map{"apis": "write"}, access.APIs, access.Delete, true},
		{"deny", access.Map{"apis": "deny"}, access.APIs, access.Read, false},
		{"admin as a level", access.Map{"apis": "admin"}, access.APIs, access.Write, true},
		{"unknown level", access.Map{"apis": "yes"}, access.APIs, access.Read, false},
		{"admin", access.Map{"IsAdmin": "admin"}, access.APIs, access.Write, true},
		{"admin spelled true", access.Map{"IsAdmin": "true"}, access.APIs, access.Write, true},
		{"not admin", access.Map{"IsAdmin": "false"}, access.APIs, access.Read, false},
		{"admin only", access.Map{"apis": "write"}, access.IsAdmin, access.Read, false},
		{"admin only as admin", access.Map{"IsAdmin": "admin"}, access.IsAdmin, access.Write, true},
		{"a group without a name grants nothing", access.Map{"": "write"}, access.APIs, access.Read, false},
		{"any user", access.Map{}, access.AnyUser, access.Write, true},
		{"policy is policies", access.Map{"policy": "write"}, access.Policies, access.Write, true},
		{"the stronger of policy and policies", access.Map{"policy": "read", "policies": "write"}, access.Policies, access.Write, true},
		{"the stronger the other way", access.Map{"policy": "write", "policies": "deny"}, access.Policies, access.Write, true},
		{"oauth falls back to apis", access.Map{"apis": "write"}, access.OAuth, access.Write, true},
		{"oauth of its own", access.Map{"apis": "write", "oauth": "deny"}, access.OAuth, access.Read, false},
	} {
		if got := c.m.Allows(c.p, c.i); got != c.allows {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestValid(t *testing.T) {
	if group, ok := (access.Map{"apis": "write", "IsAdmin": "true", "x": "deny"}).Valid(); !ok {
		t.Error(group)
	}
	if group, ok := (access.Map{"apis": "maybe"}).Valid(); ok || group != "apis" {
		t.Error(group, ok)
	}
	if _, ok := (access.Map{"": "write"}).Valid(); ok {
		t.Error("a group without a name")
	}
}

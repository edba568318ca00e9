package access_test

import (
	"maps"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
)

func TestStrongest(t *testing.T) {
	for _, c := range []struct{ m, other, want access.Map }{
		{nil, nil, access.Map{}},
		{access.Map{"apis": "read"}, access.Map{"apis": "write", "keys": "read"}, access.Map{"apis": "write", "keys": "read"}},
		{access.Map{"apis": "write"}, access.Map{"apis": "read"}, access.Map{"apis": "write"}},
		{access.Map{"apis": "deny"}, access.Map{"apis": "read"}, access.Map{"apis": "read"}},
		{access.Map{"apis": "read"}, access.Map{"apis": "deny"}, access.Map{"apis": "read"}},
		{access.Map{"IsAdmin": "admin"}, access.Map{"IsAdmin": "deny"}, access.Map{"IsAdmin": "admin"}},
		{access.Map{}, access.Map{"IsAdmin": "true"}, access.Map{"IsAdmin": "true"}},
	} {
		was := maps.Clone(c.m)
		if got := c.m.Strongest(c.other); !maps.Equal(got, c.want) || !maps.Equal(c.m, was) {
			t.Errorf("%v with %v: %v", c.m, c.other, got)
		}
	}
}

func TestHighest(t *testing.T) {
	type m = access.Map
	for _, c := range []struct {
		list []m
		want m
	}{
		{nil, m{}},
		{[]m{{"policy": "deny"}}, m{"policy": "deny"}},
		{[]m{{"keys": "deny"}, {"keys": "read"}, {"keys": "deny"}}, m{"keys": "read"}},
		{[]m{{"keys": "deny"}, {"certs": "write"}}, m{"certs": "write", "keys": "deny"}},
		{[]m{{"policies": "deny"}, {"policy": "write"}}, m{"policies": "write"}},
		{[]m{{"oauth": "deny"}, {"apis": "write"}}, m{"apis": "write", "oauth": "write"}},
		{[]m{{"IsAdmin": "deny"}, {"IsAdmin": "true"}, {"IsAdmin": "false"}}, m{"IsAdmin": "admin"}},
		{[]m{{"IsAdmin": "false"}, {"keys": "read"}}, m{"IsAdmin": "false", "keys": "read"}},
	} {
		if got := access.Highest(c.list...); !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, not %v", c.list, got, c.want)
		}
	}
}

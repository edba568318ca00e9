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

package access_test

import (
	"reflect"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
)

// TestExplain: which maps decide.
func TestExplain(t *testing.T) {
	type m = access.Map
	one := func(p access.Permission, l access.Level, from ...int) []access.Decision {
		return []access.Decision{{Permission: p, Level: l, From: from}}
	}
	for name, c := range map[string]struct {
		maps []m
		want []access.Decision
	}{
		"none":                 {nil, nil},
		"the only one":         {[]m{{}, {"keys": "read"}}, one("keys", "read", 1)},
		"the strongest":        {[]m{{"keys": "read"}, {"keys": "write"}, {"keys": "read"}}, one("keys", "write", 1)},
		"equals":               {[]m{{"keys": "write"}, {"keys": "read"}, {"keys": "write"}}, one("keys", "write", 0, 2)},
		"a deny":               {[]m{{"keys": "admin"}, {"keys": "deny"}, {"keys": "write"}}, one("keys", "deny", 1)},
		"denies":               {[]m{{"keys": "deny"}, {"keys": "read"}, {"keys": "deny"}}, one("keys", "deny", 0, 2)},
		"the other name":       {[]m{{"policy": "read"}, {"policies": "write"}}, one("policies", "write", 1)},
		"by way of another":    {[]m{{"apis": "read"}, {"oauth": "write"}}, append(one("apis", "read", 0), one("oauth", "write", 1)...)},
		"an admin":             {[]m{{"IsAdmin": "false"}, {"IsAdmin": "true"}, {"IsAdmin": "admin"}}, one("IsAdmin", "admin", 1, 2)},
		"an admin, other way":  {[]m{{"IsAdmin": "true"}, {"IsAdmin": "false"}}, one("IsAdmin", "true", 0)},
		"no admin":             {[]m{{"IsAdmin": "admin"}, {"IsAdmin": "deny"}}, one("IsAdmin", "deny", 1)},
		"a word for nothing":   {[]m{{"IsAdmin": "x"}, {"IsAdmin": "y"}}, one("IsAdmin", "x", 0, 1)},
		"admin twice, as true": {[]m{{"IsAdmin": "true"}, {"IsAdmin": "true"}}, one("IsAdmin", "admin", 0, 1)},
	} {
		if got := access.Explain(c.maps...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

package access_test

import (
	"maps"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
)

// TestMerge: the combined permissions of several groups.
func TestMerge(t *testing.T) {
	type m = access.Map
	for name, c := range map[string]struct {
		maps []m
		want m
	}{
		"none":                        {nil, m{}},
		"one stays as it is":          {[]m{{"policy": "read", "policies": "deny"}}, m{"policy": "read", "policies": "deny"}},
		"the strongest":               {[]m{{"apis": "read", "keys": "write"}, {"apis": "write", "keys": "read"}}, m{"apis": "write", "keys": "write", "oauth": "write"}},
		"what only one has":           {[]m{{"keys": "read"}, {"hooks": "write"}}, m{"keys": "read", "hooks": "write"}},
		"deny beats all":              {[]m{{"keys": "admin"}, {"keys": "deny"}, {"keys": "write"}}, m{"keys": "deny"}},
		"deny by the other name":      {[]m{{"policies": "write"}, {"policy": "deny"}}, m{"policies": "deny"}},
		"oauth by way of apis":        {[]m{{"apis": "write"}, {"oauth": "read"}}, m{"apis": "write", "oauth": "write"}},
		"oauth denied by way of apis": {[]m{{"apis": "deny"}, {"oauth": "write"}}, m{"apis": "deny", "oauth": "deny"}},
		"an admin":                    {[]m{{"IsAdmin": "false"}, {"IsAdmin": "true"}}, m{"IsAdmin": "admin"}},
		"an admin, the other way":     {[]m{{"IsAdmin": "admin"}, {"IsAdmin": "false"}}, m{"IsAdmin": "admin"}},
		"no admin":                    {[]m{{"IsAdmin": "admin"}, {"IsAdmin": "deny"}}, m{"IsAdmin": "deny"}},
	} {
		if got := access.Merge(c.maps...); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestExceeding: which permissions a user may give.
func TestExceeding(t *testing.T) {
	type m = access.Map
	for name, c := range map[string]struct {
		before, after, giver m
		want                 access.Permission
	}{
		"an admin gives all":                {nil, m{"IsAdmin": "admin", "apis": "write"}, m{"IsAdmin": "admin"}, ""},
		"only an admin makes admins":        {nil, m{"IsAdmin": "true"}, m{"users": "write", "apis": "write"}, "IsAdmin"},
		"what one has":                      {nil, m{"apis": "write"}, m{"apis": "write"}, ""},
		"less than one has":                 {nil, m{"apis": "read"}, m{"apis": "write"}, ""},
		"more than one has":                 {nil, m{"apis": "write"}, m{"apis": "read"}, "apis"},
		"the highest level":                 {nil, m{"apis": "admin"}, m{"apis": "write"}, "apis"},
		"what was there":                    {m{"hooks": "write"}, m{"hooks": "write", "users": "read"}, m{"users": "write"}, ""},
		"less than was there":               {m{"hooks": "write"}, m{"hooks": "read"}, m{"users": "write"}, ""},
		"more than was there":               {m{"hooks": "read"}, m{"hooks": "write"}, m{"users": "write"}, "hooks"},
		"by the other name":                 {nil, m{"policy": "write"}, m{"policies": "write"}, ""},
		"by the other name, too much":       {m{"policies": "read"}, m{"policy": "write"}, m{"policies": "read"}, "policies"},
		"by way of another group":           {m{"oauth": "deny", "apis": "write"}, m{"apis": "write"}, m{"users": "write"}, "oauth"},
		"an entry of an admin may be lower": {m{"IsAdmin": "admin"}, m{"apis": "write"}, m{"users": "write"}, ""},
		"a custom one":                      {nil, m{"billing": "read"}, m{"users": "write"}, "billing"},
		"taking away a deny":                {m{"keys": "deny"}, m{}, m{"users": "write"}, "keys"},
		"keeping a deny":                    {m{"keys": "deny"}, m{"keys": "deny"}, m{"users": "write"}, ""},
		"adding a deny":                     {nil, m{"keys": "deny"}, m{"users": "write"}, ""},
	} {
		if got := access.Exceeding(c.before, c.after, c.giver); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzMerge: the order of maps does not matter, the result has no permission that no map
// gives, and a deny in any map stays.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6})
	f.Add([]byte{0, 255, 128, 64, 7, 9, 33})
	levels := []access.Level{"", "deny", "read", "write", "admin"}
	all := []string{"apis", "oauth", "policies", "policy", "keys", "IsAdmin"}
	f.Fuzz(func(t *testing.T, text []byte) {
		list := []access.Map{{}, {}, {}}
		for i, b := range text[:min(len(text), 18)] {
			if l := levels[int(b)%len(levels)]; l != "" {
				list[i/len(all)][all[i%len(all)]] = l
			}
		}
		one, two := access.Merge(list[0], list[1], list[2]), access.Merge(list[2], list[0], list[1])
		if !maps.Equal(one, two) {
			t.Fatalf("%v: %v and %v", list, one, two)
		}
		for _, p := range []access.Permission{"apis", "oauth", "policies", "keys"} {
			for _, i := range []access.Intent{access.Read, access.Write} {
				given := false
				for _, m := range list {
					m := maps.Clone(m)
					delete(m, "IsAdmin")
					given = given || m.Allows(p, i)
				}
				merged := maps.Clone(one)
				delete(merged, "IsAdmin")
				if merged.Allows(p, i) && !given {
					t.Fatalf("%v gives %s of %s out of %v", one, i, p, list)
				}
			}
		}
		for _, m := range list {
			for _, name := range []string{"apis", "keys", "oauth"} {
				if m[name] == access.LevelDeny && one.Level(access.Permission(name)) != access.LevelDeny {
					t.Fatalf("%v loses the deny of %s in %v", one, name, m)
				}
			}
		}
		if e := access.Exceeding(one, one, access.Map{}); e != "" {
			t.Fatalf("%v exceeds itself in %s", one, e)
		}
	})
}

// TestLimitOfCredentials: a credential has the listed permissions of its owner and no others.
func TestLimitOfCredentials(t *testing.T) {
	admin, user := access.Map{"IsAdmin": "admin", "keys": "deny"}, access.Map{"apis": "write", "keys": "read", "policy": "write", "x": "read"}
	for _, c := range []struct {
		name string
		of   access.Map
		to   []string
		p    access.Permission
		want access.Level // that the credential has for p
	}{
		{"no limit", user, nil, access.APIs, access.LevelWrite},
		{"listed", user, []string{"apis"}, access.APIs, access.LevelWrite},
		{"not listed", user, []string{"apis"}, access.Keys, access.LevelDeny},
		{"listed, and not held", user, []string{"certs"}, access.Certs, access.LevelDeny},
		{"a permission of the organisation", user, []string{"x"}, "x", access.LevelRead},
		{"oauth is not listed, and apis does not give it", user, []string{"apis"}, access.OAuth, access.LevelDeny},
		{"oauth, held by itself, is not listed", access.Map{"apis": "write", "oauth": "read"}, []string{"apis"}, access.OAuth, access.LevelDeny},
		{"oauth, given by apis, is listed", user, []string{"oauth"}, access.OAuth, access.LevelWrite},
		{"policies, held as policy", user, []string{"policies"}, access.Policies, access.LevelWrite},
		{"an admin writes what is listed", admin, []string{"apis"}, access.APIs, access.LevelWrite},
		{"an admin is not one any more", admin, []string{"apis"}, access.IsAdmin, access.LevelDeny},
		{"an admin that stays one", admin, []string{"IsAdmin"}, access.IsAdmin, access.LevelAdmin},
		{"admin is listed, and the owner is none", user, []string{"IsAdmin"}, access.IsAdmin, access.LevelDeny},
		{"what an admin is denied", admin, []string{"keys"}, access.Keys, access.LevelDeny},
	} {
		if got := c.of.Limit(c.to).Level(c.p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if other, ok := access.FallsBack(access.OAuth); other != access.APIs || !ok {
		t.Error("oauth falls back to", other)
	}
	if other, ok := access.FallsBack(access.APIs); ok {
		t.Error("apis falls back to", other)
	}
}

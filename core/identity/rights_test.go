package identity_test

import (
	"reflect"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/identity"
)

// TestExplainUser: the sources of users' permissions.
func TestExplainUser(t *testing.T) {
	type m = access.Map
	group := func(id string, active bool, gives m) identity.UserGroup {
		return identity.UserGroup{ID: id, Name: "Group " + id, Active: active, Permissions: gives}
	}
	from := func(ids ...string) (out []identity.Origin) {
		out = []identity.Origin{}
		for _, id := range ids {
			switch id {
			case "rule":
				out = append(out, identity.Origin{Kind: identity.FromRule})
			case "u":
				out = append(out, identity.Origin{Kind: identity.FromUser, ID: "u", Name: "a@b.example"})
			default:
				out = append(out, identity.Origin{Kind: identity.FromGroup, ID: id, Name: "Group " + id})
			}
		}
		return out
	}
	const strongest, unnamed, denied = "the strongest level of the sources that count", "no source that counts names it", "deny beats every other level"
	for name, c := range map[string]struct {
		own    m
		groups []identity.UserGroup
		asked  access.Permission
		want   identity.Explained
	}{
		"the own map":             {m{"apis": "write"}, nil, "apis", identity.Explained{Level: "write", Read: true, Write: true, From: from("u"), Reason: strongest}},
		"nothing":                 {m{"apis": "write"}, nil, "keys", identity.Explained{Level: "deny", From: from(), Reason: unnamed}},
		"through another":         {m{"apis": "read"}, nil, "oauth", identity.Explained{Level: "read", Read: true, From: from("u"), Reason: "without an entry of its own, that of apis counts"}},
		"an empty map":            {m{}, nil, "keys", identity.Explained{Level: "deny", Read: true, Write: true, From: from(), Reason: "an admin may do everything"}},
		"an admin by rule":        {m{}, nil, "IsAdmin", identity.Explained{Level: "admin", Read: true, Write: true, From: from("rule"), Reason: "an empty map makes an admin of a user whom the admin API made without permissions"}},
		"the strongest group":     {m{"keys": "deny"}, []identity.UserGroup{group("1", true, m{"keys": "read"}), group("2", true, m{"keys": "write"})}, "keys", identity.Explained{Level: "write", Read: true, Write: true, From: from("2"), Reason: strongest}},
		"a group that denies":     {nil, []identity.UserGroup{group("1", true, m{"keys": "deny"}), group("2", true, m{"keys": "write"})}, "keys", identity.Explained{Level: "deny", From: from("1"), Reason: denied}},
		"an inactive group":       {nil, []identity.UserGroup{group("1", false, m{"keys": "write"})}, "keys", identity.Explained{Level: "deny", From: from(), Reason: unnamed}},
		"an admin in a group":     {m{"IsAdmin": "admin"}, []identity.UserGroup{group("1", true, m{"keys": "read"})}, "IsAdmin", identity.Explained{Level: "admin", Read: true, Write: true, From: from("rule"), Reason: "an admin stays one in a group"}},
		"an admin who is denied":  {m{"IsAdmin": "admin", "keys": "deny"}, nil, "keys", identity.Explained{Level: "deny", Read: true, Write: true, From: from("u"), Reason: "an admin may do everything; where rules decide, they bind an admin by this deny"}},
		"a permission of its own": {m{"billing": "read"}, nil, "billing", identity.Explained{Level: "read", Read: true, From: from("u"), Reason: strongest}},
	} {
		u := identity.User{ID: "u", Email: "a@b.example", Active: true, Permissions: c.own}
		for i, g := range c.groups {
			if i == 0 {
				u = u.In(g.ID, nil)
			} else {
				u = u.In(u.GroupID, append(u.GroupIDs, g.ID))
			}
		}
		c.want.Permission = c.asked
		found := false
		_, list := u.Explain(c.groups...)
		for _, e := range list {
			if e.Permission != c.asked {
				continue
			}
			if found = true; !reflect.DeepEqual(e, c.want) {
				t.Errorf("%s: %+v, want %+v", name, e, c.want)
			}
		}
		if !found || len(list) < len(access.Groups)-1 {
			t.Error(name, len(list), "permissions")
		}
	}
}

// The explained permissions are the effective ones.
func FuzzExplainUser(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 1, 2, 3})
	levels := []access.Level{"", "deny", "read", "write", "admin"}
	names := []string{"apis", "oauth", "policies", "policy", "keys", "IsAdmin"}
	f.Fuzz(func(t *testing.T, text []byte) {
		maps := []access.Map{{}, {}, {}}
		for i, b := range text[:min(len(text), 18)] {
			if l := levels[int(b)%len(levels)]; l != "" {
				maps[i/len(names)][names[i%len(names)]] = l
			}
		}
		u := identity.User{ID: "u", Permissions: maps[0]}
		var groups []identity.UserGroup
		if len(text) > 18 {
			u = u.In("1", []string{"2"})
			groups = []identity.UserGroup{{ID: "1", Active: true, Permissions: maps[1]}, {ID: "2", Active: text[18]%2 == 0, Permissions: maps[2]}}
		}
		effective := u.Effective(groups...)
		_, list := u.Explain(groups...)
		for _, e := range list {
			if e.Level != effective.Level(e.Permission) || e.Read != effective.Allows(e.Permission, access.Read) || e.Write != effective.Allows(e.Permission, access.Write) {
				t.Fatalf("%+v, but %v decides", e, effective)
			}
			if e.Reason == "" || len(e.From) == 0 && e.Level != access.LevelDeny {
				t.Fatalf("%+v has no reason, in %v", e, effective)
			}
		}
	})
}

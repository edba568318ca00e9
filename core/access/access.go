// Package access holds permission names and levels, and the built-in decision whether a
// permission map allows a call (docs/wire/permissions.md).
package access

import (
	"cmp"
	"maps"
	"slices"
)

// Permission names a group of operations in a permission map.
type Permission string

// The permission groups of the management API (docs/wire/permissions.md#groups-and-paths).
const (
	APIs          Permission = "apis"
	MCP           Permission = "mcp"
	Keys          Permission = "keys"
	Policies      Permission = "policies"
	OAuth         Permission = "oauth"
	Certs         Permission = "certs"
	Assets        Permission = "api_assets"
	Hooks         Permission = "hooks"
	Users         Permission = "users"
	UserGroups    Permission = "user_groups"
	Analytics     Permission = "analytics"
	Logs          Permission = "log"
	IDM           Permission = "idm"
	Portal        Permission = "portal"
	System        Permission = "system"
	AuditLogs     Permission = "audit_logs"
	Governance    Permission = "governance"
	IsAdmin       Permission = "IsAdmin"       // only admins
	ResetPassword Permission = "ResetPassword" // set other users' passwords; given by /admin only
	AnyUser       Permission = "*"             // every active user of the organisation
)

// Intent is what an operation does to its resource.
type Intent string

// The intents of operations.
const (
	Read   Intent = "read"
	Write  Intent = "write"
	Delete Intent = "delete"
)

// Level is the value of an entry in a permission map.
type Level string

// The levels of a permission map entry. A missing entry is like LevelDeny.
const (
	LevelDeny  Level = "deny"
	LevelRead  Level = "read"
	LevelWrite Level = "write"
	LevelAdmin Level = "admin"
)

// Map is a permission map as stored: group name to level, both free text.
type Map map[string]Level

// Admin reports whether the map makes an admin. Both spellings that are in use count
// (docs/wire/permissions.md#the-permission-map).
func (m Map) Admin() bool {
	level := m[string(IsAdmin)]
	return level == LevelAdmin || level == "true"
}

// synonyms are group names with the same meaning (docs/wire/permissions.md#groups-and-paths).
var synonyms = map[Permission]string{Policies: "policy"}

// fallbacks maps a group to the group that applies when the map has no entry for it.
var fallbacks = map[Permission]Permission{OAuth: APIs}

// Level returns the level the map gives for a permission.
func (m Map) Level(p Permission) Level {
	level, _ := m.entry(p)
	return cmp.Or(level, LevelDeny)
}

var strength = map[Level]int{LevelRead: 1, LevelWrite: 2, LevelAdmin: 3}

func stronger(a, b Level) Level {
	if strength[b] > strength[a] {
		return b
	}
	return cmp.Or(a, b)
}

// Allows is the built-in decision: admins may do everything, other users what their map
// allows, and every user may use AnyUser.
func (m Map) Allows(p Permission, i Intent) bool {
	switch level := Needed(p, i); {
	case m.Admin() || level == "":
		return true
	case p == IsAdmin:
		return false
	default:
		return strength[m.Level(p)] >= strength[level]
	}
}

// Needed returns the level that a permission map must have for a permission; "": every user is
// allowed.
func Needed(p Permission, i Intent) Level {
	switch {
	case p == AnyUser:
		return ""
	case p == IsAdmin:
		return LevelAdmin
	case i == Read:
		return LevelRead
	}
	return LevelWrite
}

// Valid reports whether every group has a name, and every level can be stored. It returns the
// first group that is wrong.
func (m Map) Valid() (group string, ok bool) {
	for group, level := range m {
		if _, known := strength[level]; group == "" || !known && level != LevelDeny && group != string(IsAdmin) {
			return group, false
		}
	}
	return "", true
}

// entry returns the level of a permission in the map, if the map has one: under its name,
// under a synonym, or from its fallback.
func (m Map) entry(p Permission) (Level, bool) {
	level, ok := m[string(p)]
	if name, two := synonyms[p]; two {
		if also, has := m[name]; has {
			level, ok = stronger(level, also), true
		}
	}
	if other, has := fallbacks[p]; !ok && has {
		return m.entry(other)
	}
	return level, ok
}

// names returns the permissions for which maps have entries, sorted. A permission with a
// fallback is included when a map has an entry for the fallback, so that a merged map does not
// lose it.
func names(list ...Map) []string {
	all := map[string]bool{}
	for _, m := range list {
		for name := range m {
			for p, other := range synonyms { // synonyms are compared under one name
				if name == other {
					name = string(p)
					break
				}
			}
			all[name] = true
		}
	}
	for p, other := range fallbacks {
		if all[string(other)] {
			all[string(p)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Merge returns the combined permissions of several maps: for each permission the highest
// level, unless one map has an explicit LevelDeny, which overrides all others. A single map is
// returned unchanged.
func Merge(list ...Map) Map {
	if len(list) == 1 {
		return list[0]
	}
	out := Map{}
	for _, d := range Explain(list...) {
		out[string(d.Permission)] = d.Level
	}
	return out
}

// Exceeding returns a permission that a change from one map to another would give although the
// giver does not have it, or "". An explicit LevelDeny may be removed only by a giver who may
// write the permission, because it may override what another group gives.
func Exceeding(before, after, giver Map) Permission {
	switch {
	case giver.Admin():
		return ""
	case after.Admin() && !before.Admin():
		return IsAdmin
	}
	for _, name := range names(before, after) {
		p := Permission(name)
		if p == IsAdmin || before.Admin() {
			continue
		}
		had, denied := before.entry(p)
		gets, denies := after.entry(p)
		need := strength[gets]
		if had == LevelDeny && denied && (gets != LevelDeny || !denies) {
			need = max(need, strength[LevelWrite])
		} else if need <= strength[had] {
			continue
		}
		if strength[giver.Level(p)] < need {
			return p
		}
	}
	return ""
}

// Limit returns the map of a credential that is limited to some permissions; an empty list is
// no limit. An admin gets LevelWrite for the listed permissions, and stays an admin only if
// IsAdmin is listed.
func (m Map) Limit(to []string) Map {
	if len(to) == 0 {
		return m
	}
	out := Map{}
	for p := range fallbacks { // a fallback must not give a permission that is not listed
		out[string(p)] = LevelDeny
	}
	for _, name := range to {
		level, ok := m.entry(Permission(name))
		switch {
		case m.Admin() && name != string(IsAdmin) && level != LevelDeny:
			out[name] = LevelWrite
		case ok:
			out[name] = level
		}
	}
	return out
}

// Strongest returns m with the entries of another map that give more.
func (m Map) Strongest(other Map) Map {
	out := maps.Clone(m)
	if out == nil {
		out = Map{}
	}
	for name, level := range other {
		had, ok := out[name]
		switch {
		case name == string(IsAdmin):
			if other.Admin() {
				out[name] = level
			}
		case !ok:
			out[name] = level
		default:
			out[name] = stronger(had, level)
		}
	}
	return out
}

// Highest returns the combined permissions of several maps, with the highest level of each
// permission. An explicit LevelDeny is only the lowest level. A single map is returned
// unchanged.
func Highest(list ...Map) Map {
	if len(list) == 1 {
		return list[0]
	}
	out := Map{}
	for _, name := range names(list...) {
		for _, m := range list {
			if level, ok := m.entry(Permission(name)); ok {
				out[name] = stronger(out[name], level)
			}
			if name == string(IsAdmin) && m.Admin() {
				out[name] = LevelAdmin
			}
		}
	}
	return out
}

// Package access holds permission names and levels, and the built-in decision
// whether a permission map covers what a caller wants (docs/wire/permissions.md).
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

// Admin reports whether the map makes an admin: both spellings in the field
// count (docs/wire/permissions.md#the-permission-map).
func (m Map) Admin() bool {
	level := m[string(IsAdmin)]
	return level == LevelAdmin || level == "true"
}

// synonyms are group names that mean the same (docs/wire/permissions.md#groups-and-paths).
var synonyms = map[Permission]string{Policies: "policy"}

// fallbacks are groups that speak for another one without an entry of its own.
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

// Allows is the built-in decision: admins may everything, others what their map
// says, and everybody what any user may.
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

// Needed returns the level that a permission map has to give for a permission; "": any
// user may.
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

// Valid reports whether every group has a name, and every level is one that can
// be stored.
func (m Map) Valid() (group string, ok bool) {
	for group, level := range m {
		if _, known := strength[level]; group == "" || !known && level != LevelDeny && group != string(IsAdmin) {
			return group, false
		}
	}
	return "", true
}

// entry returns what the map says of a permission, if it says anything: also by
// another name for it, or through the group that speaks for it.
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

// names returns the permissions that maps have entries for, sorted. One that falls
// back on another is among them as soon as any map has that one: what maps give
// together must not lose it.
func names(list ...Map) []string {
	all := map[string]bool{}
	for _, m := range list {
		for name := range m {
			for p, other := range synonyms { // entries are compared under one name
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

// Merge returns what several maps give together: of each permission the strongest
// level, unless one of them has a literal LevelDeny, which beats all others. A single
// map stays as it is written.
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

// Exceeding returns a permission that going from one map to another would give and
// that the giver does not have, or "". A literal LevelDeny is taken away only by
// those who may write what it denies: it may hold back what another group gives.
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

// Limit returns what is left of a map for a credential that is limited to some
// permissions; without any it is not limited. An admin may write what is named, and is
// an admin only if IsAdmin is named.
func (m Map) Limit(to []string) Map {
	if len(to) == 0 {
		return m
	}
	out := Map{}
	for p := range fallbacks { // another permission must not speak for one that is not named
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

// Strongest returns m with the entries of another map where those give more.
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

// Highest returns what several maps give together where the highest level of each permission
// counts: a LevelDeny is no more than the lowest. A single map stays as it is written.
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

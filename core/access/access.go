// Package access holds permission names and levels, and the built-in decision
// whether a permission map covers what a caller wants (docs/wire/permissions.md).
package access

import "cmp"

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

package app_test

import (
	"slices"
	"strings"
)

// This file says who may do what, from the rules in docs/wire/permissions.md and
// docs/wire/ownership.md alone: it looks at methods and paths, not at what the
// operation table says of them. The matrix compares it with what the service answers.

// guarded is which permission guards the paths below a prefix. The longest prefix counts.
var guarded = map[string]string{
	"/api/apis": "apis", "/api/import": "apis", "/api/data-graphs": "apis", "/api/examples": "apis", "/api/evaluations": "apis", "/api/governance": "apis",
	"/api/clientidps": "apis", "/api/registry": "apis", "/api/cache": "apis", "/api/proxy": "apis", "/api/debug": "apis",
	"/api/cache/jwks": "IsAdmin", "/api/gateway/intents": "IsAdmin", "/api/gateway/reload": "IsAdmin", "/api/gateway/control": "system", "/api/org/opa": "IsAdmin", "/api/sso": "IsAdmin",
	"/api/mcps": "mcp", "/api/schemas/apidefs/mcp": "mcp",
	"/api/keys": "keys", "/api/doctor": "keys", "/api/apis/keys": "keys", "/api/apis/oauth": "oauth", "/api/portal/policies": "policies", "/api/portal": "portal",
	"/api/certs": "certs", "/api/assets": "api_assets", "/api/hooks": "hooks", "/api/users": "users", "/api/usergroups": "user_groups", "/api/service-accounts": "users",
	"/api/usage": "analytics", "/api/activity": "analytics", "/api/uptime": "analytics", "/api/logs": "log", "/api/tib": "idm",
	"/api/system": "system", "/api/system/announcements": "IsAdmin", "/api/audit-logs": "audit_logs", "/api/rulesets": "governance", "/api/history": "IsAdmin",
	"/api/users/me": "", "/api/schema": "", "/api/schemas": "", "/api/org/notifications": "", "/api/org/permissions": "",
}

// reading are requests that change nothing although their method could.
var reading = map[string]bool{"POST /api/users/search": true, "POST /api/evaluations/sandbox": true, "POST /api/evaluations/sandbox/oas": true}

// below reports whether a path is a prefix or lies below it.
func below(path, prefix string) bool { return path == prefix || strings.HasPrefix(path, prefix+"/") }

// guardian returns the permission that a path wants; known is false for a path that
// this file does not know.
func guardian(path string) (permission string, known bool) {
	longest := -1
	for prefix, p := range guarded {
		if below(path, prefix) && len(prefix) > longest {
			permission, longest = p, len(prefix)
		}
	}
	return permission, longest >= 0
}

// elsewhere lists how paths begin whose things the estate cannot make: they are in gateways,
// come from them, are records of calls, or this server has none. An identifier of a profile
// is taken for all organisations, so that a foreign one is told apart from a missing one. Other
// tests try strangers on these paths; here nothing is behind them.
var elsewhere = []string{
	"/api/activity", "/api/usage", "/api/uptime", "/api/audit-logs", "/api/system/node", "/api/examples", "/api/rulesets", "/api/governance",
	"/api/apis/keys", "/api/apis/{apiID}/keys", "/api/apis/oauth", "/api/certs", "/api/tib/profiles",
}

// outcome is how a call ends, as far as who may do what is concerned.
type outcome string

const (
	passes       outcome = "passes"          // the operation decides
	unknown      outcome = "unauthenticated" // 401
	foreign      outcome = "not the owner"   // 401 as well
	forbidden    outcome = "forbidden"       // 403, by the permission map
	nothingThere outcome = "nothing there"   // not 401, and not 403 for a lack of rights
)

// cell is one call of the matrix.
type cell struct {
	method, pattern string // "GET", "/api/apis/{apiId}"
	caller          caller
	target          string // "own", "foreign", "missing", "self" or "": the path names nothing
	ownership       bool
}

// caller is one who calls.
type caller struct {
	name     string
	level    string // of every group of permissions: "", "deny", "read", "write"
	admin    bool
	owner    bool // owns, by itself or by a group, what is owned at all
	super    bool // has no organisation
	away     bool // of another organisation
	stranger bool // has no credential of a user
	forged   bool // has the cookie of a session without its proof
	with     credentials
}

// refused are the callers whom no operation for users lets in.
func (c caller) refused() bool { return c.name == "anonymous" || c.name == "inactive" || c.stranger }

// expected returns how a call ends. Calls of a user without organisation reach
// everything, so that to it nothing is foreign.
func (c cell) expected() outcome {
	read := c.method == "GET" || c.method == "HEAD" || reading[c.method+" "+c.pattern]
	permission, _ := guardian(c.pattern)
	if !read && (c.pattern == "/api/org/permissions" || below(c.pattern, "/api/tib")) { // everybody knows the names, admins choose them; who writes a profile decides who is an admin
		permission = "IsAdmin"
	}
	self := c.target == "self"
	own := []string{"/api/users/{userId}", "/api/users/{userId}/permissions", "/api/users/{userId}/sessions"} // of which everybody reads what is theirs
	deputy := strings.HasPrefix(c.caller.name, "super-admin") && below(c.pattern, "/api/tib")
	switch {
	case deputy && c.target == "missing":
		return nothingThere
	case deputy:
		return passes
	case c.caller.refused():
		return unknown
	case c.caller.forged && c.method != "GET" && c.method != "HEAD": // the method alone counts: searching by POST wants a proof as well
		return forbidden
	case strings.HasSuffix(c.pattern, "/{userId}/actions/reset") && strings.HasPrefix(c.pattern, "/api/users/"):
		if self {
			return passes
		}
		return forbidden // no caller has ResetPassword here, and admins may not
	case self && (slices.Contains(own, c.pattern) && c.method == "GET" || strings.HasSuffix(c.pattern, "/actions/key/reset")):
		return passes
	case permission == "" && (read || !c.caller.super):
		return passes
	case c.caller.super && !read:
		return forbidden
	case permission == "IsAdmin" && !c.caller.admin:
		return forbidden
	case !c.caller.admin && c.caller.level != "write" && (c.caller.level != "read" || !read):
		return forbidden
	case c.target == "missing" || c.target == "foreign" && !c.caller.super:
		return nothingThere
	case c.ownership && c.target == "own" && c.owned() && !c.caller.owner && !c.caller.admin:
		return foreign
	}
	return passes
}

// owned reports whether what the path names belongs to owners.
func (c cell) owned() bool {
	switch {
	case strings.HasPrefix(c.pattern, "/api/clientidps/{id}/mappings/"):
		return c.method != "GET" // reading the registry needs the permission only
	case below(c.pattern, "/api/apis"), below(c.pattern, "/api/mcps"), below(c.pattern, "/api/cache"), below(c.pattern, "/api/portal/policies"):
		return strings.Contains(c.pattern, "{")
	}
	return false
}

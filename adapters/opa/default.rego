# The rules that apply when neither the organisation nor the service has its own:
# the permission map decides. Rego version 0.
package dashboard_users

# Reasons for which a request is refused.

deny["User is not active"] {
	not input.user.active
}

deny[reason] {
	count(request_permission) == 0
	not own_business
	reason := sprintf("This action is unknown. You do not have permission to access '%v'.", [input.request.path])
}

deny[reason] {
	unmet[group] == set()
	not is_admin
	not judged_as_password_reset(group)
	not own_business
	reason := sprintf("You do not have permission to access '%v'.", [input.request.path])
}

deny[reason] {
	count(unmet[_]) > 0
	not is_admin
	not own_business
	reason := sprintf("You do not have permission to carry out '%v' operation.", [request_intent])
}

# An admin needs no entry, but an entry can shut out even an admin.
deny[reason] {
	levels := unmet[_]
	levels.deny
	not usable(levels)
	is_admin
	not own_business
	reason := sprintf("You do not have permission to carry out '%v' operation.", [request_intent])
}

deny["You do not have permission to reset the password for other users."] {
	is_password_reset
	not own_path
	not is_admin
	not may_reset_passwords
}

deny["You do not have permission to reset the password for other users. Rules of the organisation can allow admins to."] {
	is_password_reset
	not own_path
	is_admin
	not may_reset_passwords
	not input.config.security.allow_admin_reset_password
}

default allow = false

allow {
	count(deny) == 0
}

# What the caller wants to do with the resource. The operation knows best: some
# searches are sent with POST and change nothing.

default request_intent = "write"

request_intent = input.operation.intent {
	input.operation.intent
} else = "read" {
	input.request.method == "GET"
} else = "read" {
	input.request.method == "HEAD"
} else = "delete" {
	input.request.method == "DELETE"
}

# intent_match(intent, level): an entry of this level is enough.

intent_match("read", "read") = true

intent_match(_, "write") = true

intent_match(_, "admin") = true

default is_admin = false

is_admin {
	input.user.user_permissions.IsAdmin == "admin"
}

is_admin {
	input.user.user_permissions.IsAdmin == "true"
}

# The groups that guard the request. Expressions of several operations can match
# one path, so the operation tells which of them was called.

request_permission[group] {
	entry := input.permissions[_]
	group := entry.permission
	called(group)
	regex.match(entry.rx, input.request.path)
}

called(group) {
	input.operation.permission == group
}

called(_) {
	not input.operation
}

# unmet[group]: the levels that the caller's map gives for a guarding group, where
# they are not enough. What any user may do ("*") is guarded by nothing.

unmet[group] = levels {
	request_permission[group]
	group != "*"
	levels := {level | level := input.user.user_permissions[names(group)[_]]}
	not covered(group, levels)
}

# names(group): the entries of a map that speak for a group. The newer spelling
# of "policy" and the older one are worth the same; "oauth" was once "apis".

names(group) = ["policies", "policy"] {
	group == "policies"
} else = ["apis"] {
	group == "oauth"
	not input.user.user_permissions.oauth
} else = [group] {
	true
}

covered(group, levels) {
	group != "IsAdmin"
	intent_match(request_intent, levels[_])
}

usable(levels) {
	intent_match("read", levels[_])
}

# What users may always do to themselves, whatever their map says.

own_business {
	is_me
}

own_business {
	is_self_key_reset
}

own_business {
	is_password_reset
	own_path
}

default is_me = false

is_me {
	request_intent == "read"
	own_path
	count(segments) == 4
}

is_me {
	request_intent == "read"
	segments == ["", "api", "users", "me"]
}

default is_self_key_reset = false

is_self_key_reset {
	input.request.method == "PUT"
	own_path
	array.slice(segments, 4, 8) == ["actions", "key", "reset"]
}

# Setting a password, one's own or somebody else's.

is_password_reset {
	input.request.method == "POST"
	segments[2] == "users"
	array.slice(segments, 4, 7) == ["actions", "reset"]
}

judged_as_password_reset("ResetPassword") {
	is_password_reset
}

may_reset_passwords {
	intent_match("write", input.user.user_permissions.ResetPassword)
}

own_path {
	segments[1] == "api"
	segments[2] == "users"
	segments[3] == input.user.id
	input.user.id != ""
}

# The parts of the path, counted from the empty one before the first slash.

segments = split(trim_suffix(input.request.path, "/"), "/") {
	true
}

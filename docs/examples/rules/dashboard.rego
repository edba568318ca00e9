# The platform team owns policies and the addresses of APIs.
package dashboard_users

import rego.v1

# Rules decide in place of the permission map, so that they have to look at it.
deny contains reason if {
	not is_admin
	input.operation.permission != "*"
	not object.get(input.user.user_permissions, input.operation.permission, "deny") in enough
	reason := sprintf("You need the permission %s to %s this", [input.operation.permission, input.operation.intent])
}

is_admin if input.user.user_permissions.IsAdmin == "admin"

enough := {"read", "write", "admin"} if {
	input.operation.intent == "read"
} else := {"write", "admin"}

# A user with write here belongs to the platform team: a permission of our own.
platform_team if input.user.user_permissions.platform == "write"

reading if input.request.method in {"GET", "HEAD"}

deny contains "Only the platform team changes policies" if {
	startswith(input.request.path, "/api/portal/policies")
	not reading
	not platform_team
}

deny contains reason if {
	some field in {"listen_path", "target_url"}
	not platform_team
	object.get(changes, ["api_definition", "proxy", field], null) != null
	reason := sprintf("Only the platform team changes %s of an API", [field])
}

# What the request changes in the API that is stored.
changes := TykDiff(TykAPIGet(input.request.path), input.request.body) if {
	input.request.method == "PUT"
	regex.match(`^/api/apis/[^/]+/?$`, input.request.path)
}

# APIs that others make are switched off until the platform team has looked at them.
patch_request contains {"api_definition": {"active": false}} if {
	input.request.method == "POST"
	input.request.path in {"/api/apis", "/api/apis/"}
	not platform_team
}

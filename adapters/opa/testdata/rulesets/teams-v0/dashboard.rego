package dashboard_users

# Teams see and change what carries their tag; contractors cannot delete; nobody opens an API without authentication.

import input.request as request
import input.user as user

default is_admin = false

is_admin { user.user_permissions["IsAdmin"] == "admin" }

default request_intent = "write"

request_intent = "read" { request.method == "GET" }
request_intent = "read" { request.method == "HEAD" }
request_intent = "delete" { request.method == "DELETE" }

team = name {
	parts := split(user.group_name, "/")
	parts[0] == "team"
	name := parts[1]
}

writes_api {
	request_intent == "write"
	startswith(request.path, "/api/apis")
	request.body.api_definition
}

deny["Contractors do not delete"] {
	request_intent == "delete"
	endswith(user.email_address, "@contractors.example")
}

deny[reason] {
	writes_api
	not is_admin
	not tagged
	reason := sprintf("The API needs the tag team-%v", [team])
}

tagged { request.body.api_definition.tags[_] == concat("-", ["team", team]) }

deny["An API needs authentication"] {
	writes_api
	not is_admin
	request.body.api_definition.use_keyless
}

patch_request[x] {
	writes_api
	not request.body.api_definition.config_data.changed_by
	x := {"api_definition": {"config_data": {"changed_by": user.id}}}
}

deny["Only streams APIs are deleted here"] {
	request_intent == "delete"
	is_admin
	not isTykStreams()
}

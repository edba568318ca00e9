package dashboard_users

# Nothing changes while a release is frozen, except by those on call; rate limits have a ceiling for each environment.

import rego.v1

ceilings := {"development": 1000, "production": 100}

environment := "production" if {
	some tag in input.request.body.tags
	tag == "production"
} else := "development"

frozen if input.config.security.frozen == true

on_call if input.user.user_permissions.on_call in {"write", "admin"}

changes if not input.request.method in ["GET", "HEAD"]

deny contains "The release is frozen: ask those on call" if {
	frozen
	changes
	not on_call
}

deny contains reason if {
	changes
	startswith(input.request.path, "/api/portal/policies")
	limit := ceilings[environment]
	input.request.body.rate > limit
	reason := sprintf("A policy for %s has a rate of at most %d", [environment, limit])
}

deny contains "Every API of a policy needs versions" if {
	changes
	some right in input.request.body.access_rights
	every version in right.versions {
		version == ""
	}
}

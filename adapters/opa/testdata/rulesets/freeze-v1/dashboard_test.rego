package dashboard_users_test

import rego.v1

import data.dashboard_users

policy(body) := {"request": {"method": "POST", "path": "/api/portal/policies", "body": body}, "user": {"user_permissions": {}}}

test_frozen if {
	call := object.union(policy({}), {"config": {"security": {"frozen": true}}})
	dashboard_users.deny == {"The release is frozen: ask those on call"} with input as call
	dashboard_users.deny == set() with input as object.union(call, {"user": {"user_permissions": {"on_call": "write"}}})
	dashboard_users.deny == set() with input as object.union(call, {"request": {"method": "GET"}})
}

test_rates if {
	dashboard_users.deny == set() with input as policy({"rate": 1000})
	dashboard_users.deny == {"A policy for development has a rate of at most 1000"} with input as policy({"rate": 1001})
	dashboard_users.deny == {"A policy for production has a rate of at most 100"} with input as policy({"rate": 101, "tags": ["x", "production"]})
}

test_versions if {
	dashboard_users.deny == {"Every API of a policy needs versions"} with input as policy({"access_rights": {"a": {"versions": [""]}}})
	dashboard_users.deny == set() with input as policy({"access_rights": {"a": {"versions": ["Default"]}}})
}

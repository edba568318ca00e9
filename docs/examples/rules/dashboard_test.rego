package dashboard_users_test

import rego.v1

import data.dashboard_users as rules

developer := {"user_permissions": {"apis": "write", "policies": "write"}}

platform := {"user_permissions": {"apis": "write", "policies": "write", "platform": "write"}}

test_permissions if {
	reads := {"id": "hooks.list", "permission": "hooks", "intent": "read"}
	writes := {"id": "hooks.create", "permission": "hooks", "intent": "write"}
	rules.deny == {"You need the permission hooks to read this"} with input as {"user": developer, "operation": reads}
	reader := {"user_permissions": {"hooks": "read"}}
	count(rules.deny) == 0 with input as {"user": reader, "operation": reads}
	rules.deny == {"You need the permission hooks to write this"} with input as {"user": reader, "operation": writes}
	count(rules.deny) == 0 with input as {"user": {"user_permissions": {"IsAdmin": "admin"}}, "operation": writes}
}

stored := {"api_definition": {"name": "Orders", "proxy": {"listen_path": "/orders/", "target_url": "http://orders.internal/"}}}

test_policies_are_read_by_everybody if {
	count(rules.deny) == 0 with input as {"user": developer, "request": {"method": "GET", "path": "/api/portal/policies"}}
}

test_policies_are_changed_by_the_platform_team if {
	rules.deny["Only the platform team changes policies"] with input as {"user": developer, "request": {"method": "POST", "path": "/api/portal/policies"}}
	count(rules.deny) == 0 with input as {"user": platform, "request": {"method": "POST", "path": "/api/portal/policies"}}
}

replaced(definition) := {"method": "PUT", "path": "/api/apis/1", "body": {"api_definition": definition}}

test_addresses_stay if {
	moved := object.union(stored.api_definition, {"proxy": {"listen_path": "/other/"}})
	rules.deny == {"Only the platform team changes listen_path of an API"} with input as {"user": developer, "request": replaced(moved)}
		with TykAPIGet as stored
	count(rules.deny) == 0 with input as {"user": platform, "request": replaced(moved)}
		with TykAPIGet as stored
}

test_names_change if {
	named := object.union(stored.api_definition, {"name": "Orders 2"})
	count(rules.deny) == 0 with input as {"user": developer, "request": replaced(named)}
		with TykAPIGet as stored
}

test_new_apis_wait if {
	rules.patch_request == {{"api_definition": {"active": false}}} with input as {"user": developer, "request": {"method": "POST", "path": "/api/apis", "body": {}}}
	count(rules.patch_request) == 0 with input as {"user": platform, "request": {"method": "POST", "path": "/api/apis", "body": {}}}
}

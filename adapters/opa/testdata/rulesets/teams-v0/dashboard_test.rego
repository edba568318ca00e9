package dashboard_users

orders = {"id": "u", "group_name": "team/orders", "email_address": "ada@example.com", "user_permissions": {"apis": "write"}}

create(definition) = {"method": "POST", "path": "/api/apis", "body": {"api_definition": definition}}

test_tag {
	deny == {"The API needs the tag team-orders"} with input as {"user": orders, "request": create({"tags": ["team-billing"]})}
	deny == set() with input as {"user": orders, "request": create({"tags": ["x", "team-orders"]})}
}

test_keyless {
	deny["An API needs authentication"] with input as {"user": orders, "request": create({"use_keyless": true})}
}

test_admin {
	deny == set() with input as {"user": {"id": "a", "user_permissions": {"IsAdmin": "admin"}}, "request": create({"use_keyless": true})}
}

test_contractors {
	deny["Contractors do not delete"] with input as {"user": {"email_address": "bob@contractors.example"}, "request": {"method": "DELETE", "path": "/api/apis/1"}} with isTykStreams as true
}

test_reads {
	request_intent == "read" with input as {"request": {"method": "GET"}}
	request_intent == "read" with input as {"request": {"method": "HEAD"}}
}

test_stamp {
	patch_request == {{"api_definition": {"config_data": {"changed_by": "u"}}}} with input as {"user": orders, "request": create({})}
	patch_request == set() with input as {"user": orders, "request": create({"config_data": {"changed_by": "x"}})}
}

test_streams {
	deny == set() with input as {"user": {"user_permissions": {"IsAdmin": "admin"}}, "request": {"method": "DELETE", "path": "/api/apis/streams/1"}} with isTykStreams as true
	count(deny) == 1 with input as {"user": {"user_permissions": {"IsAdmin": "admin"}}, "request": {"method": "DELETE", "path": "/api/apis/oas/1"}} with isTykStreams as false
}

package contract_test

import (
	"fmt"
	"strings"
	"testing"
)

// next returns a new number for a record.
func (s *service) next() int { s.made++; return s.made }

// classic returns the wrapper of a classic API with most members.
func classic(n int, id string) string {
	return fmt.Sprintf(`{"api_definition":{"name":"Orders %[1]d #shop","api_id":%[2]q,"slug":"orders-%[1]d","active":true,"enable_jwt":true,"jwt_signing_method":"rsa","jwt_source":"aHR0cHM6Ly9pZHAuZXhhbXBsZS5jb20vandrcw==",`+
		`"jwt_identity_base_field":"sub","jwt_policy_field_name":"pol","jwt_default_policies":["gold"],"auth":{"auth_header_name":"Authorization"},"tags":["edge"],"domain":"","config_data":{"a":1},"use_keyless":false,`+
		`"proxy":{"listen_path":"/classic-%[1]d/","target_url":"http://orders.internal:8080/","strip_listen_path":true},`+
		`"version_data":{"not_versioned":true,"default_version":"","versions":{"Default":{"name":"Default","use_extended_paths":true,"global_headers":{"x-a":"b"},"global_enforce_timeout":"1.5s","extended_paths":{`+
		`"hard_timeouts":[{"disabled":false,"path":"/slow","method":"GET","timeout":2,"duration":"1.5s"}],"white_list":[{"path":"/orders","method_actions":{"GET":{"action":"no_action","code":200,"data":"","headers":{}}}}]}}}}},`+
		`"hook_references":[],"user_owners":[],"user_group_owners":[],"is_site":false,"sort_by":0}`, n, id)
}

// gatewayPart returns the vendor extension of an OAS document.
func gatewayPart(n int, id string) string {
	return fmt.Sprintf(`{"info":{"id":%[2]q,"name":"Orders %[1]d","state":{"active":true}},"server":{"listenPath":{"value":"/oas-%[1]d/","strip":true},"authentication":{"enabled":true,"securitySchemes":{"jwt":{"enabled":true,"source":"aHR0cHM6Ly9pZHAuZXhhbXBsZS5jb20vandrcw==","signingMethod":"rsa","identityBaseField":"sub","header":{"enabled":true,"name":"Authorization"}}}}},`+
		`"upstream":{"url":"http://orders.internal:8080/"},"middleware":{"global":{"cache":{"enabled":true,"timeout":60}},"operations":{"getOrder":{"enforceTimeout":{"enabled":true,"duration":"1.5s"},"allow":{"enabled":true}}}}}`, n, id)
}

// plain returns an OpenAPI description.
func plain(n int, version string) string {
	return fmt.Sprintf(`{"openapi":%[2]q,"info":{"title":"Orders %[1]d","version":"1.0.0"},"servers":[{"url":"https://orders.example.com/v1"}],"security":[{"jwt":[]}],`+
		`"paths":{"/orders/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"get":{"operationId":"getOrder","responses":{"200":{"description":"An order","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"},"example":{"id":"1"}}}}}},`+
		`"post":{"operationId":"postOrder","requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Order"}}}},"responses":{"201":{"description":"Made"}}}}},`+
		`"components":{"schemas":{"Order":{"type":"object","properties":{"id":{"type":"string"},"amount":{"type":"number","minimum":1.0}}}},"securitySchemes":{"jwt":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}}}`, n, version)
}

// with adds members to an object.
func with(object, members string) string {
	return object[:len(object)-1] + "," + members + "}"
}

func oas(n int, id, version string) string {
	return with(plain(n, version), `"x-tyk-api-gateway":`+gatewayPart(n, id))
}

func streams(n int, id string) string {
	return with(fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"Stream %[1]d","version":"1.0.0"},"paths":{},"x-tyk-api-gateway":{"info":{"id":%[2]q,"name":"Stream %[1]d","state":{"active":true}},"server":{"listenPath":{"value":"/stream-%[1]d/","strip":true}},"upstream":{"url":""}}}`, n, id),
		`"x-tyk-streaming":{"streams":{"out":{"input":{"http_server":{"path":"/in","timeout":"1s"}},"output":{"http_server":{"ws_path":"/out"}}}}}`)
}

func mcp(n int, id string) string {
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"Tools %[1]d","version":"1.0.0"},"paths":{},"x-tyk-api-gateway":{"info":{"id":%[2]q,"name":"Tools %[1]d","state":{"active":true}},"server":{"listenPath":{"value":"/mcp-%[1]d/","strip":true}},`+
		`"upstream":{"url":"http://tools.internal:8080/mcp"},"middleware":{"mcpTools":{"get-weather":{"allow":{"enabled":true}}},"mcpResources":{},"mcpPrompts":{}}}}`, n, id)
}

func policy(n int, id, api string) string {
	return fmt.Sprintf(`{"id":%[2]q,"name":"Policy %[1]d","active":true,"state":"active","rate":100,"per":60,"quota_max":-1,"quota_renewal_rate":3600,"throttle_interval":-1,"throttle_retry_limit":-1,"max_query_depth":-1,"key_expires_in":0,`+
		`"hmac_enabled":false,"is_inactive":false,"tags":["paid"],"meta_data":{"a":"b"},"partitions":{"acl":true,"rate_limit":true,"quota":false,"complexity":false,"per_api":false},`+
		`"access_rights":{%[3]q:{"api_id":%[3]q,"api_name":"Orders","versions":["Default"],"allowed_urls":[{"url":"/a","methods":["GET"]}],"limit":null}}}`, n, id, api)
}

func mcpPolicy(n int, id, api string) string {
	return fmt.Sprintf(`{"id":%[2]q,"name":"Policy %[1]d","active":true,"rate":1,"per":1,"access_rights":{%[3]q:{"api_id":%[3]q,"versions":["Default"],"json_rpc_methods":[{"name":"tools/call","limit":{"rate":1,"per":1}}],`+
		`"json_rpc_methods_access_rights":{"allowed":["tools/.*"],"blocked":[]},"mcp_primitives":[{"type":"tool","name":"get-weather","limit":{"rate":1,"per":1}}],"mcp_access_rights":{"tools":{"allowed":["get.*"],"blocked":[]}}}}}`, n, id, api)
}

func hook(n int) string {
	return fmt.Sprintf(`{"name":"Hook %d","webhook_id":"hook-%[1]d","method":"POST","target_path":"https://hooks.example.com/%[1]d","header_map":{"x-auth":"value"},"event_timeout":60,"template_path":""}`, n)
}

func asset(n int) string {
	return fmt.Sprintf(`{"id":"asset-%d","name":"Asset %[1]d","description":"What every API has.","kind":"oas-template","data":{"x-tyk-api-gateway":{"middleware":{"global":{"cache":{"enabled":true}}}}}}`, n)
}

func idp(n int, api string) string {
	return fmt.Sprintf(`{"client_idp_id":"idp-%[1]d","name":"Login %[1]d","issuer":"https://login.example.com/","jwks_uri":"https://login.example.com/jwks.json","scope_claim_name":"scope","api_mappings":{%[2]q:{"scope_to_policy":{"orders:read":"gold","a.b/$c":"x"}}}}`, n, api)
}

// The kinds of records.
const (
	classicKind = "classic"
	oasKind     = "oas"
	baseKind    = "base" // an OAS API with a child
	childKind   = "child"
	streamsKind = "streams"
	mcpKind     = "mcp"
	mcpBaseKind = "mcp base"
	policyKind  = "policy"
	hookKind    = "hook"
	assetKind   = "asset"
	idpKind     = "idp"
)

// create creates a record of a kind and returns its identifier.
func (s *service) create(t testing.TB, kind string) string {
	t.Helper()
	n := s.next()
	id := fmt.Sprintf("%s-%d", strings.ReplaceAll(kind, " ", "-"), n)
	post := func(path, body string) string {
		t.Helper()
		return s.must(t, request{method: "POST", path: path, as: admin, body: []byte(body)})
	}
	child := func(base, path, body string) string {
		t.Helper()
		q := map[string][]string{"base_api_id": {base}, "base_api_version_name": {"base"}, "new_version_name": {fmt.Sprintf("v%d", n)}}
		return s.must(t, request{method: "POST", path: path, query: q, as: admin, body: []byte(body)})
	}
	switch kind {
	case classicKind:
		return post("/api/apis", classic(n, id))
	case oasKind:
		return post("/api/apis/oas", oas(n, id, "3.0.3"))
	case baseKind:
		base := s.create(t, oasKind)
		child(base, "/api/apis/oas", oas(n, id, "3.0.3"))
		return base
	case childKind:
		return child(s.create(t, oasKind), "/api/apis/oas", oas(n, id, "3.0.3"))
	case streamsKind:
		return post("/api/apis/streams", streams(n, id))
	case mcpKind:
		return post("/api/mcps", mcp(n, id))
	case mcpBaseKind:
		base := s.create(t, mcpKind)
		child(base, "/api/mcps", mcp(n, id))
		return base
	case policyKind:
		post("/api/portal/policies", policy(n, id, "orders"))
		return id
	case hookKind:
		return post("/api/hooks", hook(n))
	case assetKind:
		return post("/api/assets", asset(n))
	case idpKind:
		post("/api/clientidps", idp(n, "orders"))
		return fmt.Sprintf("idp-%d", n)
	}
	t.Fatalf("there is no kind %q", kind)
	return ""
}

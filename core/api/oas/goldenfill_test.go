package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

func TestGoldenFill(t *testing.T) {
	const x = "x-tyk-api-gateway/"
	const op, auth = x + "middleware/operations/", x + "server/authentication/"
	for _, c := range []struct{ name, document, classic, path, want string }{
		{"nothing set", `{}`, `{"use_keyless":true}`, x + "server/authentication/enabled", `false`},
		{"empty blocks go", `{"x-tyk-api-gateway":{"server":{"clientCertificates":{"enabled":false,"allowlist":[]}}}}`, `{}`, x + "server/clientCertificates", ``},
		{"unknown members are content", `{"x-tyk-api-gateway":{"server":{"clientCertificates":{"enabled":false,"mine":0}}}}`, `{}`,
			x + "server/clientCertificates", `{"enabled":false,"allowlist":null,"mine":0}`},
		{"wrong types are replaced", `{"x-tyk-api-gateway":{"info":7,"server":[]}}`, `{"name":"n","active":true}`, x + "info", `{"name":"n","state":{"active":true}}`},
		{"versions sorted", `{}`, `{"definition":{"name":"a","versions":{"z":"1","b":"2"}}}`, x + "info/versioning/versions", `[{"name":"b","id":"2"},{"name":"z","id":"1"}]`},
		{"TLS", `{}`, `{"proxy":{"transport":{"ssl_min_version":770,"ssl_max_version":5}}}`, x + "upstream/tlsTransport", `{"minVersion":"1.1"}`},
		{"weights", `{"x-tyk-api-gateway":{"upstream":{"loadBalancing":{"targets":[{"url":"idle","weight":0},{"url":"gone","weight":1}]}}}}`,
			`{"proxy":{"target_list":["b","a","b"]}}`, x + "upstream/loadBalancing", `{"enabled":false,"targets":[{"url":"a","weight":1},{"url":"b","weight":2},{"url":"idle","weight":0}]}`},
		{"no targets", `{"x-tyk-api-gateway":{"upstream":{"loadBalancing":{"enabled":true,"targets":[{"url":"a","weight":2}]}}}}`, `{"proxy":{"enable_load_balancing":false}}`,
			x + "upstream/loadBalancing", `{"enabled":true,"targets":[{"url":"a","weight":2}]}`},
		{"headers in OAuth are shown", `{}`, `{"upstream_auth":{"oauth":{"client_credentials":{"client_id":"c"}}}}`, x + "upstream/authentication/oauth/clientCredentials",
			`{"clientId":"c","tokenUrl":"","header":null}`},
		{"uptime protocol", `{}`, `{"uptime_tests":{"check_list":[{"url":"http://h","protocol":"tls","timeout":1500000000}]}}`, x + "upstream/uptimeTests",
			`{"enabled":true,"tests":[{"url":"tls://h","method":"","timeout":"1s500ms","enableProxyProtocol":false}]}`},
		{"analytics off", `{"x-tyk-api-gateway":{"middleware":{"global":{"trafficLogs":{"plugins":[{"path":"p"}]}}}}}`, `{"do_not_track":true}`,
			x + "middleware/global/trafficLogs/plugins", `[{"enabled":false,"functionName":"","path":"p"}]`},
		{"unreadable handlers", `{}`, `{"event_handlers":{"events":{"T":[{"handler_name":"eh_log_handler","handler_meta":{"prefix":7}},{"handler_name":"eh_log_handler","handler_meta":{"prefix":"p"}}]}}}`,
			x + "server/eventHandlers", `[{"enabled":true,"trigger":"T","type":"log","name":"p","logPrefix":"p"}]`},
		{"a handler without a name has an empty one", `{}`, `{"event_handlers":{"events":{"T":[{"handler_name":"eh_log_handler","handler_meta":{}},{"handler_name":"eh_dynamic_handler","handler_meta":{"path":"p"}}]}}}`,
			x + "server/eventHandlers", `[{"enabled":true,"trigger":"T","type":"log","name":"","logPrefix":""},{"enabled":true,"trigger":"T","type":"custom","name":"","functionName":"","path":"p"}]`},
		{"3 event: unreadable headers", `{}`, `{"event_handlers":{"events":{"T":[{"handler_name":"eh_web_hook_handler","handler_meta":{"header_map":{"a":1}}}]}}}`, x + "server/eventHandlers", ``},
		{"3 event: fractions of seconds are cut", `{}`, `{"event_handlers":{"events":{"T":[{"handler_name":"eh_web_hook_handler","handler_meta":{"disabled":true,"event_timeout":90.9,"header_map":null}}]}}}`,
			x + "server/eventHandlers", `[{"enabled":false,"trigger":"T","type":"webhook","url":"","method":"","cooldownPeriod":"1m30s"}]`},
		{"document only", `{"x-tyk-api-gateway":{"server":{"authentication":{"protectedResourceMetadata":{"resource":"r","wellKnownPath":""}}}}}`, `{}`,
			auth + "protectedResourceMetadata", `{"enabled":false,"resource":"r"}`},

		{"operations are made", `{}`, ep(`"white_list":[{"path":"/a","method":"get"},{"path":"/a","method":"ANY"}]`), "paths/|/a", `{"get":{"operationId":"aGET","responses":{"default":{"description":""}}}}`},
		{"ids are made", `{"paths":{"/a":{"get":{}}}}`, ep(`"white_list":[{"path":"/a","method":"GET"}]`), "paths/|/a", `{"get":{"operationId":"aGET"}}`},
		{"disabled lists stay", `{}`, ep(`"black_list":[{"path":"/a","method":"GET","disabled":true}]`), op + "aGET", `{"block":{"enabled":false}}`},
		{"other disabled blocks go", `{}`, ep(`"internal":[{"path":"/a","method":"GET","disabled":true}]`), op + "aGET", `{}`},
		{"replies are mocks", `{}`, ep(`"white_list":[{"path":"/a","method":"GET","method_actions":{"GET":{"action":"reply"}}}]`), op + "aGET", `{}`},
		{"patterns", `{"paths":{"/{id}/{customRegex1}":{"parameters":[{"name":"id","in":"path"}]}}}`, ep(`"white_list":[{"path":"/{id:[0-9]+}/a|b","method":"GET"}]`),
			"paths/|/{id}/{customRegex1}/parameters", `[{"name":"id","in":"path"},{"name":"customRegex1","in":"path","required":true,"schema":{"type":"string","pattern":"a|b"}}]`},
		{"cache of 60 s", `{}`, ep(`"advance_cache_config":[{"path":"/a","method":"GET"}]`), op + "aGET/cache", `{"enabled":true,"timeout":60}`},
		{"mock", `{}`, ep(`"mock_response":[{"path":"/a","method":"GET","code":201,"headers":{"x-b":"1"}}]`), op + "aGET",
			`{"mockResponse":{"enabled":true,"code":201,"headers":[{"name":"X-B","value":"1"}]},"ignoreAuthentication":{"enabled":true}}`},
		{"mock response", `{}`, ep(`"mock_response":[{"path":"/a","method":"GET","code":201}]`), "paths/|/a/get/responses", `{"201":{"description":""}}`},
		{"the body schema is the only one", `{"paths":{"/a":{"put":{"operationId":"o","requestBody":{"required":true,"content":{"text/plain":{}}}}}}}`, ep(`"validate_json":[{"path":"/a","method":"PUT","schema":{"type":"object"}}]`),
			"paths/|/a/put/requestBody", `{"required":true,"content":{"application/json":{"schema":{"type":"object"}}}}`},
		{"body schema", `{"paths":{"/a":{"put":{"operationId":"o","requestBody":{"$ref":"#/x"}}}}}`, ep(`"validate_json":[{"path":"/a","method":"PUT","schema_b64":"eyJ0eXBlIjoib2JqZWN0In0="}]`),
			"paths/|/a/put/requestBody", `{"content":{"application/json":{"schema":{"type":"object"}}}}`},
		{"a mock that says nothing", `{}`, ep(`"mock_response":[{"path":"/a","method":"GET","disabled":true}]`), op + "aGET/mockResponse", `{"enabled":false,"fromOASExamples":{"enabled":false}}`},
		{"a mock of examples needs no more", `{"paths":{"/a":{"get":{"operationId":"o"}}},"x-tyk-api-gateway":{"middleware":{"operations":{"o":{"mockResponse":{"enabled":true,"fromOASExamples":{"enabled":false}}}}}}}`,
			ep(`"mock_response":[{"path":"/a","method":"GET","code":201}]`), op + "o/ignoreAuthentication", ``},
		{"all plugins of an operation", `{"paths":{"/a":{"get":{"operationId":"o"}}},"x-tyk-api-gateway":{"middleware":{"operations":{"o":{"postPlugins":[{"enabled":true,"name":"f"},{"enabled":true,"name":"g","path":"p"}]}}}}}`,
			ep(`"go_plugin":[{"path":"/a","method":"GET","func_name":"h"}]`), op + "o/postPlugins", `[{"enabled":true,"functionName":"h","path":""},{"enabled":true,"functionName":"g","path":"p"}]`},
		{"empty members of blocks without an entry", `{"x-tyk-api-gateway":{"middleware":{"operations":{"o":{"validateRequest":{"enabled":true,"errorResponseCode":0},"exchange":{"enabled":false,"scopes":[]},"cache":null,"enforceTimeout":{"enabled":true,"value":1,"duration":"0s"}}}}}}`, `{}`,
			op + "o", `{"validateRequest":{"enabled":true},"exchange":{"enabled":false},"enforceTimeout":{"enabled":true,"value":1}}`},
		{"empty lists of the document", `{"x-tyk-api-gateway":{"middleware":{"global":{"trafficLogs":{"enabled":true,"plugins":[]}}}}}`, `{}`, "x-tyk-api-gateway/middleware/global/trafficLogs", `{"enabled":true}`},
		{"what errors are matched with", `{}`, `{"error_overrides":{"404":[{"match":{},"response":{}}]}}`, "x-tyk-api-gateway/errorOverrides/value/404", `[{"match":{},"response":{"statusCode":0}}]`},
		{"several parameters in a segment", `{}`, ep(`"white_list":[{"path":"/f/{a}-{b}","method":"GET"}]`), "paths/|/f/{customRegex1}/parameters", `[{"name":"customRegex1","in":"path","required":true,"schema":{"type":"string"}}]`},
		{"several patterns", `{}`, ep(`"white_list":[{"path":"/f/[a-z]+/{id:[0-9]+}/(y|n)$","method":"GET"}]`), "paths/|/f/{customRegex1}/{id}/{customRegex2}/parameters",
			`[{"name":"customRegex1","in":"path","required":true,"schema":{"type":"string","pattern":"[a-z]+"}},{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"customRegex2","in":"path","required":true,"schema":{"type":"string","pattern":"(y|n)$"}}]`},
		{"legacy: one requirement keeps its schemes", `{"components":{"securitySchemes":{"j":{"type":"http","scheme":"bearer","bearerFormat":"JWT"},"b":{"type":"http","scheme":"basic"}}},"security":[{"j":[]}],"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"j":{"enabled":true},"b":{"enabled":true}}}}}}`,
			`{"auth_configs":{"jwt":{"name":"j"}},"security_requirement_scopes":[{"j":[]}]}`, "security", `[{"j":[]}]`},
		{"legacy: no requirement stays none", `{"components":{"securitySchemes":{"b":{"type":"http","scheme":"basic"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"b":{"enabled":true}}}}}}`, `{}`, "security", ``},
		{"validation", `{}`, ep(`"validate_json":[{"path":"/a","method":"PUT","schema_b64":"?","error_response_code":400}]`), op + "aPUT/validateRequest", `{"enabled":true,"errorResponseCode":400}`},
		{"empty triggers go", `{}`, ep(`"url_rewrites":[{"path":"/a","method":"GET","triggers":[{"on":"any","options":{"payload_matches":{"match_rx":""}}}]}]`), op + "aGET/urlRewrite", `{"enabled":true}`},

		{"1.4: entries that say nothing go", `{}`, `{"auth_configs":{"basic":{"name":"b","disable_header":true}}}`, auth + "securitySchemes", ``},
		{"5.4: their native schemes stay", `{}`, `{"auth_configs":{"basic":{"name":"b","disable_header":true}}}`, "components/securitySchemes/b", `{"type":"http","scheme":"basic"}`},
		{"1.4: a disabled key says that it is", `{}`, `{"auth_configs":{"authToken":{"name":"k"}}}`, auth + "securitySchemes/k", `{"enabled":false}`},
		{"1.4: unknown members are content", `{"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"b":{"enabled":false,"mine":1}}}}}}`, `{"auth_configs":{"basic":{"name":"b","disable_header":true}}}`,
			auth + "securitySchemes/b", `{"enabled":false,"mine":1}`},
		{"4.4: OAuth needs its entry", `{}`, `{"auth_configs":{"oauth":{"name":"o","disable_header":true}}}`, auth + "securitySchemes/o", `{"enabled":false}`},
		{"schemes by reference", `{"components":{"securitySchemes":{"b":{"$ref":"#/components/securitySchemes/c"},"c":{"type":"http","scheme":"basic"}}}}`, `{"auth_configs":{"basic":{"name":"b"}},"use_basic_auth":true}`,
			"components/securitySchemes/b", `{"$ref":"#/components/securitySchemes/c"}`},
		{"10.4: parameters by reference are known", `{"paths":{"/{id}":{"parameters":[{"$ref":"#/components/parameters/id"}]}},"components":{"parameters":{"id":{"name":"id","in":"path"}}}}`,
			ep(`"white_list":[{"path":"/{id}","method":"GET"}]`), "paths/|/{id}/parameters", `[{"$ref":"#/components/parameters/id"}]`},
		{"10.4: a path of its own for a pattern", `{"paths":{"/f":{"get":{"operationId":"f"}}}}`, ep(`"black_list":[{"path":"f/{a:x{2}}/","method":"get"}]`),
			"paths/|/f/{a}/", `{"get":{"operationId":"f/{a:x{2}}/GET","responses":{"default":{"description":""}}},"parameters":[{"name":"a","in":"path","required":true,"schema":{"type":"string"}}]}`},
		{"1.3: entries of which the classic form says nothing", `{"components":{"securitySchemes":{"b":{"type":"http","scheme":"basic"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"b":{"disableCaching":false,"header":{"name":"H"},"mine":0}}}}}}`, `{}`,
			auth + "securitySchemes/b", `{"enabled":false,"header":{"enabled":false,"name":"H"},"mine":0}`},
		{"1.2: durations that live in the document", `{"components":{"securitySchemes":{"o":{"type":"oauth2"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"o":{"enabled":true,"tokenExchange":{"enabled":true,"providers":[{"name":"p","timeout":"90s","cache":{"enabled":true,"timeout":"0m","maxTimeout":"1h"}}]}}}}}}}`, `{}`,
			auth + "securitySchemes/o/tokenExchange/providers", `[{"name":"p","timeout":"1m30s","cache":{"enabled":true,"maxTimeout":"1h"}}]`},
		{"1.4: an empty place of a signature", `{}`, `{"auth_configs":{"authToken":{"name":"k","validate_signature":true}}}`, auth + "securitySchemes/k/signatureValidation", `{"enabled":true,"query":{"enabled":false}}`},
		{"1.4: an empty cache of an introspection", `{}`, `{"external_oauth":{"enabled":true,"providers":[{"introspection":{"enabled":true}}]}}`, auth + "securitySchemes/externalOAuth/providers",
			`[{"introspection":{"enabled":true,"url":"","clientId":"","clientSecret":"","cache":null}}]`},
		{"lifetime: off, the text stays", `{"x-tyk-api-gateway":{"server":{"authentication":{"customKeyLifetime":{"enabled":true,"value":"60m"}}}}}`, `{}`, auth + "customKeyLifetime", `{"value":"1h"}`},
		{"lifetime: nothing", `{"x-tyk-api-gateway":{"server":{"authentication":{"customKeyLifetime":{"enabled":false,"value":"0s"}}}}}`, `{}`, auth + "customKeyLifetime", ``},
		{"custom: places stay without a slot", `{"x-tyk-api-gateway":{"server":{"authentication":{"custom":{"enabled":true,"cookie":{"enabled":false,"name":""}}}}}}`, `{"custom_plugin_auth_enabled":true,"custom_middleware":{"auth_check":{"disabled":true},"id_extractor":{"disabled":true}}}`,
			auth + "custom", `{"enabled":true,"cookie":{"enabled":false}}`},
		{"custom: an empty slot says nothing", `{}`, `{"custom_plugin_auth_enabled":true,"auth_configs":{"coprocess":{"signature":{"use_param":false}}}}`, auth + "custom/header", ``},
		{"5.4: untouched without configs", `{"x-tyk-api-gateway":{"server":{"authentication":{"hmac":{"allowedAlgorithms":[]},"certificateAuth":{"enabled":false}}}}}`, `{}`, auth + "hmac", `{"enabled":false}`},
		{"5.4: empty with configs", `{"x-tyk-api-gateway":{"server":{"authentication":{"hmac":{"enabled":false}}}}}`, `{"auth_configs":{"jwt":{}}}`, auth + "hmac", ``},
		{"unnamed slots", `{}`, `{"auth_configs":{"jwt":{}}}`, auth + "securitySchemes", ``},
		{"a key in the cookie", `{}`, `{"auth_configs":{"authToken":{"name":"k","disable_header":true,"use_cookie":true,"cookie_name":"c"}}}`, "components/securitySchemes/k", `{"type":"apiKey","in":"cookie","name":"c"}`},
		{"external without a slot", `{}`, `{"external_oauth":{"enabled":true}}`, auth + "securitySchemes", `{"externalOAuth":{"enabled":true,"providers":null}}`},
		{"flows", `{}`, `{"auth_configs":{"oauth":{"name":"o"}},"oauth_meta":{"allowed_access_types":["password","assertion"]}}`, "components/securitySchemes/o",
			`{"type":"oauth2","flows":{"password":{"tokenUrl":"/oauth/token","scopes":{}}}}`},
		{"older certificate switch", `{"components":{"securitySchemes":{"k":{"type":"apiKey","in":"header","name":"H"}}},"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"k":{"enableClientCertificate":true}}}}}}`,
			`{"auth_configs":{"authToken":{"name":"k","auth_header_name":"H","use_certificate":true}}}`, auth + "securitySchemes/k", `{"enableClientCertificate":true,"enabled":false}`},
		{"native scheme for OAuth 2", `{"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"n":{"enabled":true,"scopeCheck":{"claimNames":[]}},"m":{}}}}}}`, `{}`,
			"components/securitySchemes", `{"n":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"/oauth/authorize","tokenUrl":"/oauth/token","scopes":{}}}}}`},
		{"claims", `{"x-tyk-api-gateway":{"server":{"authentication":{"securitySchemes":{"j":{"subjectClaims":["a","s"]}}}}}}`, `{"jwt_identity_base_field":"s","auth_configs":{"jwt":{"name":"j","disable_header":true}}}`,
			auth + "securitySchemes/j", `{"enabled":false,"identityBaseField":"s","subjectClaims":["s","a"],"jtiValidation":{"enabled":false}}`},
		{"alternatives", `{}`, `{"auth_configs":{"jwt":{"name":"j"},"basic":{"name":"b"}},"security_requirements":[["j"],["b","hmac"]]}`, "security", `[{"j":[]},{"b":[]}]`},
		{"proprietary names", `{}`, `{"auth_configs":{"jwt":{"name":"j"},"basic":{"name":"b"}},"security_requirements":[["j"],["b","hmac"]]}`, auth + "security", `[["hmac"]]`},
		{"compliant", `{"x-tyk-api-gateway":{"server":{"authentication":{"securityProcessingMode":"compliant"}}}}`, `{"auth_configs":{"jwt":{"name":"j"}},"security_requirements":[["j"],["j","hmac"]]}`,
			auth + "security", `[["j","hmac"]]`},
		{"5.5: compliant, mixed requirements go whole", `{"x-tyk-api-gateway":{"server":{"authentication":{"securityProcessingMode":"compliant"}}}}`,
			`{"auth_configs":{"jwt":{"name":"j"},"authToken":{"name":"k"}},"security_requirements":[["j"],["k","hmac"],["custom"]],"security_requirement_scopes":[{},{},{}]}`, auth + "security", `[["k","hmac"],["custom"]]`},
		{"5.5: names of vendors without a scheme", `{"x-tyk-api-gateway":{"server":{"authentication":{"securityProcessingMode":"compliant","security":[["own"]]}}}}`,
			`{"auth_configs":{"jwt":{"name":"j"}},"security_requirements":[["j"],["own"]]}`, "security", `[{"j":[]}]`},
		{"5.5: scopes of schemes that have some", `{"components":{"securitySchemes":{"i":{"type":"openIdConnect"},"b":{"type":"http","scheme":"basic"}}}}`,
			`{"security_requirements":[["b"],["i"]],"security_requirement_scopes":[{"b":["x"]},{"i":["y"]}]}`, "security", `[{"b":[]},{"i":["y"]}]`},
		{"5.4: the first requirement gets the names", `{"security":[{"a":[]},{"b":[]}],"x-tyk-api-gateway":{"server":{"authentication":{"securityProcessingMode":"compliant"}}}}`, `{"auth_configs":{"jwt":{"name":"j"}}}`,
			"security", `[{"a":[],"j":[]},{"b":[]}]`},
		{"lists of different length", `{}`, `{"auth_configs":{"oauth":{"name":"o"}},"security_requirements":[["x"]],"security_requirement_scopes":[{"o":["r"]},{"o":[]}]}`, "security", `[{"o":["r"]},{"o":[]}]`},
		{"only proprietary ones", `{"security":[]}`, `{"security_requirements":[["hmac"]]}`, "security", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := oas.Fill(doctest.Node(t, c.document), doctest.Node(t, c.classic))
			if v := atDocument(got, c.path); c.want != "" {
				want(t, v, c.want)
			} else if v != nil {
				t.Errorf("want nothing, got %s", v.JSON())
			}
		})
	}
}

// ep is a definition with endpoint lists.
func ep(lists string) string {
	return `{"version_data":{"versions":{"":{"extended_paths":{` + lists + `}}}}}`
}

func TestFillNothing(t *testing.T) {
	want(t, oas.Fill(nil, nil).Get("components"), `{}`)
	d := doctest.Node(t, `{"openapi":"3.1.0","info":{},"paths":{},"components":{},"externalDocs":{}}`)
	want(t, oas.Fill(d, oas.Extract(d, nil, oas.Options{})), `{"openapi":"3.1.0","info":{},"paths":{},"components":{}}`)
}

// atDocument follows a path of names separated by slashes; after "|" comes a path of the API
// itself, up to its method or parameters.
func atDocument(d *doc.Node, path string) *doc.Node {
	before, after, found := strings.Cut(path, "|")
	if !found {
		return d.Get(strings.Split(path, "/")...)
	}
	names := strings.Split(strings.TrimSuffix(before, "/"), "/")
	for _, inner := range []string{"/get/", "/put/", "/parameters"} {
		if i := strings.Index(after, inner); i >= 0 {
			return d.Get(names...).Get(append([]string{after[:i]}, strings.Split(after[i+1:], "/")...)...)
		}
	}
	return d.Get(append(names, after)...)
}

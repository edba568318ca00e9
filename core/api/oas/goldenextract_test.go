package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// at follows a path of names separated by slashes; "V" is the main version.
func at(n *doc.Node, path string) *doc.Node {
	path = strings.Replace(path, "EP/", "V/extended_paths/", 1)
	path = strings.Replace(path, "V/", "version_data/versions//", 1)
	return n.Get(strings.Split(path, "/")...)
}

// harbour is a document around an extension, with schemes to which it can refer.
const harbour = `{"paths":{"/a":{"get":{"operationId":"ga"},"put":{"operationId":"pa"}},"/a/{x}":{"get":{"operationId":"gx"}},"/a/me":{"get":{"operationId":"gm"}},"/r":{"$ref":"#/components/pathItems/r"}},
 "components":{"pathItems":{"r":{"get":{"operationId":"gr"}}},"securitySchemes":{"r":{"$ref":"#/components/securitySchemes/b"},"k1":{"type":"apiKey","in":"header","name":"H"},"k2":{"type":"apiKey","in":"cookie","name":"C"},
  "j":{"type":"http","scheme":"bearer","bearerFormat":"JWT"},"b":{"type":"http","scheme":"basic"},"o":{"type":"oauth2","flows":{"implicit":{},"password":{}}}}}}`

func TestGoldenExtract(t *testing.T) {
	for _, c := range []struct{ name, extension, security, path, want string }{
		{"absent is off", `{}`, ``, "tags_disabled", `true`},
		{"wrong type is absent", `{"info":{"name":7,"dbId":"short"},"server":{"port":"80"}}`, ``, "listen_port", `0`},
		{"spelling of numbers", `{"server":{"authentication":{"hmac":{"allowedClockSkew":1.50}}}}`, ``, "hmac_allowed_clock_skew", `1.5`},
		{"whole numbers lose fractions", `{"server":{"port":80.9}}`, ``, "listen_port", `80`},
		{"numbers beyond 64 bits", `{"server":{"port":1e300}}`, ``, "listen_port", `9223372036854775807`},
		{"pairs: the last one counts", `{"info":{"versioning":{"versions":[{"name":"v","id":"1"},7,{"name":"v","id":"2"}]}}}`, ``, "definition/versions", `{"v":"2"}`},
		{"pairs: none", `{"info":{"versioning":{"versions":[]}}}`, ``, "definition/versions", `null`},
		{"pairs: headers", `{"middleware":{"global":{"transformRequestHeaders":{"add":[]}}}}`, ``, "V/global_headers", `{}`},
		{"keys joined", `{"upstream":{"certificatePinning":{"domainToPublicKeysMapping":[{"domain":"d","publicKeys":["a","b"]}]}}}`, ``, "pinned_public_keys", `{"d":"a,b"}`},
		{"seconds rounded down", `{"upstream":{"rateLimit":{"enabled":true,"rate":5,"per":"1900ms"}}}`, ``, "global_rate_limit", `{"disabled":false,"rate":5,"per":1}`},
		{"TLS", `{"upstream":{"tlsTransport":{"minVersion":"1.1","maxVersion":"1.4"}}}`, ``, "proxy/transport/ssl_min_version", `770`},
		{"weights", `{"upstream":{"loadBalancing":{"targets":[{"url":"b","weight":2},{"url":"z","weight":0},{"url":"a","weight":1}]}}}`, ``, "proxy/target_list", `["b","b","a"]`},
		{"weights all zero", `{"upstream":{"loadBalancing":{"enabled":true,"targets":[{"url":"b","weight":-2}]}}}`, ``, "proxy/target_list", `[]`},
		{"old discovery cache", `{"upstream":{"serviceDiscovery":{"enabled":true,"cacheTimeout":3}}}`, ``, "proxy/service_discovery/cache_disabled", `false`},
		{"discovery off", `{"upstream":{"serviceDiscovery":{"cache":{"enabled":true}}}}`, ``, "proxy/service_discovery/cache_disabled", `true`},
		{"uptime address", `{"upstream":{"uptimeTests":{"tests":[{"url":"tcp://h:1","timeout":"2ms"}]}}}`, ``, "uptime_tests/check_list",
			`[{"url":"tcp://h:1","protocol":"tcp","timeout":2000000,"method":"","headers":null,"body":"","commands":null,"enable_proxy_protocol":false}]`},
		{"size limit 0", `{"middleware":{"global":{"requestSizeLimit":{"enabled":true}}}}`, ``, "V/global_size_limit_disabled", `true`},
		{"old plugins", `{"middleware":{"global":{"prePlugin":{"plugins":[{"functionName":"f"}]}}}}`, ``, "custom_middleware/pre",
			`[{"disabled":true,"name":"f","path":"","raw_body_only":false,"require_session":false}]`},
		{"new plugins win", `{"middleware":{"global":{"prePlugin":{"plugins":[{}]},"prePlugins":[]}}}`, ``, "custom_middleware/pre", `[]`},
		{"events", `{"server":{"eventHandlers":[{"trigger":"T","type":"log","enabled":true,"logPrefix":"p"},{"trigger":"T","type":"bird"}]}}`, ``, "event_handlers/events",
			`{"T":[{"handler_name":"eh_log_handler","handler_meta":{"disabled":false,"prefix":"p"}}]}`},
		{"errors", `{"errorOverrides":{"enabled":true,"value":{"4xx":[{"match":{"flag":"RLT"},"response":{"statusCode":400}}]}}}`, ``, "error_overrides",
			`{"4xx":[{"match":{"flag":"RLT"},"response":{"status_code":400}}]}`},
		{"path order", `{"middleware":{"operations":{"gx":{"block":{}},"ga":{"block":{}},"gm":{"block":{}},"pa":{"block":{}}}}}`, ``, "EP/black_list",
			entries(`"disabled":true,"ignore_case":false`, "GET /a/me", "GET /a/{x}", "GET /a", "PUT /a")},
		{"allow list order", `{"middleware":{"operations":{"gx":{"allow":{"enabled":true}},"ga":{"allow":{"enabled":true}},"pa":{"allow":{"enabled":true}}}}}`, ``, "EP/white_list",
			entries(`"disabled":false,"ignore_case":false`, "GET /a", "PUT /a", "GET /a/{x}")},
		{"duration over value", `{"middleware":{"operations":{"ga":{"enforceTimeout":{"enabled":true,"value":9,"duration":"1100ms"}}}}}`, ``, "EP/hard_timeouts",
			entries(`"disabled":false,"timeout":2,"duration":"1s100ms"`, "GET /a")},
		{"value alone", `{"middleware":{"operations":{"ga":{"enforceTimeout":{"value":9,"duration":""}}}}}`, ``, "EP/hard_timeouts", entries(`"disabled":true,"timeout":9`, "GET /a")},
		{"no plugins", `{"middleware":{"operations":{"ga":{"postPlugins":[]}}}}`, ``, "EP/go_plugin", entries(`"disabled":false,"func_name":"","plugin_path":""`, "GET /a")},
		{"older function name", `{"middleware":{"operations":{"ga":{"virtualEndpoint":{"enabled":true,"name":"f","path":"p"}}}}}`, ``, "EP/virtual",
			entries(`"disabled":false,"response_function_name":"f","function_source_type":"file","function_source_uri":"p","proxy_on_error":false,"use_session":false`, "GET /a")},
		{"mocks stay in the document", `{"middleware":{"operations":{"ga":{"mockResponse":{"enabled":true}}}}}`, ``, "EP/mock_response", ``},

		{"no requirement", `{"server":{"authentication":{"enabled":true,"securitySchemes":{"j":{"enabled":true}}}}}`, `[]`, "auth_configs", `{}`},
		{"a scheme without entry", `{"server":{"authentication":{"enabled":true}}}`, `[{"b":[]}]`, "auth_configs/basic/disable_header", `true`},
		{"an OAuth scheme without entry", `{"server":{"authentication":{"enabled":true}}}`, `[{"o":[]}]`, "auth_configs", `{}`},
		{"grants", `{"server":{"authentication":{"securitySchemes":{"o":{"refreshToken":true}}}}}`, `[{"o":[]}]`, "oauth_meta/allowed_access_types", `["refresh_token","password","__implicit"]`},
		{"the enabled key", `{"server":{"authentication":{"securitySchemes":{"k2":{"enabled":true}}}}}`, `[{"k1":[],"k2":[]}]`, "auth_configs/authToken/name", `"k2"`},
		{"legacy: the first", `{"server":{"authentication":{"enabled":true}}}`, `[{"j":[]},{"b":[]}]`, "auth_configs/basic", ``},
		{"legacy: all are listed", `{"server":{"authentication":{"enabled":true}}}`, `[{"j":["s"]},{"b":[],"k1":[]}]`, "security_requirements", `[["j"],["b","k1"]]`},
		{"scopes", `{"server":{"authentication":{"enabled":true}}}`, `[{"j":["s"]}]`, "security_requirement_scopes", `[{"j":["s"]}]`},
		{"one is no list", `{"server":{"authentication":{"enabled":true}}}`, `[{"j":[]}]`, "security_requirements", ``},
		{"compliant: vendor lists", `{"server":{"authentication":{"securityProcessingMode":"compliant","security":[["j","hmac"]]}}}`, `[{"j":[]},{"b":[]}]`, "security_requirements", `[["b"],["j","hmac"]]`},
		{"compliant: both keys in one slot", `{"server":{"authentication":{"securityProcessingMode":"compliant"}}}`, `[{"k1":[]},{"k2":[]}]`, "auth_configs/authToken/disable_header", `false`},
		{"4.4: an existing slot of a key is extended", `{"server":{"authentication":{"securityProcessingMode":"compliant","securitySchemes":{"k1":{"enabled":true},"k2":{"enabled":true}}}}}`, `[{"k1":[]},{"k2":[]}]`,
			"auth_configs/authToken", key(`"name":"k2","auth_header_name":"H","disable_header":true,"use_cookie":true,"cookie_name":"C"`)},
		{"4.4: the enabled header of a second key", `{"server":{"authentication":{"securityProcessingMode":"compliant","securitySchemes":{"k2":{"enabled":true,"header":{"enabled":true,"name":"X"}}}}}}`, `[{"k1":[]},{"k2":[]}]`,
			"auth_configs/authToken", key(`"name":"k2","auth_header_name":"X","use_cookie":true,"cookie_name":"C"`)},
		{"4.4: a key extends the slot of certificates", `{"server":{"authentication":{"enabled":true,"certificateAuth":{"enabled":true}}}}`, `[{"k2":[]}]`,
			"auth_configs/authToken", key(`"name":"k2","use_certificate":true,"use_cookie":true,"cookie_name":"C"`)},
		{"3 src-header: absent with an entry", `{"server":{"authentication":{"enabled":true,"certificateAuth":{"enabled":true},"securitySchemes":{"k2":{}}}}}`, `[{"k2":[]}]`,
			"auth_configs/authToken/disable_header", `true`},
		{"4.4: an empty first requirement names no scheme", `{"server":{"authentication":{"enabled":true}}}`, `[{},{"j":[]}]`, "auth_configs", `{}`},
		{"4.5: it is listed all the same", `{"server":{"authentication":{"enabled":true}}}`, `[{},{"j":[]}]`, "security_requirements", `[[],["j"]]`},
		{"4.5: compliant lists of vendors alone", `{"server":{"authentication":{"securityProcessingMode":"compliant","security":[["hmac","custom"]]}}}`, `[]`, "security_requirement_scopes", `[{}]`},
		{"4.4: legacy without authentication", `{}`, `[{"j":[]}]`, "auth_configs", `{}`},
		{"schemes by reference", `{"server":{"authentication":{"securitySchemes":{"r":{"enabled":true}}}}}`, `[{"r":[]}]`, "auth_configs/basic/name", `"r"`},
		{"path items by reference", `{"middleware":{"operations":{"gr":{"block":{"enabled":true}}}}}`, ``, "EP/black_list", entries(`"disabled":false,"ignore_case":false`, "GET /r")},
		{"certificates make a slot", `{"server":{"authentication":{"certificateAuth":{"enabled":true}}}}`, ``, "auth_configs/authToken/use_certificate", `true`},
		{"silent plugin", `{"server":{"authentication":{"custom":{"enabled":true}}}}`, ``, "auth_configs", `{}`},
		{"lifetime off", `{"server":{"authentication":{"customKeyLifetime":{"value":"1h"}}}}`, ``, "session_lifetime", `0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := doctest.Node(t, harbour)
			d.Set(oas.ExtensionKey, doctest.Node(t, c.extension))
			if c.security != "" {
				d.Set("security", doctest.Node(t, c.security))
			}
			got := oas.Extract(d, nil, oas.Options{})
			wantTyped(t, got)
			if c.want == "" {
				if at(got, c.path) != nil {
					t.Errorf("want nothing, got %s", at(got, c.path).JSON())
				}
				return
			}
			want(t, at(got, c.path), c.want)
		})
	}
}

// entries returns endpoint list entries with the same members.
func entries(members string, operations ...string) string {
	var list []string
	for _, o := range operations {
		method, path, _ := strings.Cut(o, " ")
		list = append(list, `{`+members+`,"method":"`+method+`","path":"`+path+`"}`)
	}
	return `[` + strings.Join(list, ",") + `]`
}

// key is the slot of an API key with some members set.
func key(members string) string {
	return `{"param_name":"","cookie_name":"","auth_header_name":"","use_param":false,"use_cookie":false,"disable_header":false,"use_certificate":false,
		"validate_signature":false,"signature":{"algorithm":"","header":"","use_param":false,"param_name":"","secret":"","allowed_clock_skew":0,"error_code":0,"error_message":""},` + members + `}`
}

func TestMarkers(t *testing.T) {
	over := doctest.Node(t, `{"application_protocol":"mcp","json_rpc_version":"2.0"}`)
	for target, want := range map[string]string{"https://m.test": "2.0", "tyk://a__mcp-server": ""} {
		d := doc.NewObject()
		d.Put(doc.NewString(target), oas.ExtensionKey, "upstream", "url")
		if got := oas.Extract(d, over, oas.Options{MCP: true}).Get("json_rpc_version").Text(); got != want {
			t.Errorf("%s: got %q", target, got)
		}
		if got := oas.Extract(d, nil, oas.Options{}).Get("json_rpc_version"); got != nil {
			t.Errorf("%s: %s without MCP", target, got.JSON())
		}
	}
}

// TestManyTargets: weights cannot make a definition arbitrarily large.
func TestManyTargets(t *testing.T) {
	d := doctest.Node(t, `{"x-tyk-api-gateway":{"upstream":{"loadBalancing":{"targets":[{"url":"a","weight":9000000000000000000},{"url":"b","weight":1}]}}}}`)
	list := oas.Extract(d, nil, oas.Options{}).Get("proxy", "target_list").Texts()
	if len(list) > 10_001 || list[0] != "a" || list[len(list)-1] != "b" {
		t.Errorf("got %d targets", len(list))
	}
}

package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// shop is a document with members of every part, some of them unknown to the table.
const shop = `{
 "openapi": "3.0.3", "x-note": {"n": 1.50},
 "info": {"title": "Shop", "version": "2"},
 "paths": {
  "/items": {"get": {"operationId": "listItems"}, "post": {"operationId": "addItem"}},
  "/items/{id}": {"get": {"operationId": "readItem"}, "x-own": true}
 },
 "components": {"securitySchemes": {
  "key": {"type": "apiKey", "in": "header", "name": "X-Key", "description": "ask us"},
  "jwt": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
 }},
 "security": [{"jwt": []}, {"key": []}],
 "x-tyk-api-gateway": {
  "x-unknown": [1e2],
  "info": {"id": "shop-1", "name": "Shop", "state": {"active": true, "colour": "red"}},
  "upstream": {
   "url": "http://shop.test", "rateLimit": {"enabled": true, "rate": 10, "per": "1m30s"},
   "loadBalancing": {"enabled": true, "targets": [{"url": "http://a", "weight": 2}, {"url": "http://b", "weight": 1, "zone": "z"}]},
   "mutualTLS": {"enabled": true, "domainToCertificateMapping": [{"domain": "shop.test", "certificate": "c1", "since": 2020}]}
  },
  "server": {
   "listenPath": {"value": "/shop/", "strip": true},
   "authentication": {
    "enabled": true, "securityProcessingMode": "compliant",
    "securitySchemes": {
     "key": {"enabled": true, "hint": "x"},
     "jwt": {"enabled": true, "header": {"enabled": true, "name": "Authorization"}, "source": "c2VjcmV0MQ", "identityBaseField": "uid", "subjectClaims": ["uid", "sub"], "jtiValidation": {"enabled": false}}
    }
   },
   "eventHandlers": [{"enabled": true, "trigger": "HostDown", "type": "webhook", "url": "http://h", "method": "POST", "cooldownPeriod": "0s", "owner": "ops"}]
  },
  "middleware": {
   "global": {
    "trafficLogs": {"enabled": true},
    "prePlugins": [{"enabled": true, "functionName": "f", "path": "p", "pluginId": "id-1"}]
   },
   "operations": {
    "readItem": {
     "allow": {"enabled": true}, "x-mine": 1,
     "enforceTimeout": {"enabled": true, "value": 2, "duration": "1s500ms"},
     "transformRequestHeaders": {"enabled": true, "add": [{"name": "A", "value": "1"}]},
     "urlRewrite": {"enabled": true, "pattern": "a", "rewriteTo": "b", "triggers": [{"condition": "any", "rewriteTo": "c", "rules": [{"in": "query", "name": "q", "pattern": "1", "why": "w"}]}]},
     "validateRequest": {"enabled": true}
    }
   }
  }
 }
}`

// TestFillKeeps: a document that is equal to its classic form is returned byte by byte, with
// all unknown members.
func TestFillKeeps(t *testing.T) {
	d := doctest.Node(t, shop)
	for name, fill := range map[string]func(d, c *doc.Node) *doc.Node{"Fill": oas.Fill} {
		if got := fill(d, oas.Extract(d, nil, oas.Options{})); string(got.JSON()) != string(d.JSON()) {
			t.Errorf("%s: got %s", name, got.JSON())
		}
	}
}

// TestFillKeepsAround: unknown members also stay next to a change.
func TestFillKeepsAround(t *testing.T) {
	d := doctest.Node(t, shop)
	c := oas.Extract(d, nil, oas.Options{})
	c.Put(doctest.Node(t, `[{"name":"g","path":"p"}]`), "custom_middleware", "pre")
	c.Put(doctest.Node(t, `{"shop.test":"c2","new.test":"c3"}`), "upstream_certificates")
	c.Put(doc.NewString("Store"), "name")
	ext := oas.Fill(d, c).Get(oas.ExtensionKey)
	want(t, ext.Get("middleware", "global", "prePlugins"), `[{"enabled":true,"functionName":"g","path":"p","pluginId":"id-1"}]`)
	want(t, ext.Get("upstream", "mutualTLS", "domainToCertificateMapping"),
		`[{"certificate":"c3","domain":"new.test"},{"certificate":"c2","domain":"shop.test","since":2020}]`)
	want(t, ext.Get("info"), `{"id":"shop-1","name":"Store","state":{"active":true,"colour":"red"}}`)
	want(t, ext.Get("x-unknown"), `[1e2]`)
}

func want(t *testing.T, got *doc.Node, text string) {
	t.Helper()
	if !doctest.Node(t, text).Equal(got) {
		t.Errorf("want %s, got %s", text, written(got))
	}
}

// TestExtractKeeps: other members of a stored definition stay in an extraction.
func TestExtractKeeps(t *testing.T) {
	stored := doctest.Node(t, `{"slug":"s","x-own":{"n":1.0},"definition":{"base_id":"gone","strip_path":true},"graphql":{"schema":"q"},
		"version_data":{"versions":{"old":{"name":"old","extended_paths":{"virtual":[{"path":"/v"}]}}}},"tags":["t"],"listen_port":"wrong",
		"analytics_plugin":{"enable":true},"event_handlers":{"events":{"A":[{"handler_name":"other","handler_meta":{}},{"handler_name":"eh_log_handler"}]}}}`)
	c := oas.Extract(doctest.Node(t, shop), stored, oas.Options{})
	wantTyped(t, c)
	wantComplete(t, c)
	for path, text := range map[string]string{
		"slug": `"s"`, "x-own": `{"n":1}`, "graphql.schema": `"q"`, "definition.strip_path": "true", "tags": "null", "listen_port": "0",
		"analytics_plugin": `{"enable":true}`, "event_handlers.events.A": `[{"handler_name":"other","handler_meta":{"disabled":true}}]`,
		"version_data.versions.old":  `{"name":"old","extended_paths":{"virtual":[{"path":"/v","disabled":true}]},"global_enforce_timeout_disabled":true}`,
		"version_data.not_versioned": "true",
	} {
		want(t, c.Get(strings.Split(path, ".")...), text)
	}
	if c.Get("definition", "base_id") != nil {
		t.Error("the hidden base id is in the JSON form")
	}
	want(t, oas.Extract(doctest.Node(t, shop), oas.Remains(stored), oas.Options{}).Get("analytics_plugin"), `{}`)
}

// TestExtractDropsMistyped: a stored member of the wrong type is removed; members with names
// that begin alike stay.
func TestExtractDropsMistyped(t *testing.T) {
	c := oas.Extract(doctest.Node(t, shop), doctest.Node(t, `{"auth_provider":7,"auth":{"use_cookie":true},"session_provider":{"name":"s"},"proxy":{"target_list":[7]},"name":"kept"}`), oas.Options{})
	wantTyped(t, c)
	want(t, c.Get("auth", "use_cookie"), `true`)
	want(t, c.Get("session_provider", "name"), `"s"`)
}

func TestNormalise(t *testing.T) {
	d := doctest.Node(t, shop)
	e := d.Get(oas.ExtensionKey)
	jwt := e.Get("server", "authentication", "securitySchemes", "jwt")
	jwt.Set("subjectClaims", doctest.Node(t, `["sub","uid"]`))
	jwt.Set("scopes", doctest.Node(t, `{"claims":["scp"]}`))
	e.Put(doctest.Node(t, `{"claims":["oscp"],"claimName":"own"}`), "server", "authentication", "oidc", "scopes")
	e.Put(doc.NewString("2m"), "middleware", "operations", "readItem", "enforceTimeout", "duration")
	e.Put(doctest.Node(t, `{"enabled":true,"duration":"500ms"}`), "middleware", "mcpTools", "t", "enforceTimeout")
	oas.Normalise(d)
	want(t, jwt, `{"enabled":true,"header":{"enabled":true,"name":"Authorization"},"source":"c2VjcmV0MQ==","identityBaseField":"sub",
		"subjectClaims":["sub","uid"],"jtiValidation":{"enabled":false},"scopes":{"claims":["scp"],"claimName":"scp"}}`)
	want(t, e.Get("server", "authentication", "oidc", "scopes"), `{"claims":["oscp"],"claimName":"own"}`)
	want(t, e.Get("middleware", "operations", "readItem", "enforceTimeout", "value"), `120`)
	want(t, e.Get("middleware", "mcpTools", "t", "enforceTimeout", "value"), `1`)
	once := string(d.JSON())
	if oas.Normalise(d); string(d.JSON()) != once {
		t.Error("not the same the second time")
	}
	oas.Normalise(nil)
}

package opa_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/redact"
)

const chatty = `package dashboard_users
deny[x] { x := sprintf("body %v", [input.request.body]) }
deny[x] { x := input.request.body.users[_].New_Password }
patch_request[x] { x := {"number": input.request.body.password} }
patch_request[x] { x := {"copy": input.request.body.pin, "secret": "made-up-2"} }`

const secrets = `{"name":"visible","pin":"1234-5678","nested":{"jwt_secret":"s3cr3t-a","client-secret":"s3cr3t-b"},` +
	`"users":[{"New_Password":"hun\"ter<2>","current_password":"s3cr3t-c","access_key":"s3cr3t-d"}],` +
	`"credentials":{"list":["s3cr3t-e",{"x":"s3cr3t-f"}]},"password":12345678,"apiKey":"s3cr3t-g",` +
	`"header_map":{"X-Auth":["Bearer s3cr3t-l",{"x":"s3cr3t-m"}],"X-Pin":87654321,"X-Deep":{"value":["s3cr3t-n"]},"Accept":["text/shown"],"X-On":true},` +
	`"hook":{"header_map":"X-Auth: Bearer s3cr3t-o"},"other_headers":["X-Auth: s3cr3t-p"],"auth_header_name":"X-Named","headers_remove":["X-Removed"],` +
	`"addHeaders":[{"name":"X-Added","value":["s3cr3t-q"]}]}`

func TestDebugLogHidesSecrets(t *testing.T) {
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		e := engine(t, opa.Config{OrgRules: orgRules(chatty), Debug: true, Logger: slog.New(handler(&b)), Security: map[string]any{"private_key": "s3cr3t-h", "allow_admin_reset_password": true}})
		c := call(t, things, "apis.update", "/api/apis/s3cr3t-i", access.Map{"apis": "write"})
		row := *c.Spec
		row.Redact = []string{"security.pin"}
		c.Spec, c.Body, c.RequestID, c.Token = &row, []byte(secrets), "request-7", "s3cr3t-j"
		c.Path = map[string]string{"key": "s3cr3t-i"}
		c.Query = map[string][]string{"access_token": {"s3cr3t-k"}, "q": {"s3cr3t-j"}}
		c.Header = map[string]string{"Authorization": "s3cr3t-j", "If-Match": "1"}
		decide(t, e, c)
		log := b.String()
		for _, s := range []string{"s3cr3t", "1234-5678", "hun", "ter<2>", "u003c2", "12345678", "87654321", "made-up-2"} {
			if strings.Contains(log, s) {
				t.Errorf("%s: %q appears in %s", name, s, log)
			}
		}
		for _, s := range []string{"visible", "apis.update", "request-7", "/api/apis/***", "deni", "copy", "text/shown", "X-Named", "X-Removed", "X-Added"} {
			if !strings.Contains(log, s) {
				t.Errorf("%s: no %q in %s", name, s, log)
			}
		}
		if !strings.Contains(strings.ReplaceAll(log, `\`, ""), `"allow_admin_reset_password":true`) {
			t.Errorf("%s: a switch is hidden as if it was a secret: %s", name, log)
		}
	}
}

// Secrets in APIs and webhooks: headers, addresses with credentials, keys of schemes.
func TestDebugLogHidesDefinitions(t *testing.T) {
	for _, body := range []string{
		`{"name":"seen","target_path":"https://me:s3cr3t-a@hooks.example/x?token=s3cr3t-b&v=1","header_map":{"X-Custom":"s3cr3t-c"}}`,
		`{"api_definition":{"name":"seen","jwt_source":"s3cr3t-d","jwt_jwks_uris":[{"url":"https://u:s3cr3t-e@i.example/jwks"}],
			"proxy":{"target_url":"http://u:s3cr3t-f@up.example/"},"upstream_auth":{"basic_auth":{"username":"u","password":"s3cr3t-g"}},
			"version_data":{"versions":{"v":{"global_headers":{"X-Upstream":"s3cr3t-h"},"global_headers_remove":["X-Seen"]}}},
			"event_handlers":{"events":{"QuotaExceeded":[{"handler_meta":{"header_map":{"auth":"s3cr3t-i"}}}]}}}}`,
		`{"info":{"title":"seen"},"x-tyk-api-gateway":{"upstream":{"url":"http://u:s3cr3t-j@up.example"},"server":{"authentication":{"securitySchemes":{"jwt":{"source":"s3cr3t-k"}}}},
			"middleware":{"global":{"transformRequestHeaders":{"enabled":true,"add":[{"name":"X-Upstream","value":"s3cr3t-l"}]}}}}}`,
		`[{"op":"test","path":"/api_definition/hmac_secret","value":"s3cr3t-m"},{"op":"add","path":"/api_definition/auth/signature/secret/-","value":{"a":["s3cr3t-n"]}},
			{"op":"add","path":"/version_data/global_headers/X-Upstream","value":"s3cr3t-o"},{"op":"replace","path":"/api_definition/name","value":"seen"}]`,
		`{"name":"seen","target_url":"user:s3cr3t-p@up.example/","jwks_uri":"::user:s3cr3t-q@"}`,
	} {
		var b bytes.Buffer
		const rule = "package dashboard_users\ndeny[x] { x := sprintf(\"%v\", [input.request.body]) }"
		e := engine(t, opa.Config{OrgRules: orgRules(rule), Debug: true, Logger: slog.New(slog.NewTextHandler(&b, nil))})
		c := call(t, things, "apis.update", "/api/apis/1", nil)
		c.Body, c.Header = []byte(body), map[string]string{"Content-Type": "application/seen"}
		decide(t, e, c)
		if log := b.String(); strings.Contains(log, "s3cr3t") || !strings.Contains(log, "seen") || !strings.Contains(log, "application/seen") {
			t.Error(log)
		}
	}
}

// A secret of a few characters is hidden in its own place, and so is every text of the
// rules that may contain it. It is not hidden in other texts, where the gaps would
// reveal it.
func TestDebugLogHidesShortSecrets(t *testing.T) {
	for _, secret := range []string{"a", "ap", "e", "1", "\"", "*", "api", "12345"} {
		var b bytes.Buffer
		e := engine(t, opa.Config{OrgRules: orgRules(`package dashboard_users
deny[x] { x := concat("", ["<<", input.request.body.password, ">>"]) }
deny["plain"] { true }
patch_request[x] { x := {"copy": concat("", ["<<", input.request.body.password, ">>"])} }`), Debug: true, Logger: slog.New(slog.NewJSONHandler(&b, nil))})
		c := call(t, things, "apis.update", "/api/apis/1", nil)
		row := *c.Spec
		row.Path = "/api/apis/{key}"
		c.Spec, c.RawPath, c.Path = &row, "/api/apis/"+url.PathEscape(secret), map[string]string{"key": secret}
		c.Body = []byte(fmt.Sprintf(`{"name":"apparent 12345 name","password":%q,"proxy":"http://u:%s@up.example/"}`, secret, url.QueryEscape(secret)))
		decide(t, e, c)
		var line struct{ Input, Denials, Patch string }
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{`"name":"apparent 12345 name"`, `"password":"***"`, `"path":"/api/apis/***"`, `http://***@up.example/`} {
			if !strings.Contains(line.Input, s) {
				t.Errorf("%q: no %s in %s", secret, s, line.Input)
			}
		}
		if strings.Contains(line.Denials+line.Patch, "<<") || !strings.Contains(line.Denials, redact.Hidden) {
			t.Errorf("%q: the rules' texts show it: %s %s", secret, line.Denials, line.Patch)
		}
	}
}

func TestDebugLogOfTrouble(t *testing.T) {
	var b bytes.Buffer
	const rule = "package dashboard_users\ndeny[\"x\"] { to_number(input.request.body.password) == 1 }"
	e := engine(t, opa.Config{OrgRules: orgRules(rule), Debug: true, Logger: slog.New(slog.NewTextHandler(&b, nil))})
	c := call(t, things, "apis.update", "/api/apis/1", nil)
	c.Body = []byte(`{"password":"hunter2"}`)
	if _, err := e.Decide(t.Context(), c); err == nil {
		t.Error("no error")
	}
	if log := b.String(); strings.Contains(log, "hunter2") || !strings.Contains(log, "to_number") {
		t.Error(log)
	}
}

func TestNoDebugLogUnlessAsked(t *testing.T) {
	var b bytes.Buffer
	e := engine(t, opa.Config{Logger: slog.New(slog.NewTextHandler(&b, nil))})
	decide(t, e, call(t, things, "apis.update", "/api/apis/1", nil))
	if b.Len() > 0 {
		t.Error(b.String())
	}
}

package opa_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestNeeds: rules decide about further permissions of a call, in place of the permission
// map.
func TestNeeds(t *testing.T) {
	create := spec("oas.create", "POST", "/api/apis/oas", access.APIs, access.Write)
	operation.Needs(access.Assets, access.Read, "templateId")(&create.Spec)
	usage := spec("usage.mcp", "GET", "/api/usage/mcp", access.Analytics, access.Read)
	operation.Needs(access.MCP, access.Read)(&usage.Spec)
	ops := []operation.Operation{create, usage}
	open := "package dashboard_users\ndeny[\"never\"] { false }\n"
	one := "package dashboard_users\ndeny[\"no proxies\"] { input.permissions[_].permission == \"mcp\" }\n"
	for name, c := range map[string]struct {
		rules, op, path, query string
		m                      access.Map
		allowed                bool
	}{
		"the default set, both":              {"", "usage.mcp", "/api/usage/mcp", "", access.Map{"analytics": "read", "mcp": "read"}, true},
		"the default set, one":               {"", "usage.mcp", "/api/usage/mcp", "", access.Map{"analytics": "read"}, false},
		"an admin who is shut out":           {"", "usage.mcp", "/api/usage/mcp", "", access.Map{"IsAdmin": "admin", "mcp": "deny"}, false},
		"an admin":                           {"", "usage.mcp", "/api/usage/mcp", "", access.Map{"IsAdmin": "admin"}, true},
		"a need that arises, read is enough": {"", "oas.create", "/api/apis/oas", "templateId=x", access.Map{"apis": "write", "api_assets": "read"}, true},
		"a need that arises, unmet":          {"", "oas.create", "/api/apis/oas", "templateId=x", access.Map{"apis": "write"}, false},
		"a need that does not arise":         {"", "oas.create", "/api/apis/oas", "", access.Map{"apis": "write"}, true},
		"rules that deny nothing":            {open, "usage.mcp", "/api/usage/mcp", "", access.Map{"keys": "read"}, true},
		"rules about the further one":        {one, "usage.mcp", "/api/usage/mcp", "", access.Map{"IsAdmin": "admin"}, false},
		"rules about another one":            {one, "oas.create", "/api/apis/oas", "templateId=x", access.Map{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			cfg := opa.Config{Debug: true, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			if c.rules != "" {
				cfg.OrgRules = orgRules(c.rules)
			}
			e, err := opa.New(cfg, ops)
			if err != nil {
				t.Fatal(err)
			}
			made := call(t, ops, c.op, c.path, c.m)
			if made.Query, err = url.ParseQuery(c.query); err != nil {
				t.Fatal(err)
			}
			if v := decide(t, e, made); (len(v.Denials) == 0) != c.allowed {
				t.Errorf("%q", v.Denials)
			}
			// The log shows the input for the last permission.
			if told := strings.Contains(log.String(), `permission\":\"mcp`); told != (c.op == "usage.mcp") {
				t.Errorf("%v: %s", told, log.String())
			}
		})
	}
}

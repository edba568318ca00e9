package gatewaysim

import (
	"encoding/json"
	"errors"
	"strings"
)

// document is the part of an OAS document that the gateway reads in addition to the
// classic definition (docs/wire/feeds.md#oas-apis).
type document struct {
	mcp       bool       // it has MCP tools, resources or prompts
	tools     primitives // by name; likewise the next two
	resources primitives
	prompts   primitives
	challenge bool       // protected-resource metadata is on: a missing token gives 401
	jwt       *jwtScheme // nil when the document has no JWT security scheme
}

// jwtScheme is the part of a JWT security scheme that has no classic form.
type jwtScheme struct {
	AllowedIssuers   []string
	AllowedAudiences []string
	AllowedSubjects  []string
	SubjectClaims    []string
	BasePolicyClaims []string
	Scopes           struct{ Claims []string }
}

type rawDocument struct {
	OpenAPI    string
	Info       struct{ Title, Version string }
	Paths      json.RawMessage
	Components struct {
		SecuritySchemes map[string]struct{ Type, Scheme, BearerFormat string }
	}
	Extension struct {
		Server struct {
			Authentication struct {
				SecuritySchemes           map[string]json.RawMessage
				ProtectedResourceMetadata struct{ Enabled bool }
			}
		}
		Middleware struct{ MCPTools, MCPResources, MCPPrompts primitives }
	} `json:"x-tyk-api-gateway"`
}

// parseDocument decodes a document. It refuses what every OpenAPI validation refuses:
// another version than 3, an info without title or version, no paths object (required
// up to OpenAPI 3.0).
func parseDocument(raw json.RawMessage) (*document, error) {
	var d rawDocument
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, err
	}
	switch {
	case !strings.HasPrefix(d.OpenAPI, "3."):
		return nil, errors.New("openapi must be 3.x")
	case d.Info.Title == "" || d.Info.Version == "":
		return nil, errors.New("info needs title and version")
	case strings.HasPrefix(d.OpenAPI, "3.0") && (len(d.Paths) == 0 || d.Paths[0] != '{'):
		return nil, errors.New("paths must be an object")
	}
	m, auth := d.Extension.Middleware, d.Extension.Server.Authentication
	doc := &document{
		mcp:   m.MCPTools != nil || m.MCPResources != nil || m.MCPPrompts != nil,
		tools: m.MCPTools, resources: m.MCPResources, prompts: m.MCPPrompts,
		challenge: auth.ProtectedResourceMetadata.Enabled,
	}
	for name, scheme := range d.Components.SecuritySchemes {
		settings, ok := auth.SecuritySchemes[name]
		if !ok || scheme.Type != "http" || scheme.Scheme != "bearer" || scheme.BearerFormat != "JWT" {
			continue
		}
		doc.jwt = &jwtScheme{}
		if err := json.Unmarshal(settings, doc.jwt); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Package schemas publishes the JSON schemas of API documents.
package schemas

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/openapi"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Service returns the schemas (docs/wire/schemas.md#answers).
type Service struct{ Schemas openapi.Schemas }

// codeMissing is the code of the fault for a version without a schema. Existing clients
// expect a server error.
const codeMissing = "schema.not_found"

const missing = "Could not retrieve schema. schema not found for version."

// answer is a response that is encoded already.
type answer struct{ text []byte }

// Stream implements operation.Stream.
func (a answer) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "application/json", "", [][]byte{a.text}, nil
}

// Schema describes what all responses have in common. That of MCP proxies is a JSON
// schema; the others are envelopes of one or two schemas.
func (answer) Schema() map[string]any { return map[string]any{"type": "object"} }

// Examples for the API description.
var (
	exampleSchema = map[string]any{"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
	exampleOne    = map[string]any{"status": "OK", "message": "Schema retrieved", "schema": exampleSchema}
	exampleAll    = map[string]any{"status": "OK", "message": "Schemas retrieved", "schemas": map[string]any{"oas": exampleSchema, "streamsOAS": exampleSchema}}
)

// Operations lists the reads for any user, and the one for users who may read MCP
// proxies.
func (s *Service) Operations() []operation.Operation {
	group := operation.Group{
		Surface: operation.Management, Name: "schemas", Path: "/api", Tag: "Schemas", Permission: access.AnyUser,
		Style: operation.Style{Faults: map[string]operation.Answer{codeMissing: {Status: 500, Text: missing}}},
	}
	proxies := group
	proxies.Permission = access.MCP
	faults := operation.Faulting(codeMissing)
	return append(group.Rows(
		operation.GET("get", "/schema", "Fetch the schema of OAS APIs", s.of(openapi.OAS), faults,
			operation.Notes("Same as /api/schemas/apidefs/oas."), operation.Example(nil, exampleOne)),
		operation.GET("all", "/schemas/apidefs", "Fetch the schemas of OAS and streams APIs", s.All, faults, operation.Example(nil, exampleAll)),
		operation.GET("oas", "/schemas/apidefs/oas", "Fetch the schema of OAS APIs", s.of(openapi.OAS), faults, operation.Example(nil, exampleOne)),
		operation.GET("streams", "/schemas/apidefs/streams-oas", "Fetch the schema of streams APIs", s.of(openapi.Streams), faults, operation.Example(nil, exampleOne)),
	), proxies.Rows(
		operation.GET("mcp", "/schemas/apidefs/mcp", "Fetch the schema of MCP proxies", s.MCP, faults, operation.Example(nil, exampleSchema)),
	)...)
}

type versionIn struct {
	Version string `query:"oasVersion" doc:"OpenAPI version: 3.0, 3.1, or a full version such as 3.0.3. Default: 3.0."`
}

type schemaIn struct {
	versionIn
	Pretty string `query:"pretty" doc:"Any value: the response is indented."`
}

// of returns the function that responds with the schema of a variant.
func (s *Service) of(v openapi.Variant) func(context.Context, schemaIn) (answer, error) {
	return func(_ context.Context, in schemaIn) (answer, error) {
		schema, err := s.schema(v, in.Version)
		if err != nil {
			return answer{}, err
		}
		return envelope("Schema retrieved", "schema", schema, in.Pretty != "")
	}
}

// All returns the schemas of the kinds of API that documents describe.
func (s *Service) All(_ context.Context, in versionIn) (answer, error) {
	oas, err := s.schema(openapi.OAS, in.Version)
	if err != nil {
		return answer{}, err
	}
	streams, err := s.schema(openapi.Streams, in.Version)
	if err != nil {
		return answer{}, err
	}
	both := bytes.Join([][]byte{[]byte(`{"oas":`), oas, []byte(`,"streamsOAS":`), streams, []byte(`}`)}, nil)
	return envelope("Schemas retrieved", "schemas", both, false)
}

type mcpIn struct {
	Version string `query:"mcpVersion" doc:"OpenAPI version: 3.0 or 3.1. Default: the latest."`
}

// MCP returns the schema of MCP proxies without an envelope.
func (s *Service) MCP(_ context.Context, in mcpIn) (answer, error) {
	schema, err := s.schema(openapi.MCP, cmp.Or(in.Version, "3.1"))
	return answer{schema}, err
}

func (s *Service) schema(v openapi.Variant, version string) (json.RawMessage, error) {
	schema, err := s.Schemas.Schema(v, version)
	if errors.Is(err, openapi.ErrNoSchema) {
		return nil, fault.New(fault.NotFound, codeMissing, missing).Because(err)
	}
	if err != nil {
		return nil, fmt.Errorf("schemas: %s: %w", v, err)
	}
	return schema, nil
}

// envelope wraps a value (docs/wire/errors.md#envelopes).
func envelope(message, member string, value json.RawMessage, pretty bool) (answer, error) {
	text := doc.AppendString([]byte(`{"status":"OK","message":`), message)
	text = append(doc.AppendString(append(text, ','), member), ':')
	text = append(append(text, value...), '}')
	if !pretty {
		return answer{text}, nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return answer{}, fmt.Errorf("schemas: %w", err)
	}
	return answer{b.Bytes()}, nil
}

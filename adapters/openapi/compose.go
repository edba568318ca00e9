package openapi

import (
	"fmt"
	"maps"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// Prefix of the definitions of the extension, as gateways publish them.
const extensionPrefix = "X-Tyk-"

// Members of a document that belong to gateways.
const (
	extension = "x-tyk-api-gateway"
	toolView  = "x-tyk-mcp-server"
	streaming = "x-tyk-streaming"
)

// form is one way to check a document: all inputs that determine a schema.
type form struct {
	variant    port.Variant
	version    string // "3.0", "3.1"
	strict     bool
	allStreams bool
}

// compose builds the JSON schema of a form: the OpenAPI schema with the extensions as
// members, and all definitions in one place.
func compose(f form) (object, error) {
	s := &outline{container: "definitions", strict: f.strict, definitions: object{}}
	head := object{"$schema": "http://json-schema.org/draft-04/schema#"}
	versioned := "openapi30"
	if f.version == "3.1" {
		s.container, versioned = "$defs", "openapi31"
		head["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	}
	for _, file := range []string{"openapi", versioned} {
		if err := s.read(file); err != nil {
			return nil, err
		}
	}
	document := s.take("Document")
	members := document["properties"].(object)
	s.prefix = extensionPrefix
	if err := f.extend(s, members); err != nil {
		return nil, err
	}
	maps.Copy(document, head)
	document[s.container] = s.definitions
	return document, nil
}

// extend adds the members that gateways define in addition to OpenAPI.
func (f form) extend(s *outline, members object) error {
	for _, d := range oas.Definitions(oas.Options{MCP: f.variant == port.MCP}) {
		if err := s.define(d); err != nil {
			return fmt.Errorf("openapi: extension: %s: %w", d.Name, err)
		}
	}
	switch f.variant {
	case port.OAS:
	case port.MCP:
		if err := s.read("mcp"); err != nil {
			return err
		}
		members[toolView] = s.take("ToolView")
	case port.Streams, port.StreamsTemplate:
		if err := s.read("streams"); err != nil {
			return err
		}
		s.at("Root")["required"] = []any{"info", "server"} // streams need no upstream
		delete(s.at("Upstream"), "anyOf")
		if f.variant == port.StreamsTemplate {
			s.relax("Root", "Info", "State", "Server", "ListenPath", "Streaming")
		}
		if f.allStreams {
			s.at("Streams")["additionalProperties"] = object{}
		}
		members[streaming] = s.take("Streaming")
	case port.Template:
		s.relax("Root", "Info", "State", "Server", "ListenPath", "Upstream")
		delete(s.at("Upstream"), "anyOf")
	default:
		return fmt.Errorf("openapi: unknown variant %q", f.variant)
	}
	members[extension] = s.take("Root")
	return nil
}

// at returns a definition.
func (s *outline) at(name string) object {
	d, ok := s.definitions[s.prefix+name].(object)
	if !ok {
		return object{"properties": object{}}
	}
	return d
}

// take removes a definition from the outline and returns it, to stand alone.
func (s *outline) take(name string) object {
	d := s.at(name)
	delete(s.definitions, s.prefix+name)
	return d
}

// relax makes every member of definitions optional.
func (s *outline) relax(names ...string) {
	for _, name := range names {
		delete(s.at(name), "required")
	}
}

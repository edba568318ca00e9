// Package openapi is the port to the JSON schemas of API documents: documents are validated
// against them, and clients can read them.
package openapi

import (
	"encoding/json"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Variant is a kind of document with its own description.
type Variant string

// The variants. A template is a document that may lack what the API will have that is made
// from it (docs/wire/assets.md#use).
const (
	OAS             Variant = "oas"
	Streams         Variant = "streams"
	MCP             Variant = "mcp"
	Template        Variant = "template"
	StreamsTemplate Variant = "streams-template"
)

// Options say which variant a document is and how strictly it is checked. The zero Options
// check an OAS document and refuse unknown members of the extension.
type Options struct {
	Variant      Variant // "" means OAS
	AllowUnknown bool    // unknown members of the extension pass
	Examples     bool    // examples must fit their schemas
	Defaults     bool    // defaults of schemas must fit them
	AllStreams   bool    // configurations of streams are not checked
}

// Problem is one error in a document.
type Problem = validation.Problem

// Validator checks documents.
type Validator interface {
	// Validate returns the errors in the form of a document, in the order of its parts, or
	// nothing. It follows no reference to another file or host, and does not change the document.
	Validate(document *doc.Node, o Options) []Problem
}

// ErrNoSchema says that there is no such version of OpenAPI.
var ErrNoSchema = errors.New("schema not found for version")

// Schemas publishes the JSON schema of documents.
type Schemas interface {
	// Schema returns the strict schema for a version of OpenAPI: "3.0", "3.1" or a full version
	// such as "3.1.1"; "" is 3.0. Without such a version the error wraps ErrNoSchema. Treat the
	// text as read-only.
	Schema(v Variant, version string) (json.RawMessage, error)
}

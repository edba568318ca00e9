// Package openapi is the port to the JSON schemas of API documents: documents are
// checked against them, and clients can read them.
package openapi

import (
	"encoding/json"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Variant is a kind of document with a description of its own.
type Variant string

// The variants. A template is a document that may lack what the API made from it
// will have (docs/wire/assets.md#use).
const (
	OAS             Variant = "oas"
	Streams         Variant = "streams"
	MCP             Variant = "mcp"
	Template        Variant = "template"
	StreamsTemplate Variant = "streams-template"
)

// Options say what a document is and how strictly it is read. The zero Options
// check an OAS document and refuse unknown members of the extension.
type Options struct {
	Variant      Variant // "" means OAS
	AllowUnknown bool    // unknown members of the extension pass
	Examples     bool    // examples must fit their schemas
	Defaults     bool    // defaults of schemas must fit them
	AllStreams   bool    // configurations of streams are not looked at
}

// Problem is one thing that is wrong with a document.
type Problem = validation.Problem

// Validator checks documents.
type Validator interface {
	// Validate returns what is wrong with the form of a document, in the order of
	// its parts, or nothing. No reference to another file or host is followed.
	// The document is not changed.
	Validate(document *doc.Node, o Options) []Problem
}

// ErrNoSchema says that no version of OpenAPI goes by that name.
var ErrNoSchema = errors.New("schema not found for version")

// Schemas publishes the JSON schema of documents.
type Schemas interface {
	// Schema returns the strict schema for a version of OpenAPI: "3.0", "3.1" or a
	// full one such as "3.1.1"; "" is 3.0. The error wraps ErrNoSchema when there
	// is none. Treat the text as read-only.
	Schema(v Variant, version string) (json.RawMessage, error)
}

package document

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes of the faults of documents.
const (
	CodeOAS       = "document.oas"
	CodeSDL       = "document.sdl"
	CodeJSON      = "document.introspection"
	CodeExtension = "document.extension"
)

// CheckOAS returns an error unless a document is an OpenAPI description of version 2 or 3.
func CheckOAS(n *doc.Node) error {
	version := n.Get("openapi")
	known := version.Is(doc.TypeString) && strings.HasPrefix(version.Text(), "3.") // pages can show this version
	if version == nil {
		version = n.Get("swagger") // YAML writers omit the quotes of 2.0, which makes it a number
		known = version.Is(doc.TypeString) && version.Text() == "2.0" || version.Is(doc.TypeNumber) && version.Float() == 2
	}
	switch {
	case !n.Is(doc.TypeObject):
		return fault.New(fault.Invalid, CodeOAS, "the document is not an object").At("file")
	case version == nil:
		return fault.New(fault.Invalid, CodeOAS, "the document has neither openapi nor swagger: it is no OpenAPI description").At("file")
	case !known:
		return fault.New(fault.Invalid, CodeOAS, "the document is of another version of OpenAPI than 2 or 3").At("file")
	case !n.Get("info").Is(doc.TypeObject):
		return fault.New(fault.Invalid, CodeOAS, "the OpenAPI description has no info").At("file")
	}
	return nil
}

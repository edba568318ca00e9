// Package imports builds a Tyk OAS document from a plain OpenAPI description: it derives the
// vendor extension on import, keeps it on patch, and merges templates (docs/wire/import.md).
package imports

import (
	"strings"
	"unicode/utf8"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/api/validation"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Codes are those of the faults of this package and of the URLs that it uses.
var Codes = []string{"oas.document", "oas.security", "oas.servers", "oas.upstream"}

// Import adds the extension to a description, in place; an existing extension is kept and
// completed. A refused document is left unchanged. Errors are faults of kind Invalid that name
// the field.
func Import(document *doc.Node, s Settings) error {
	b, err := newBuilder(document, document.Get(oas.ExtensionKey), s)
	if err != nil {
		return err
	}
	b.identify()
	b.ext.Put(doc.NewBool(true), "info", "state", "active")
	b.ext.Delete("info", "state", "internal")
	b.ext.Put(doc.NewBool(true), "server", "listenPath", "strip")
	// Defaults of a new import, unless the document sets them.
	for _, name := range []string{"contextVariables", "trafficLogs"} {
		if !b.ext.Get("middleware", "global", name).Is(doc.TypeObject) {
			b.ext.Put(doc.NewBool(true), "middleware", "global", name, "enabled")
		}
	}
	b.finish()
	return nil
}

// Patch copies the extension and the other vendor parts of a stored document to an updated
// description, in place. The stored document is not changed. Servers of the stored document
// stay when the description has none (docs/wire/versions.md#servers). Errors are as with
// Import.
func Patch(document, existing *doc.Node, s Settings) error {
	b, err := newBuilder(document, existing.Get(oas.ExtensionKey).Clone(), s)
	if err != nil {
		return err
	}
	b.identify()
	b.finish()
	if document.Get("servers").Len() == 0 && existing.Get("servers").Len() > 0 {
		document.Set("servers", existing.Get("servers").Clone())
	}
	for name, v := range existing.Members() {
		if strings.HasPrefix(name, "x-tyk-") && document.Get(name) == nil {
			document.Set(name, v.Clone())
		}
	}
	return nil
}

// CheckPlain refuses a description that has the extension already; what is "import" or "patch"
// (docs/wire/import.md#sources).
func CheckPlain(document *doc.Node, what string) error {
	if document.Get(oas.ExtensionKey) == nil {
		return nil
	}
	return fault.New(fault.Invalid, "oas.extension", "The %s payload should not contain %s.", what, oas.ExtensionKey).At(oas.ExtensionKey)
}

// builder completes one document with the extension ext.
type builder struct {
	document, ext *doc.Node
	s             Settings
	upstream      string // to be set; "": leave the current one
}

// maxParts is the maximum number of parameters in all paths: each becomes an object of its
// item.
const maxParts = 100_000

func newBuilder(document, ext *doc.Node, s Settings) (*builder, error) {
	if !document.Is(doc.TypeObject) {
		return nil, fault.New(fault.Invalid, "oas.document", "an OpenAPI description must be an object")
	}
	if document.Get("swagger") != nil && document.Get("openapi") == nil {
		return nil, fault.New(fault.Invalid, "oas.document", "Swagger 2.0 descriptions cannot be imported; convert the description to OpenAPI 3").At("swagger")
	}
	parts := 0
	for path := range document.Get("paths").Members() { // IDs of operations are made from paths
		parts += oas.Parts(path)
		if utf8.RuneCountInString(path) > validation.MaxAddress {
			return nil, fault.New(fault.Invalid, "oas.document", "the path %s must not be longer than %d characters", doc.Short(path), validation.MaxAddress).At("paths")
		}
	}
	if parts > maxParts {
		return nil, fault.New(fault.Invalid, "oas.document", "the paths must not have more than %d parameters in all", maxParts).At("paths")
	}
	if !ext.Is(doc.TypeObject) {
		ext = doc.NewObject()
	}
	b := &builder{document: document, ext: ext, s: s}
	if on := s.Authentication; on != nil && *on && document.Get("security").Len() == 0 {
		return nil, fault.New(fault.Invalid, "oas.security",
			"authentication cannot be imported: the description has no security requirements").At("security")
	}
	var err error
	b.upstream, err = upstream(document, ext, s)
	return b, err
}

// identify sets the ID and the addresses of the API, and its upstream.
func (b *builder) identify() {
	if b.s.APIID != "" {
		b.ext.Put(doc.NewString(b.s.APIID), "info", "id")
	}
	if b.ext.Get("info", "name").Text() == "" {
		b.ext.Put(doc.NewString(b.document.Get("info", "title").Text()), "info", "name")
	}
	if b.upstream != "" {
		b.ext.Put(doc.NewString(b.upstream), "upstream", "url")
	}
	switch listen := b.ext.Get("server", "listenPath", "value").Text(); {
	case b.s.ListenPath != "":
		b.ext.Put(doc.NewString(b.s.ListenPath), "server", "listenPath", "value")
	case listen == "":
		b.ext.Put(doc.NewString("/"), "server", "listenPath", "value")
	}
	if b.s.CustomDomain == "" {
		return
	}
	if !b.ext.Get("server", "customDomain").Is(doc.TypeObject) {
		b.ext.Put(doc.NewBool(true), "server", "customDomain", "enabled")
	}
	b.ext.Put(doc.NewString(b.s.CustomDomain), "server", "customDomain", "name")
}

// finish does the common steps of import and patch and attaches the extension.
func (b *builder) finish() {
	TranslatePatterns(b.document)
	b.authentication()
	ids := b.endpoints()
	// Empty settings are removed, and those of missing operations.
	if operations := b.ext.Get("middleware", "operations"); operations.Is(doc.TypeObject) {
		for _, id := range operations.Names() {
			if o := operations.Get(id); !ids[id] || o.Is(doc.TypeNull) || o.Is(doc.TypeObject) && o.Len() == 0 {
				operations.Delete(id)
			}
		}
		if operations.Len() == 0 {
			b.ext.Delete("middleware", "operations")
		}
		if b.ext.Get("middleware").Len() == 0 {
			b.ext.Delete("middleware")
		}
	}
	b.document.Set(oas.ExtensionKey, b.ext)
}

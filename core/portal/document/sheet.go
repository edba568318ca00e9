// Package document models the documents for developers: those of the APIs of products, and the
// specifications of products without APIs (docs/wire/portal-documents.md).
package document

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/table"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// SheetKind and TextKind are the names of the resources in storage.
const (
	SheetKind = "portal-documents"
	TextKind  = "portal-document"
)

// Form is the format of a document.
type Form string

// The forms, as sent to clients.
const (
	OAS     Form = "oas"
	GraphQL Form = "graphqlSDL"
)

// Sheet lists the documents of one API or one specification. Their texts are separate records,
// so that lists need not read them.
type Sheet struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Product table.ID  `json:"product"`
	OAS     bool      `json:"oas,omitempty"`
	GraphQL bool      `json:"graphql,omitempty"`
	Latest  Form      `json:"latest,omitempty"` // form of the last upload
	// Endpoint is the URL to which a playground sends queries.
	Endpoint string `json:"endpoint,omitempty"`
}

// Text is the text of one document.
type Text struct {
	ID        string     `json:"id"`
	Portal    tenant.ID  `json:"org_id"`
	Product   table.ID   `json:"product"`
	MediaType string     `json:"media_type"`
	Text      string     `json:"text"` // "": it may be at File
	File      file.Place `json:"file,omitzero"`
}

// OfAPI returns the ID of the sheet of an API of a product. The ID of the API is hashed,
// because it may contain any characters.
func OfAPI(product table.ID, api string) string {
	sum := sha256.Sum256([]byte(api))
	return product.Key() + "-api-" + hex.EncodeToString(sum[:16])
}

// OfSpec returns the ID of the sheet of a specification of a product.
func OfSpec(product, spec table.ID) string { return product.Key() + "-spec-" + spec.Key() }

// TextID returns the ID of a sheet's text in one form.
func TextID(sheet string, f Form) string { return sheet + "-" + string(f) }

// Has reports whether there is a text in a form.
func (s Sheet) Has(f Form) bool { return f == OAS && s.OAS || f == GraphQL && s.GraphQL }

// With returns the sheet with a new text in a form.
func (s Sheet) With(f Form) Sheet {
	s = s.set(f, true)
	s.Latest = f
	return s
}

// Without returns the sheet without the text in a form.
func (s Sheet) Without(f Form) Sheet { return s.set(f, false) }

func (s Sheet) set(f Form, has bool) Sheet {
	switch f {
	case OAS:
		s.OAS = has
	case GraphQL:
		s.GraphQL = has
	}
	return s
}

// Type returns the form that developers see: that of the last upload if it still exists,
// otherwise an existing one. A document at address, a URL, counts like a stored one.
func (s Sheet) Type(address string) Form {
	oas := s.OAS || address != ""
	switch {
	case s.GraphQL && (s.Latest == GraphQL || !oas):
		return GraphQL
	case oas:
		return OAS
	}
	return ""
}

// Empty reports whether the sheet has no content.
func (s Sheet) Empty() bool { return !s.OAS && !s.GraphQL && s.Endpoint == "" }

// MaxAddress is the maximum length of the URL of a document in characters.
const MaxAddress = 4096

// IsAddress reports whether a text is an HTTP URL.
func IsAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// Package document models the documents that developers read: those of the APIs of
// products, and the specifications of products without APIs
// (docs/wire/portal-documents.md).
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

// Form is what a document describes an API with.
type Form string

// The forms, as clients read them.
const (
	OAS     Form = "oas"
	GraphQL Form = "graphqlSDL"
)

// Sheet says which documents one API or one specification has. Their texts are records
// of their own, so that lists need not read them.
type Sheet struct {
	ID      string    `json:"id"`
	Portal  tenant.ID `json:"org_id"`
	Product table.ID  `json:"product"`
	OAS     bool      `json:"oas,omitempty"`
	GraphQL bool      `json:"graphql,omitempty"`
	Latest  Form      `json:"latest,omitempty"` // what was uploaded last
	// Endpoint is where a playground sends queries.
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

// OfAPI names the sheet of an API of a product. APIs are named by others, as they like.
func OfAPI(product table.ID, api string) string {
	sum := sha256.Sum256([]byte(api))
	return product.Key() + "-api-" + hex.EncodeToString(sum[:16])
}

// OfSpec names the sheet of a specification of a product.
func OfSpec(product, spec table.ID) string { return product.Key() + "-spec-" + spec.Key() }

// TextID names the text of one form that belongs to a sheet.
func TextID(sheet string, f Form) string { return sheet + "-" + string(f) }

// Has reports whether there is a text of a form.
func (s Sheet) Has(f Form) bool { return f == OAS && s.OAS || f == GraphQL && s.GraphQL }

// With returns the sheet with a new text of a form.
func (s Sheet) With(f Form) Sheet {
	s = s.set(f, true)
	s.Latest = f
	return s
}

// Without returns the sheet without the text of a form.
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

// Type returns what developers are shown: what was uploaded last, if it is there, or else
// what there is. A document at an address counts like one that is stored.
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

// Empty reports whether the sheet says nothing.
func (s Sheet) Empty() bool { return !s.OAS && !s.GraphQL && s.Endpoint == "" }

// MaxAddress is how many characters the address of a document has at most.
const MaxAddress = 4096

// IsAddress reports whether a text is the address of something on the web.
func IsAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

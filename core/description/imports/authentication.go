package imports

import (
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// authentication derives the authentication block from the security requirements
// (docs/wire/import.md#authentication). Existing entries stay unchanged.
func (b *builder) authentication() {
	if b.s.ProcessingMode != "" {
		if b.ext.Get("server", "authentication", "enabled") == nil {
			b.ext.Put(doc.NewBool(false), "server", "authentication", "enabled")
		}
		b.ext.Put(doc.NewString(b.s.ProcessingMode), "server", "authentication", "securityProcessingMode")
	}
	if b.s.Authentication == nil {
		return
	}
	b.ext.Put(doc.NewBool(*b.s.Authentication), "server", "authentication", "enabled")
	if b.document.Get("security").Len() == 0 {
		return // there is no requirement from which to derive authentication
	}
	for _, requirement := range b.document.Get("security").Items() {
		for name := range requirement.Members() {
			kind := oas.Recognise(b.native(name), nil)
			if kind == oas.SchemeOther || b.ext.Get("server", "authentication", "securitySchemes", name).Is(doc.TypeObject) {
				continue
			}
			entry := doc.NewObject()
			entry.Set("enabled", doc.NewBool(*b.s.Authentication))
			if kind != oas.SchemeToken {
				entry.Put(doc.NewBool(true), "header", "enabled")
				entry.Put(doc.NewString("Authorization"), "header", "name")
			}
			if kind == oas.SchemeJWT {
				entry.Put(doc.NewBool(false), "jtiValidation", "enabled")
			}
			b.ext.Put(entry, "server", "authentication", "securitySchemes", name)
		}
	}
	if identity := b.baseIdentity(); identity != "" {
		b.ext.Put(doc.NewString(identity), "server", "authentication", "baseIdentityProvider")
	} else {
		b.ext.Delete("server", "authentication", "baseIdentityProvider")
	}
}

// native returns a security scheme of the description.
func (b *builder) native(name string) *doc.Node {
	return oas.Resolve(b.document, b.document.Get("components", "securitySchemes", name))
}

// baseIdentity returns which of several schemes identifies the client; "" with fewer than two.
func (b *builder) baseIdentity() string {
	entries := b.ext.Get("server", "authentication", "securitySchemes")
	if entries.Len() < 2 {
		return ""
	}
	identity := "oauth_key"
	for name := range entries.Members() {
		switch oas.Recognise(b.native(name), nil) {
		case oas.SchemeToken:
			return "auth_token"
		case oas.SchemeJWT:
			identity = "jwt_claim"
		}
	}
	return identity
}

package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// fillAuthentication writes the authentication of a definition into a document
// (docs/wire/conversion.md#fill-authentication, docs/wire/conversion.md#fill-security).
func fillAuthentication(d, ext, c *doc.Node) {
	a := object(ext, "server", "authentication")
	// Rule lifetime. A lifetime that is off keeps its text, because the classic form cannot store
	// it.
	n := readWhole(c.Get("session_lifetime")).Int()
	block := object(a, "customKeyLifetime")
	assignOrDrop(block, doc.NewBool(n != 0), "enabled")
	if n != 0 {
		assign(block, durationText(seconds(n)), "value")
	}
	configs := c.Get("auth_configs")
	custom := object(a, "custom")
	if slot := configs.Get("coprocess"); !silent(slot) {
		fillSources(custom, slot)
	}
	for _, k := range []struct {
		name    string
		section *section
	}{{"hmac", hmacSection}, {"oidc", oidcSection}} {
		if s := configs.Get(k.name); s.Is(doc.TypeObject) {
			block := object(a, k.name)
			k.section.fill(block, c)
			fillSources(block, s)
			if scopes := block.Get("scopes"); k.name == "oidc" && scopes.Get("claims").Len() == 0 {
				fillClaims(scopes, "claimName", "claims")
			}
		}
	}
	// Rule cert. A document with client certificates in its token scheme keeps this form.
	oldForm := false
	if !a.Get("certificateAuth", "enabled").True() {
		for name, entry := range a.Get("securitySchemes").Members() {
			oldForm = oldForm || Recognise(nativeScheme(d, name), entry) == SchemeToken && entry.Get("enableClientCertificate").True()
		}
	}
	if configs.Len() > 0 {
		assign(a, doc.NewBool(!oldForm && configs.Get(string(SchemeToken), "use_certificate").True()), "certificateAuth", "enabled")
	}
	for i := range converters {
		fillScheme(d, a, c, &converters[i], oldForm)
	}
	completeEntries(d, a)
	fillSecurity(d, a, c)
	if a.Get("securitySchemes").Is(doc.TypeObject) && a.Get("securitySchemes").Len() == 0 {
		a.Delete("securitySchemes")
	}
}

func fillScheme(d, a, c *doc.Node, k *converter, oldForm bool) {
	s := c.Get("auth_configs", string(k.scheme))
	name := s.Get("name").Text()
	if name == "" {
		if k.scheme != SchemeExternalOAuth || !c.Get("external_oauth", "enabled").True() {
			return
		}
		name, s = string(SchemeExternalOAuth), doc.NewObject()
		s.Set("disable_header", doc.NewBool(true))
	}
	entry := object(a, "securitySchemes", name)
	k.section.fill(entry, c)
	fillSources(entry, s)
	native := nativeScheme(d, name)
	if !native.Is(doc.TypeObject) {
		native = object(d, "components", "securitySchemes", name)
	}
	switch k.scheme {
	case SchemeToken:
		assignOrDrop(entry, doc.NewBool(oldForm && s.Get("use_certificate").True()), "enableClientCertificate")
		fillTokenPlace(native, entry, s)
	case SchemeJWT:
		assign(native, doc.NewString("http"), "type")
		assign(native, doc.NewString("bearer"), "scheme")
		assign(native, doc.NewString("JWT"), "bearerFormat")
		fillClaims(entry, "identityBaseField", "subjectClaims")
		fillClaims(entry, "policyFieldName", "basePolicyClaims")
		fillClaims(object(entry, "scopes"), "claimName", "claims")
	case SchemeBasic:
		assign(native, doc.NewString("http"), "type")
		assign(native, doc.NewString("basic"), "scheme")
	case SchemeOAuth:
		fillOAuth(native, entry, c.Get("oauth_meta", "allowed_access_types").Texts())
	case SchemeExternalOAuth:
		assign(native, doc.NewString("oauth2"), "type")
		CompleteFlow(native, "authorizationCode")
	}
	// An empty entry is removed: the native scheme alone has the same effect, except with OAuth
	// (docs/wire/extension.md#absent-and-empty, docs/wire/conversion.md#authentication). The
	// entry of an API key is not empty as long as it says whether it is enabled.
	if k.section.layout.compact(entry) && k.scheme != SchemeToken && k.scheme != SchemeOAuth {
		a.Delete("securitySchemes", name)
	} else {
		k.section.layout.complete(entry)
	}
	requireScheme(d, name)
}

// completeEntries writes the entries of the extension as the table requires, including those
// that the classic form does not contain, and adds a native scheme for enabled entries that
// have none.
func completeEntries(d, a *doc.Node) {
	for _, name := range a.Get("securitySchemes").Names() {
		entry, native := a.Get("securitySchemes", name), nativeScheme(d, name)
		if !entry.Is(doc.TypeObject) {
			continue
		}
		scheme := Recognise(native, entry)
		if scheme == SchemeOAuth2 {
			oauth2Layout.tidy(entry)
		}
		for _, k := range converters {
			if k.scheme == scheme && scheme != SchemeToken { // an API key need not say whether it is enabled
				k.section.layout.tidy(entry)
			}
		}
		if native != nil || !entry.Get("enabled").True() {
			continue
		}
		guess := doc.NewObject()
		guess.Set("type", doc.NewString("oauth2"))
		if Recognise(guess, entry) == SchemeOAuth2 {
			CompleteFlow(guess, "authorizationCode")
			d.Put(guess, "components", "securitySchemes", name)
		}
	}
}

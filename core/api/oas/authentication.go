package oas

import (
	"time"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// extractAuthentication extracts the authentication of a document
// (docs/wire/conversion.md#authentication). The members of the authentication block itself are
// in rootSection.
func extractAuthentication(document, ext, c *doc.Node) {
	a := ext.Get("server", "authentication")
	assign(c, doc.NewObject(), "auth_configs")
	// The settings of all schemes are removed, except for one member that stays when no scheme is
	// converted.
	const stays = "idp_client_id_mapping_disabled"
	kept := c.Get(stays)
	for _, s := range converters {
		s.section.extract(nil, c)
	}
	c.Delete("auth_configs", string(SchemeToken))
	assign(c, kept, stays)
	assign(c, doc.NewNull(), "oauth_meta", "allowed_access_types")
	hmacSection.extract(a.Get("hmac"), c)
	oidcSection.extract(a.Get("oidc"), c)
	for _, name := range []string{"hmac", "oidc"} {
		if a.Get(name).Is(doc.TypeObject) {
			extractSources(a.Get(name), newSlot(c, name))
		}
	}
	if config := c.Get("custom_middleware", "id_extractor"); config.Get("extractor_config").Len() == 0 {
		assign(config, doc.NewNull(), "extractor_config")
	}
	if custom := a.Get("custom"); custom.Is(doc.TypeObject) {
		s := newSlot(c, "coprocess")
		extractSources(custom, s)
		nothing := zero.Get("auth").Clone()
		assign(nothing, doc.NewBool(true), "disable_header")
		if s.Equal(nothing) { // it would only say that the header is disabled
			c.Delete("auth_configs", "coprocess")
		}
	}
	if cert := a.Get("certificateAuth"); cert.Is(doc.TypeObject) {
		assign(newSlot(c, string(SchemeToken)), read(cert.Get("enabled"), flag), "use_certificate")
	}
	var n int64 // rule lifetime
	if lifetime := a.Get("customKeyLifetime"); lifetime.Get("enabled").True() {
		n = int64(ParseDuration(lifetime.Get("value").Text()) / time.Second)
	}
	assign(c, doc.NewInt(n), "session_lifetime")
	r := requirementsOf(document, a)
	r.extract(c)
	extractSchemes(document, a, r.converted(), c)
}

// extractSchemes converts the schemes that requirements name. The definition has one place for
// each type: the last scheme of a type counts, but several API keys are merged. Each scheme is
// converted only once, because thousands of requirements may name one with thousands of
// settings.
func extractSchemes(document, a *doc.Node, requirements [][]string, c *doc.Node) {
	last := map[Scheme]string{}
	for _, names := range requirements {
		token := ""
		for _, name := range names {
			native, entry := nativeScheme(document, name), a.Get("securitySchemes", name)
			switch scheme := Recognise(native, entry); {
			case scheme == SchemeToken: // of several in one requirement, the first enabled one counts
				if token == "" || !a.Get("securitySchemes", token, "enabled").True() && entry.Get("enabled").True() {
					token = name
				}
			case scheme != SchemeOAuth || entry.Is(doc.TypeObject):
				last[scheme] = name
			}
		}
		if token != "" {
			extractToken(nativeScheme(document, token), a.Get("securitySchemes", token), token, a, c)
		}
	}
	for _, k := range converters {
		name, named := last[k.scheme]
		if !named {
			continue
		}
		entry, s := a.Get("securitySchemes", name), newSlot(c, string(k.scheme))
		k.section.extract(entry, c)
		extractSources(entry, s)
		assign(s, doc.NewString(name), "name")
		if k.scheme != SchemeOAuth {
			continue
		}
		native, out := nativeScheme(document, name), doc.NewArray()
		if entry.Get("refreshToken").True() {
			out.Append(doc.NewString(refreshGrant))
		}
		for _, t := range accessTypes {
			if native.Get("flows", t.flow).Is(doc.TypeObject) {
				out.Append(doc.NewString(t.grant))
			}
		}
		if out.Len() == 0 {
			out = doc.NewNull()
		}
		assign(c, out, "oauth_meta", "allowed_access_types")
	}
}

// nativeScheme returns the OpenAPI security scheme, with a reference resolved.
func nativeScheme(document *doc.Node, name string) *doc.Node {
	return Resolve(document, document.Get("components", "securitySchemes", name))
}

// extractToken converts an API key, whose place the native scheme states.
func extractToken(native, entry *doc.Node, name string, a, c *doc.Node) {
	s := c.Get("auth_configs", string(SchemeToken)) // of another API key, or of certificates
	if s == nil {
		s = newSlot(c, string(SchemeToken))
		assign(s, doc.NewBool(true), "disable_header")
	}
	certificate := s.Get("use_certificate").True()
	converters[0].section.extract(entry, c)
	if entry.Is(doc.TypeObject) {
		extractSources(entry, s)
	}
	if !a.Get("certificateAuth").Is(doc.TypeObject) {
		certificate = certificate || entry.Get("enableClientCertificate").True()
	}
	assign(s, doc.NewBool(certificate), "use_certificate")
	assign(s, doc.NewString(name), "name")
	location := native.Get("name")
	switch native.Get("in").Text() {
	case "header":
		assign(s, doc.NewBool(false), "disable_header")
		assign(s, read(location, text), "auth_header_name")
	case "query":
		assign(s, doc.NewBool(true), "use_param")
		assign(s, read(location, text), "param_name")
	case "cookie":
		assign(s, doc.NewBool(true), "use_cookie")
		assign(s, read(location, text), "cookie_name")
	}
}

// accessTypes are the grants for the flows of a native scheme, in the order of the rule
// refresh (docs/wire/conversion.md#rules).
var accessTypes = []struct{ flow, grant string }{
	{"authorizationCode", "authorization_code"},
	{"clientCredentials", "client_credentials"},
	{"password", "password"},
	{"implicit", "__implicit"},
}

const refreshGrant = "refresh_token"

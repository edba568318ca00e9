package oas

import (
	"slices"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// Scheme is the kind of an entry of server.authentication.securitySchemes.
type Scheme string

// The kinds of schemes. The first five have a slot of auth_configs with the name of their
// value.
const (
	SchemeToken         Scheme = "authToken"
	SchemeJWT           Scheme = "jwt"
	SchemeBasic         Scheme = "basic"
	SchemeOAuth         Scheme = "oauth"
	SchemeExternalOAuth Scheme = "externalOAuth"
	SchemeOAuth2        Scheme = "oauth2" // only in the document
	SchemeOther         Scheme = ""       // stored, not converted
)

// Recognise returns the kind of an entry of the extension. It depends on the scheme of the
// same name in components.securitySchemes (docs/wire/extension.md#security-schemes).
func Recognise(native, entry *doc.Node) Scheme {
	switch native.Get("type").Text() {
	case "apiKey":
		return SchemeToken
	case "http":
		switch scheme := native.Get("scheme").Text(); {
		case scheme == "basic":
			return SchemeBasic
		case scheme == "bearer" && native.Get("bearerFormat").Text() == "JWT":
			return SchemeJWT
		}
	case "oauth2":
		switch {
		case entry.Get("scopeCheck") != nil, entry.Get("protectedResourceMetadata") != nil, entry.Get("tokenExchange") != nil:
			return SchemeOAuth2
		case entry.Get("providers").Is(doc.TypeArray) && entry.Get("providers").Len() > 0:
			return SchemeExternalOAuth
		}
		return SchemeOAuth
	}
	return SchemeOther
}

// converter is a kind of scheme with a slot of auth_configs.
type converter struct {
	scheme           Scheme
	name, definition string // in the table and in the schema
	rows             []row
	section          *section
}

// converters are in the order in which a fill writes schemes.
var converters = []converter{
	newConverter(SchemeToken, "token", "Token", tokenRows),
	newConverter(SchemeJWT, "jwt", "JWT", jwtRows),
	newConverter(SchemeBasic, "basic", "Basic", basicRows),
	newConverter(SchemeOAuth, "oauth", "OAuth", oauthRows),
	newConverter(SchemeExternalOAuth, "externalOAuth", "ExternalOAuth", externalOAuthRows),
}

func newConverter(s Scheme, name, definition string, rows []row) converter {
	section, places := compile(rows), sources("", string(s))
	section.layout.addAll(places)
	return converter{s, name, definition, slices.Concat(rows, places), section}
}

// schemeRows returns the settings of schemes of all kinds.
func schemeRows() []row {
	all := oauth2Rows
	for _, c := range converters {
		all = slices.Concat(all, c.rows)
	}
	return all
}

// oauth2Layout describes the schemes that are only in the document.
var oauth2Layout = new(layout).addAll(oauth2Rows)

// newSlot replaces the entry with an empty one.
func newSlot(c *doc.Node, name string) *doc.Node {
	s := zero.Get("auth").Clone()
	c.Put(s, "auth_configs", name)
	return s
}

// extractSources: rules src and src-header. Sources that a block does not have stay unchanged,
// except that the header is disabled.
func extractSources(ext, slot *doc.Node) {
	assign(slot, doc.NewBool(!ext.Get("header", "enabled").True()), "disable_header")
	if header := ext.Get("header"); header.Is(doc.TypeObject) {
		assign(slot, read(header.Get("name"), text), "auth_header_name")
	}
	if cookie := ext.Get("cookie"); cookie.Is(doc.TypeObject) {
		assign(slot, read(cookie.Get("enabled"), flag), "use_cookie")
		assign(slot, read(cookie.Get("name"), text), "cookie_name")
	}
	if query := ext.Get("query"); query.Is(doc.TypeObject) {
		assign(slot, read(query.Get("enabled"), flag), "use_param")
		assign(slot, read(query.Get("name"), text), "param_name")
	}
}

// fillSources writes the sources of a slot; without a slot there are none.
func fillSources(ext, slot *doc.Node) {
	fillPlace(ext, "header", slot.Is(doc.TypeObject) && !slot.Get("disable_header").True(), slot.Get("auth_header_name"))
	fillPlace(ext, "cookie", slot.Get("use_cookie").True(), slot.Get("cookie_name"))
	fillPlace(ext, "query", slot.Get("use_param").True(), slot.Get("param_name"))
}

func fillPlace(ext *doc.Node, place string, on bool, name *doc.Node) {
	assign(ext, doc.NewBool(on), place, "enabled")
	assignOrDrop(ext, read(name, text), place, "name")
}

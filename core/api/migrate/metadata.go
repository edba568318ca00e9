package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// metadata is the block of OAuth 2.0 Protected Resource Metadata (RFC 9728). It was part of
// the authentication block, and is now part of a security scheme.
const metadata = "protectedResourceMetadata"

// upgradeMetadata copies the older block into a scheme of the newer kind, unless a scheme has
// such a block already. It returns a note about the change, or "".
func upgradeMetadata(document, classic *doc.Node) string {
	auth := document.Get(oas.ExtensionKey, "server", "authentication")
	old, schemes := auth.Get(metadata), auth.Get("securitySchemes")
	if zero(old) {
		return ""
	}
	if mcp.Managed(classic) && old.Get("enabled").True() &&
		old.Get("resource").Text() == "" && old.Get("authorizationServers").Len() == 0 {
		return "" // the proxy publishes the metadata of its upstream: a copy would have another meaning
	}
	for _, entry := range schemes.Members() {
		if entry.Get(metadata).Is(doc.TypeObject) {
			return ""
		}
	}
	natives := document.Get("components", "securitySchemes")
	name := metadataScheme(schemes, natives)
	if natives.Get(name) == nil {
		native := doc.NewObject() // its authorization server is unknown here (docs/wire/conversion.md#fill-authentication)
		native.Set("type", doc.NewString("oauth2"))
		oas.CompleteFlow(native, "authorizationCode")
		document.Put(native, "components", "securitySchemes", name)
	}
	if schemes.Get(name) == nil { // not enabled: the copy must not switch on authentication
		auth.Put(doc.NewBool(false), "securitySchemes", name, "enabled")
	}
	auth.Put(newMetadata(old), "securitySchemes", name, metadata)
	addScopes(document.Get("components", "securitySchemes", name), old.Get("scopesSupported").Texts())
	if name == oauth2 {
		return metadata + " copied to the security scheme " + oauth2
	}
	return fmt.Sprintf("%s copied to the security scheme %s, because the name %s means something else in this API", metadata, name, oauth2)
}

// oauth2 is the usual name of the scheme that gets the metadata.
const oauth2 = "oauth2"

// metadataScheme returns the name of the scheme: the usual name, unless a scheme of another
// kind has it.
func metadataScheme(schemes, natives *doc.Node) string {
	entry, native := schemes.Get(oauth2), natives.Get(oauth2)
	newer := entry == nil || slices.ContainsFunc([]string{"scopeCheck", metadata, "tokenExchange"}, func(block string) bool {
		return entry.Get(block) != nil
	})
	if newer && (native == nil || native.Get("type").Text() == "oauth2") {
		return oauth2
	}
	for i := 2; ; i++ {
		name := fmt.Sprint(oauth2, "-", i)
		if schemes.Get(name) == nil && natives.Get(name) == nil {
			return name
		}
	}
}

// newMetadata implements the table of docs/wire/start.md#what-a-start-brings-up-to-date,
// except for the scopes.
func newMetadata(old *doc.Node) *doc.Node {
	n := doc.NewObject()
	n.Set("enabled", doc.NewBool(old.Get("enabled").True()))
	for _, name := range []string{"wellKnownPath", "resource"} {
		if v := old.Get(name); v.Text() != "" {
			n.Set(name, v.Clone())
		}
	}
	if v := old.Get("authorizationServers"); v.Is(doc.TypeArray) && v.Len() > 0 {
		n.Set("authorizationServers", v.Clone())
	}
	if old.Get("scopesSupported").Len() > 0 { // so that the published list stays the same
		n.Set("autoDeriveScopes", doc.NewBool(false))
	}
	return n
}

// addScopes adds the scopes to the first flow of a scheme, unless one of its flows has them.
func addScopes(native *doc.Node, scopes []string) {
	if len(scopes) == 0 {
		return
	}
	first, known := "", map[string]bool{}
	for name, flow := range native.Get("flows").Members() {
		if strings.HasPrefix(name, "x-") || !flow.Is(doc.TypeObject) {
			continue
		}
		if first == "" {
			first = name
		}
		for scope := range flow.Get("scopes").Members() {
			known[scope] = true
		}
	}
	if first == "" {
		first = "authorizationCode"
		oas.CompleteFlow(native, first)
	}
	for _, scope := range scopes {
		if !known[scope] {
			native.Put(doc.NewString(""), "flows", first, "scopes", scope)
		}
	}
}

// zero reports whether a block is absent or has only zero values.
func zero(n *doc.Node) bool {
	switch n.Type() {
	case doc.TypeObject:
		for _, v := range n.Members() {
			if !zero(v) {
				return false
			}
		}
		return true
	case doc.TypeNumber:
		return n.Float() == 0
	}
	return n.Len() == 0 && n.Text() == "" && !n.True()
}

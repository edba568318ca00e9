// Package oas converts OpenAPI documents with the vendor extension to the classic definition
// that gateways execute, and back (docs/wire/extension.md). A table pairs the members of both
// forms; both directions use it.
package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// ExtensionKey is the member of a document that holds the vendor extension.
const ExtensionKey = "x-tyk-api-gateway"

// Options say how a document was sent.
type Options struct {
	MCP bool // through the operations for MCP proxies
}

// Extract returns the complete classic definition of a document. over is the stored classic
// form: its members without a counterpart in the extension remain; nil is an empty form.
// Extract changes neither argument and never fails: a value of the wrong type counts as absent
// (docs/wire/conversion.md#extract).
func Extract(document, over *doc.Node, o Options) *doc.Node {
	c := base(over)
	ext := document.Get(ExtensionKey)
	rootSection.extract(ext, c)
	extractUpstream(ext, c)
	extractServer(ext, c)
	extractGlobal(ext, c)
	extractAuthentication(document, ext, c)
	extractEndpoints(document, ext, c)
	assign(c, doc.NewBool(true), "is_oas")
	if !o.MCP {
		return c
	}
	// Gateways must be told that an API speaks MCP, except with the adapter of a REST API, which
	// implies it (docs/wire/mcp-proxies.md#markers).
	if _, paired := PairedSource(c.Get("proxy", "target_url").Text()); paired {
		c.Delete("application_protocol")
		c.Delete("json_rpc_version")
		return c
	}
	assign(c, doc.NewString("mcp"), "application_protocol")
	assign(c, doc.NewString("2.0"), "json_rpc_version")
	return c
}

// Fill returns a copy of a document with a classic definition written into it; a nil document
// is an empty one. Members without a counterpart, the member order, and the spelling of
// unchanged values stay (docs/wire/conversion.md#fill).
func Fill(document, classic *doc.Node) *doc.Node {
	d := document.Clone()
	if !d.Is(doc.TypeObject) {
		d = doc.NewObject()
	}
	if d.Get("openapi") == nil {
		d.Set("openapi", doc.NewString(""))
	}
	if d.Get("info") == nil {
		d.Set("info", doc.NewNull())
	}
	for _, name := range []string{"paths", "components", ExtensionKey} {
		object(d, name)
	}
	ext := d.Get(ExtensionKey)
	rootSection.fill(ext, classic)
	fillUpstream(ext, classic)
	fillServer(ext, classic)
	fillGlobal(ext, classic)
	fillAuthentication(d, ext, classic)
	fillEndpoints(d, ext, classic)
	blocks := hold(ext.Get("server", "authentication"), classic.Get("auth_configs"))
	nothing := rootSection.layout.compact(ext)
	// Held blocks are restored if their parent block still exists.
	a := ext.Get("server", "authentication")
	for _, h := range blocks {
		around := a.Get(h.path[:len(h.path)-1]...)
		if around.Is(doc.TypeObject) && a.Get(h.path...) == nil {
			l := rootSection.layout.members["server"].members["authentication"]
			for _, name := range h.path {
				l = l.members[name]
			}
			l.tidy(h.block)
			a.Put(h.block, h.path...)
		}
	}
	if nothing {
		d.Delete(ExtensionKey)
		if docs := d.Get("externalDocs"); docs.Is(doc.TypeObject, doc.TypeNull) && docs.Len() == 0 {
			d.Delete("externalDocs")
		}
	}
	return d
}

// Conform makes the result of Fill valid without changing its meaning: gateways write some
// members in forms that the schema does not allow.
func Conform(document *doc.Node) {
	ext := document.Get(ExtensionKey)
	// Members that Fill writes as null although the schema forbids it are removed, for example a
	// missing list of certificates. Members that the table does not know stay unchanged, except
	// in security schemes.
	rootSection.layout.dropNulls(ext)
	auth := ext.Get("server", "authentication")
	if auth.Get("securitySchemes") != nil {
		auth.Set("securitySchemes", auth.Get("securitySchemes").Without((*doc.Node).IsNull))
	}
	for _, settings := range ext.Get("middleware", "operations").Members() {
		operationLayout.dropNulls(settings)
		if r := settings.Get("urlRewrite"); r.Is(doc.TypeObject) {
			addEmpty(r, "pattern", "rewriteTo")
		}
	}
	for _, h := range ext.Get("server", "eventHandlers").Items() {
		if h.Get("type").Text() == "webhook" && h.Get("id").Text() == "" {
			addEmpty(h, "bodyTemplate")
		}
	}
	// A lifetime that is not on must say so, because its setting for the expiry of keys applies
	// to keys with a lifetime of their own.
	if lifetime := auth.Get("customKeyLifetime"); lifetime.Is(doc.TypeObject) && !lifetime.Get("enabled").True() {
		lifetime.Set("enabled", doc.NewBool(false))
		if ParseDuration(lifetime.Get("value").Text()) == 0 {
			lifetime.Delete("value")
		}
	}
}

// addEmpty adds required texts that Fill leaves out when they are empty.
func addEmpty(n *doc.Node, names ...string) {
	for _, name := range names {
		if n.Get(name) == nil {
			n.Set(name, doc.NewString(""))
		}
	}
}

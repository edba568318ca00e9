// Package oas converts OpenAPI documents with the vendor extension to the classic
// definition that gateways execute, and back (docs/wire/extension.md). A table
// states member by member what belongs together; both directions follow it.
package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// ExtensionKey is the member of a document that holds the vendor extension.
const ExtensionKey = "x-tyk-api-gateway"

// Options say how a document came.
type Options struct {
	MCP bool // through the operations for MCP proxies
}

// Extract returns the complete classic definition of a document. over is the
// stored classic form, whose members that have no twin in the extension remain;
// nil is an empty one. Neither argument is changed. Extraction never fails: a
// value of the wrong type counts as absent (docs/wire/conversion.md#extract).
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
	// Gateways must be told that an API speaks MCP; the adapter of a REST API brings that along
	// itself (docs/wire/mcp-proxies.md#markers).
	if _, paired := PairedSource(c.Get("proxy", "target_url").Text()); paired {
		c.Delete("application_protocol")
		c.Delete("json_rpc_version")
		return c
	}
	assign(c, doc.NewString("mcp"), "application_protocol")
	assign(c, doc.NewString("2.0"), "json_rpc_version")
	return c
}

// Fill returns a copy of a document into which a classic definition is written;
// nil is an empty document. Members without a twin, member order and the spelling
// of what does not change survive (docs/wire/conversion.md#fill).
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
	// Held blocks come back where the block around them is still there.
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

// Conform makes what Fill wrote valid, without another effect: gateways write some members in
// ways that the schema does not allow.
func Conform(document *doc.Node) {
	ext := document.Get(ExtensionKey)
	// What Fill writes as null though no document may have it so goes: a list of certificates that
	// a definition does not have, say. Members that the table does not know stay as they are, except
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
	// A lifetime that is not on says so: what it says about the expiry of keys counts
	// for keys with a lifetime of their own.
	if lifetime := auth.Get("customKeyLifetime"); lifetime.Is(doc.TypeObject) && !lifetime.Get("enabled").True() {
		lifetime.Set("enabled", doc.NewBool(false))
		if ParseDuration(lifetime.Get("value").Text()) == 0 {
			lifetime.Delete("value")
		}
	}
}

// addEmpty adds texts that Fill leaves out when they are empty, and that the schema requires.
func addEmpty(n *doc.Node, names ...string) {
	for _, name := range names {
		if n.Get(name) == nil {
			n.Set(name, doc.NewString(""))
		}
	}
}

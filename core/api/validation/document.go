package validation

import (
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

const gatewayExtension = oas.ExtensionKey

const authentication = gatewayExtension + ".server.authentication"

// Document checks relations between the parts of an OAS document that its schema cannot
// express (docs/wire/conversion.md#validation). The rules of OpenAPI itself are checked
// elsewhere.
func Document(d *doc.Node, mcp bool) []Problem {
	var p problems
	for _, place := range oas.Broken(d.Get(gatewayExtension)) {
		p.add(place, "must be a whole number of 64 bits")
	}
	// Texts that become part of addresses must be short before addresses are made. The other
	// lengths are checked in the classic form.
	server := d.Get(gatewayExtension, "server")
	p.short(gatewayExtension+".server.customDomain.name", server.Get("customDomain", "name").Text())
	p.short(gatewayExtension+".server.listenPath.value", server.Get("listenPath", "value").Text())
	p.endpoints(d)
	p.endless(d)
	// Gateways refuse script and log handlers without a name. The schema takes such a handler
	// with an ID and a pause for a webhook.
	for i, h := range server.Get("eventHandlers").Items() {
		if kind := h.Get("type").Text(); (kind == "custom" || kind == "log") && !h.Get("name").Is(doc.TypeString) {
			p.add(at(gatewayExtension+".server.eventHandlers", i, "name"), "is needed for an event handler of type %s", kind)
		}
	}
	// The schema of operations has this rule, that of whole APIs lacks it.
	for _, path := range [][]string{{"cache", "timeout"}, {"requestSizeLimit", "value"}} {
		if v := d.Get(gatewayExtension, "middleware", "global").Get(path...); v.Float() < 0 {
			p.add(at(gatewayExtension+".middleware.global", path[0], path[1]), "must not be negative")
		}
	}
	schemes := d.Get("components", "securitySchemes")
	for i, requirement := range d.Get("security").Items() {
		for name := range requirement.Members() {
			if schemes.Get(name) == nil {
				p.add(at("security", i, name), "names no scheme in components.securitySchemes")
			}
		}
	}
	auth := server.Get("authentication")
	p.compliant(d, auth)
	p.metadata(authentication+".protectedResourceMetadata", auth.Get("protectedResourceMetadata"), mcp, false)
	p.toolView(d, mcp)
	open := unaddressed(d)
	for name, entry := range auth.Get("securitySchemes").Members() {
		if native := d.Get("components", "securitySchemes", name); oas.Recognise(oas.Resolve(d, native), entry) == oas.SchemeOAuth2 {
			field := at(authentication, "securitySchemes", name)
			p.metadata(field+".protectedResourceMetadata", entry.Get("protectedResourceMetadata"), mcp, true)
			p.oauth2(field, entry, open)
		}
	}
	return p
}

// maxEndpoints is the maximum size in bytes, in the classic form, of the paths of all
// endpoints and of settings that several of them share.
const maxEndpoints = 64 << 20

// endpoints requires short paths, and short settings where paths share an item by reference.
// The classic form repeats a path with every setting of each of its operations, and the
// settings with every path, so a document of megabytes would become gigabytes.
func (p *problems) endpoints(d *doc.Node) {
	settings, size, uses := d.Get(gatewayExtension, "middleware", "operations"), 0, map[string]int{}
	for path, item := range d.Get("paths").Members() {
		p.short(at("paths", path), path)
		item = oas.Resolve(d, item)
		for _, method := range methods {
			if id := item.Get(method, "operationId").Text(); id != "" {
				size += len(path) * settings.Get(id).Len()
				uses[id]++
			}
		}
	}
	for id, n := range uses {
		if n > 1 && size <= maxEndpoints { // an unshared item is not larger than the document
			size += n * oas.EndpointWeight(settings.Get(id), maxEndpoints)
		}
	}
	if size > maxEndpoints {
		p.add("paths", "are too long: with the settings of their operations they would take more than %d MiB", maxEndpoints>>20)
	}
}

// compliant requires, in compliant mode, that every method that is on is part of a
// requirement: gateways ignore the others.
func (p *problems) compliant(d, auth *doc.Node) {
	if auth.Get("securityProcessingMode").Text() != "compliant" {
		return
	}
	named := map[string]bool{}
	for _, requirement := range d.Get("security").Items() {
		for name := range requirement.Members() {
			named[name] = true
		}
	}
	for _, requirement := range auth.Get("security").Items() {
		for _, name := range requirement.Texts() {
			named[name] = true
		}
	}
	check := func(field, name string, entry *doc.Node) {
		if entry.Get("enabled").True() && !named[name] {
			p.add(field, "is enabled but no security requirement names it")
		}
	}
	for _, name := range []string{"hmac", "oidc", "custom"} {
		check(at(authentication, name), name, auth.Get(name))
	}
	for name, entry := range auth.Get("securitySchemes").Members() {
		check(at(authentication, "securitySchemes", name), name, entry)
	}
}

// metadata checks protected resource metadata. An MCP proxy without resource and servers
// mirrors the metadata of its upstream. Its OAuth 2.0 scheme may have only servers, as
// existing deployments do, and gateways serve what is present.
func (p *problems) metadata(field string, m *doc.Node, mcp, scheme bool) {
	if !m.Get("enabled").True() {
		return
	}
	resource, servers := m.Get("resource").Text() != "", m.Get("authorizationServers").Len() > 0
	switch {
	case mcp && !resource && (scheme || !servers):
	case !resource:
		p.add(field+".resource", "is needed when the metadata is enabled")
	case mcp && !servers:
		p.add(field+".authorizationServers", "needs at least one server on an MCP proxy that names a resource")
	}
}

// toolView allows the tool view of a REST API only in an MCP proxy that is paired with one.
func (p *problems) toolView(d *doc.Node, mcp bool) {
	const field = "x-tyk-mcp-server"
	_, paired := oas.PairedSource(d.Get(gatewayExtension, "upstream", "url").Text())
	switch {
	case d.Get(field) == nil:
	case !mcp:
		p.add(field, "belongs to MCP proxies only")
	case !paired:
		p.add(field, "needs an upstream that is the MCP adapter of a REST API")
	}
}

package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

// ExtensionType returns the type of the vendor extension, which follows from the
// table. Gateways decode it apart from the feed, so that a wrong value costs what it
// says and not the feed; but what it says may be who is let in.
func ExtensionType() shape.Type { return extensionType }

var extensionType = typeOf(slices.Concat(
	infoRows, upstreamRows, uptimeDiscoveryRows(), serverRows, authenticationRows, globalRows, errorRows, pluginRows(),
	sources("server.authentication.hmac.", "hmac"), sources("server.authentication.oidc.", "oidc"), sources("server.authentication.custom.", "coprocess"),
	under("server.eventHandlers[].", webhookRows, scriptRows, logRows),
	under("server.authentication.securitySchemes.*.", tokenRows, jwtRows, basicRows, oauthRows, externalOAuthRows, oauth2Rows, sources("", "")),
	under("middleware.operations.*.", operationRows, responseRows()),
	under("middleware.mcpTools.*.", primitiveRows()), under("middleware.mcpResources.*.", primitiveRows()), under("middleware.mcpPrompts.*.", primitiveRows()),
	keptRows,
))

// primitiveRows are the settings of tools, resources and prompts of MCP proxies.
func primitiveRows() []row {
	return append(without(slices.Concat(operationRows, responseRows()),
		"internal.", "transformRequestMethod.", "transformResponseBody.", "urlRewrite.", "cache.", "validateRequest.", "mockResponse."),
		row{"security[].*", "", docOnly, texts, may})
}

// keptRows are members that documents may have and nothing here reads.
var keptRows = slices.Concat(
	[]row{{"server.slug", "", docOnly, text, may}, {"server.contextVariables.enabled", "", docOnly, flag, may}},
	identified("middleware.global.trafficLogs.plugins[]."),
	identified("middleware.global.prePlugins[]."), identified("middleware.global.prePlugin.plugins[]."),
	identified("middleware.global.postAuthenticationPlugins[]."), identified("middleware.global.postAuthenticationPlugin.plugins[]."),
	identified("middleware.global.postPlugins[]."), identified("middleware.global.postPlugin.plugins[]."),
	identified("middleware.global.responsePlugins[]."), identified("middleware.global.responsePlugin.plugins[]."),
)

// identified are the members of a plugin that comes from a library.
func identified(plugin string) []row {
	return []row{{plugin + "pluginId", "", docOnly, text, may}, {plugin + "pluginHash", "", docOnly, text, may}}
}

// under returns rows with a path in front of theirs.
func under(path string, rows ...[]row) []row {
	return moved(slices.Concat(rows...), [2]string{"", path}, [2]string{})
}

// branch is a place in the extension, on the way from rows to a type.
type branch struct {
	names   []string
	members map[string]*branch
	item    *branch // of a list
	value   *branch // of an object with free names
	leaf    shape.Type
}

func typeOf(rows []row) shape.Type {
	root := &branch{}
	for _, r := range rows {
		at := root
		for name := range strings.SplitSeq(strings.ReplaceAll(r.ext, "[]", ".[]"), ".") {
			at = at.below(name)
		}
		at.leaf = r.shape()
	}
	return root.typed()
}

func (b *branch) below(name string) *branch {
	switch name {
	case "[]":
		return made(&b.item)
	case "*":
		return made(&b.value)
	}
	if b.members == nil {
		b.members = map[string]*branch{}
	}
	next := b.members[name]
	if next == nil {
		b.names = append(b.names, name)
	}
	b.members[name] = made(&next)
	return next
}

func made(b **branch) *branch {
	if *b == nil {
		*b = &branch{}
	}
	return *b
}

func (b *branch) typed() shape.Type {
	switch {
	case b.item != nil:
		return shape.List(b.item.typed())
	case b.value != nil:
		return shape.Map(b.value.typed())
	case b.members == nil:
		return b.leaf
	}
	groups := make([]shape.Group, 0, len(b.names))
	for _, name := range b.names {
		groups = append(groups, shape.Members(name, b.members[name].typed()))
	}
	return shape.Object(groups...)
}

// shape returns the type of a member. Whether a number is whole matters to the one
// member only, and schemas have an opinion on it: any number passes here.
func (r row) shape() shape.Type {
	switch r.kind {
	case flag:
		return shape.Bool
	case whole, natural, number:
		return shape.Float
	case texts:
		return shape.List(shape.String)
	case wholes:
		return shape.List(shape.Float)
	case list:
		if r.rule == security {
			return shape.List(shape.List(shape.String))
		}
		return shape.List(shape.Any) // the values that a claim may have
	case textMap:
		return shape.Map(shape.String)
	case anyMap:
		return shape.Map(shape.Any) // data of plugins
	}
	return shape.String
}

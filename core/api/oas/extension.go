package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/shape"
)

// ExtensionType returns the type of the vendor extension, derived from the table. Gateways
// decode the extension separately from the feed, so a wrong value does not break the feed. But
// it can lose settings, including those for authentication.
func ExtensionType() shape.Type { return extensionType }

var extensionType = extensionTree.decoded()

var extensionTree = tree(slices.Concat(rootRows, keptRows,
	under("server.eventHandlers[].", handlerRows),
	under("server.authentication.securitySchemes.*.", schemeRows()),
	under("middleware.operations.*.", operationRows, responseRows),
	under("middleware.mcpTools.*.", primitiveRows), under("middleware.mcpResources.*.", primitiveRows), under("middleware.mcpPrompts.*.", primitiveRows),
))

// rootRows are the members with the same place in every extension.
var rootRows = slices.Concat(infoRows, upstreamRows, uptimeDiscoveryRows, serverRows, authenticationRows, globalRows, errorRows, pluginRows(), documentRows,
	sources("server.authentication.hmac.", "hmac"), sources("server.authentication.oidc.", "oidc"), sources("server.authentication.custom.", "coprocess"))

// primitiveRows are the settings of tools, resources and prompts of MCP proxies.
var primitiveRows = append(without(slices.Concat(operationRows, responseRows),
	"internal", "transformRequestMethod", "transformResponseBody", "urlRewrite", "cache", "validateRequest", "mockResponse"),
	row{"security", "", docOnly, "[{[string]}]", may})

// keptRows are members that documents may have and that this package does not read.
var keptRows = slices.Concat(
	[]row{
		{"server.slug", "", docOnly, "string", may},
		{"server.contextVariables", "", block, "Switch", may},
		{"server.contextVariables.enabled", "", docOnly, "bool!", may},
	},
	identified("middleware.global.trafficLogs.plugins[]."),
	identified("middleware.global.prePlugins[]."), identified("middleware.global.prePlugin.plugins[]."),
	identified("middleware.global.postAuthenticationPlugins[]."), identified("middleware.global.postAuthenticationPlugin.plugins[]."),
	identified("middleware.global.postPlugins[]."), identified("middleware.global.postPlugin.plugins[]."),
	identified("middleware.global.responsePlugins[]."), identified("middleware.global.responsePlugin.plugins[]."),
)

// identified are the members of a plugin from a library.
func identified(plugin string) []row {
	return []row{{plugin + "pluginId", "", docOnly, "string", may}, {plugin + "pluginHash", "", docOnly, "string", may}}
}

// under returns rows with a prefix before their paths.
func under(path string, rows ...[]row) []row {
	return moved(slices.Concat(rows...), [2]string{"", path}, [2]string{})
}

// branch is a node of the extension's tree, an intermediate form between rows and types.
type branch struct {
	names   []string
	members map[string]*branch
	item    *branch // of a list
	value   *branch // of an object with free names
	typ     typ
}

// tree builds the tree of rows.
func tree(rows []row) *branch {
	root := &branch{}
	for _, r := range rows {
		at := root
		for name := range strings.SplitSeq(strings.ReplaceAll(r.ext, "[]", ".[]"), ".") {
			switch name {
			case "[]":
				at = made(&at.item)
			case "*":
				at = made(&at.value)
			default:
				if at.members == nil {
					at.members = map[string]*branch{}
				}
				if at.members[name] == nil {
					at.members[name], at.names = &branch{}, append(at.names, name)
				}
				at = at.members[name]
			}
		}
		at.typ = r.typ
	}
	return root
}

func made(b **branch) *branch {
	if *b == nil {
		*b = &branch{}
	}
	return *b
}

// decoded returns the type that gateways decode.
func (b *branch) decoded() shape.Type {
	switch {
	case b.item != nil:
		return shape.List(b.item.decoded())
	case b.value != nil:
		return shape.Map(b.value.decoded())
	case b.members == nil:
		return b.typ.gateway()
	}
	groups := make([]shape.Group, 0, len(b.names))
	for _, name := range b.names {
		groups = append(groups, shape.Members(name, b.members[name].decoded()))
	}
	return shape.Object(groups...)
}

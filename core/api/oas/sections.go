package oas

import (
	"slices"
	"strings"
)

// rootSection is the common members of the whole extension and the definition.
var rootSection = compileRoot()

func compileRoot() *section {
	s := compile(infoRows, upstreamRows, uptimeDiscoveryRows, serverRows, without(authenticationRows, conditional...), globalRows, errorRows)
	s.layout.addAll(authenticationRows, pluginRows(), sources("server.authentication.hmac.", "hmac"),
		sources("server.authentication.oidc.", "oidc"), sources("server.authentication.custom.", "coprocess"), documentRows)
	return s
}

// conditional are the blocks that a fill does not change without an entry in auth_configs
// (docs/wire/conversion.md#fill-authentication).
var conditional = []string{"server.authentication.hmac", "server.authentication.oidc"}

var (
	hmacSection = compile(below(authenticationRows, conditional[0]))
	oidcSection = compile(below(authenticationRows, conditional[1]))
)

// documentRows are maps without rows for their contents.
var documentRows = []row{
	{"middleware.operations", "", block, "Operations", may},
	{"middleware.mcpTools", "", block, "MCPPrimitives", may},
	{"middleware.mcpResources", "", block, "MCPPrimitives", may},
	{"middleware.mcpPrompts", "", block, "MCPPrimitives", may},
}

// below returns the rows below a path, with relative paths.
func below(rows []row, path string) []row {
	var out []row
	for _, r := range rows {
		if rest, ok := strings.CutPrefix(r.ext, path+"."); ok {
			r.ext = rest
			out = append(out, r)
		}
	}
	return out
}

// without returns the rows except those at or below some paths.
func without(rows []row, paths ...string) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(r.ext+".", p+".") })
	})
}

// moved returns rows with other prefixes of their paths.
func moved(rows []row, ext, classic [2]string) []row {
	var out []row
	for _, r := range rows {
		rest, ok := strings.CutPrefix(r.ext, ext[0])
		if !ok {
			continue
		}
		r.ext = ext[1] + rest
		if rest, ok := strings.CutPrefix(r.classic, classic[0]); ok {
			r.classic = classic[1] + rest
		}
		out = append(out, r)
	}
	return out
}

// uptimeDiscoveryRows: uptime tests have a copy of the upstream's service discovery.
var uptimeDiscoveryRows = moved(upstreamRows,
	[2]string{"upstream.serviceDiscovery", "upstream.uptimeTests.serviceDiscovery"},
	[2]string{"proxy.service_discovery.", "uptime_tests.config.service_discovery."})

// responseRows: transforms of responses have the same rows as those of requests.
var responseRows = slices.Concat(
	moved(operationRows, [2]string{"transformRequestBody", "transformResponseBody"}, [2]string{"transform[]", "transform_response[]"}),
	moved(operationRows, [2]string{"transformRequestHeaders", "transformResponseHeaders"}, [2]string{"transform_headers[]", "transform_response_headers[]"}),
)

// pluginEntry are the members of one plugin.
var pluginEntry = []row{
	{"", "", block, "[CustomPlugin]+", may},
	{"[].enabled", "[].disabled", not, "bool!", must},
	{"[].functionName", "[].name", same, "string!", must},
	{"[].path", "[].path", same, "string", must},
	{"[].code", "[].code?", same, "string", may},
	{"[].rawBodyOnly", "[].raw_body_only", same, "bool", may},
	{"[].requireSession", "[].require_session", same, "bool", may},
}

// pluginList converts the four plugin lists, which are in different places.
var pluginList = &sequence{item: compile(below(moved(pluginEntry, [2]string{}, [2]string{"[].", ""}), "[]"))}

// pluginRows returns the plugin lists in their current and in their older form.
func pluginRows() []row {
	var out []row
	for _, p := range oldPlugins {
		to := [2]string{"", "custom_middleware." + p.classic}
		out = append(out, moved(pluginEntry, [2]string{"", "middleware.global." + p.list}, to)...)
		out = append(out, row{"middleware.global." + p.wrapped, "", block, "CustomPluginConfig", may})
		out = append(out, moved(pluginEntry, [2]string{"", "middleware.global." + p.wrapped + ".plugins"}, to)...)
	}
	return out
}

// sources returns the places where a client may send its credential: they are the same for
// each kind of authentication (docs/wire/extension-fields.md#serverauthentication).
func sources(ext, slot string) []row {
	classic := "auth_configs." + slot + "."
	return []row{
		{ext + "header", "", block, "AuthSource", may},
		{ext + "header.enabled", classic + "disable_header", srcHead, "bool!", must},
		{ext + "header.name", classic + "auth_header_name", src, "string", may},
		{ext + "cookie", "", block, "AuthSource", may},
		{ext + "cookie.enabled", classic + "use_cookie", src, "bool!", must},
		{ext + "cookie.name", classic + "cookie_name", src, "string", may},
		{ext + "query", "", block, "AuthSource", may},
		{ext + "query.enabled", classic + "use_param", src, "bool!", must},
		{ext + "query.name", classic + "param_name", src, "string", may},
	}
}

// itemHooks are conversions of list items that rows alone cannot express.
var itemHooks = map[string]hook{
	"upstream.uptimeTests.tests": uptimeTest,
	"triggers":                   rewriteTrigger,
	"errorOverrides.value.*":     errorOverride,
}

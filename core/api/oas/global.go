package oas

import (
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// oldPlugins are the older, wrapped forms of the plugin lists.
var oldPlugins = []struct{ wrapped, list, classic string }{
	{"prePlugin", "prePlugins", "pre"},
	{"postAuthenticationPlugin", "postAuthenticationPlugins", "post_key_auth"},
	{"postPlugin", "postPlugins", "post"},
	{"responsePlugin", "responsePlugins", "response"},
}

func extractGlobal(ext, c *doc.Node) {
	global := ext.Get("middleware", "global")
	for _, p := range oldPlugins {
		plugins := global.Get(p.list)
		if !plugins.Is(doc.TypeArray) {
			plugins = global.Get(p.wrapped, "plugins")
		}
		assign(c, pluginList.toClassic(plugins), "custom_middleware", p.classic)
	}
	// Rule analytics. Without entries, the classic members stay.
	if items := global.Get("trafficLogs", "plugins").Items(); len(items) > 0 {
		first := items[0]
		assignOrDrop(c, doc.NewBool(first.Get("enabled").True()), "analytics_plugin", "enable")
		assignOrDrop(c, doc.NewString(first.Get("functionName").Text()), "analytics_plugin", "func_name")
		assignOrDrop(c, doc.NewString(first.Get("path").Text()), "analytics_plugin", "plugin_path")
	}
	// Rule size.
	limit, version := global.Get("requestSizeLimit"), mainVersion(c)
	value := readWhole(limit.Get("value"))
	assign(version, value, "global_size_limit")
	assign(version, doc.NewBool(value.Int() == 0 || !limit.Get("enabled").True()), "global_size_limit_disabled")
	if !ext.Get("errorOverrides").Is(doc.TypeObject) {
		assign(c, doc.NewNull(), "error_overrides")
	}
}

func fillGlobal(ext, c *doc.Node) {
	global := ext.Get("middleware", "global")
	for _, p := range oldPlugins {
		old := global.Get(p.list)
		if !old.Is(doc.TypeArray) {
			old = global.Get(p.wrapped, "plugins")
		}
		plugins := pluginList.toExtension(old, c.Get("custom_middleware", p.classic))
		global.Delete(p.wrapped)
		if plugins.Len() == 0 {
			global.Delete(p.list)
			continue
		}
		assign(global, plugins, p.list)
	}
	if tracked := c.Get("analytics_plugin"); tracked.Get("enable").True() {
		logs, plugin := global.Get("trafficLogs"), doc.NewObject()
		if old := logs.Get("plugins").Items(); len(old) > 0 && old[0].Is(doc.TypeObject) {
			plugin = old[0].Clone()
		}
		assign(plugin, doc.NewBool(true), "enabled")
		assign(plugin, doc.NewString(tracked.Get("func_name").Text()), "functionName")
		assign(plugin, doc.NewString(tracked.Get("plugin_path").Text()), "path")
		for _, name := range []string{"code", "rawBodyOnly", "requireSession"} {
			plugin.Delete(name)
		}
		assign(logs, doc.NewArray(plugin), "plugins")
	}
	version := mainVersion(c)
	limit := readWhole(version.Get("global_size_limit"))
	if limit.Int() == 0 {
		global.Delete("requestSizeLimit")
		return
	}
	assign(global, doc.NewBool(!version.Get("global_size_limit_disabled").True()), "requestSizeLimit", "enabled")
	assign(global, limit, "requestSizeLimit", "value")
}

// errorOverride: match may be present and empty.
var errorOverride = hook{
	extract: func(ext, c *doc.Node) {
		if ext.Get("match").Is(doc.TypeObject) {
			object(c, "match")
		}
	},
	fill: func(ext, c *doc.Node) {
		if c.Get("match").Is(doc.TypeObject) {
			object(ext, "match")
			return
		}
		ext.Delete("match")
	},
}

// mainVersion returns the version that a document describes.
func mainVersion(c *doc.Node) *doc.Node { return c.Get("version_data", "versions", "") }

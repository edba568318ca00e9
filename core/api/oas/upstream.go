package oas

import (
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// discoveries are the places with service discovery, in the extension and in the classic form.
var discoveries = []struct{ ext, classic []string }{
	{[]string{"upstream", "serviceDiscovery"}, []string{"proxy", "service_discovery"}},
	{[]string{"upstream", "uptimeTests", "serviceDiscovery"}, []string{"uptime_tests", "config", "service_discovery"}},
}

// extractUpstream: rules sd-cache, uptime-enabled and lb.
func extractUpstream(ext, c *doc.Node) {
	for _, d := range discoveries {
		found, classic := ext.Get(d.ext...), c.Get(d.classic...)
		wait := readWhole(found.Get("cacheTimeout"))
		on := wait.Int() > 0
		if cache := found.Get("cache"); cache.Is(doc.TypeObject) {
			wait, on = readWhole(cache.Get("timeout")), cache.Get("enabled").True()
		}
		assign(classic, wait, "cache_timeout")
		assign(classic, doc.NewBool(!on || !found.Get("enabled").True()), "cache_disabled")
	}
	assign(c, doc.NewBool(!ext.Get("upstream", "uptimeTests", "enabled").True()), "uptime_tests", "disabled")
	// Rule lb.
	balancing, proxy := ext.Get("upstream", "loadBalancing"), c.Get("proxy")
	targets := balancing.Get("targets").Items()
	if len(targets) == 0 {
		assign(proxy, doc.NewBool(false), "enable_load_balancing")
		assign(proxy, doc.NewBool(false), "check_host_against_uptime_tests")
		assign(proxy, doc.NewNull(), "target_list")
		return
	}
	weights, sum, text := make([]float64, len(targets)), 0.0, 0.0
	for i, t := range targets {
		weights[i] = max(0, float64(readWhole(t.Get("weight")).Int()))
		sum += weights[i]
		text += weights[i] * float64(len(t.Get("url").Text()))
	}
	out := doc.NewArray()
	for i, w := range weights {
		if most := min(maxTargets, maxTargetText/text*sum); sum > most && w > 0 {
			w = max(1, w*most/sum)
		}
		for range int(w) {
			out.Append(doc.NewString(targets[i].Get("url").Text()))
		}
	}
	assign(proxy, doc.NewBool(balancing.Get("enabled").True()), "enable_load_balancing")
	assign(proxy, doc.NewBool(balancing.Get("skipUnavailableHosts").True()), "check_host_against_uptime_tests")
	assign(proxy, out, "target_list")
}

func fillUpstream(ext, c *doc.Node) {
	for _, d := range discoveries {
		found, classic := ext.Get(d.ext...), c.Get(d.classic...)
		found.Delete("cacheTimeout")
		if !classic.Get("use_discovery_service").True() || classic.Get("cache_disabled").True() {
			found.Delete("cache")
			continue
		}
		assign(found, doc.NewBool(true), "cache", "enabled")
		assignOrDrop(found, readWhole(classic.Get("cache_timeout")), "cache", "timeout")
	}
	tests := c.Get("uptime_tests", "check_list")
	on := tests.Is(doc.TypeArray) && tests.Len() > 0 && !c.Get("uptime_tests", "disabled").True()
	assign(ext, doc.NewBool(on), "upstream", "uptimeTests", "enabled")
	fillBalancing(ext, c.Get("proxy"))
}

// Limits of the list into which weights are expanded, in entries and bytes. Larger weights are
// reduced in proportion.
const (
	maxTargets    = 10_000
	maxTargetText = 4 << 20
)

func fillBalancing(ext, proxy *doc.Node) {
	active := proxy.Get("target_list").Texts()
	if len(active) == 0 {
		return
	}
	assign(ext, doc.NewBool(proxy.Get("enable_load_balancing").True()), "upstream", "loadBalancing", "enabled")
	block := ext.Get("upstream", "loadBalancing")
	assignOrDrop(block, doc.NewBool(proxy.Get("check_host_against_uptime_tests").True()), "skipUnavailableHosts")

	weights, known := map[string]int64{}, map[string]*doc.Node{}
	for _, url := range active {
		weights[url]++
	}
	for _, t := range block.Get("targets").Items() {
		url := t.Get("url").Text()
		if _, used := weights[url]; !used && t.Is(doc.TypeObject) && readWhole(t.Get("weight")).Int() == 0 {
			weights[url] = 0
		}
		known[url] = t
	}
	urls := make([]string, 0, len(weights))
	for url := range weights {
		urls = append(urls, url)
	}
	slices.Sort(urls)
	targets := doc.NewArray()
	for _, url := range urls {
		t := known[url].Clone()
		if !t.Is(doc.TypeObject) {
			t = doc.NewObject()
		}
		assign(t, doc.NewString(url), "url")
		assign(t, doc.NewInt(weights[url]), "weight")
		targets.Append(t)
	}
	assign(block, targets, "targets")
}

// uptimeTest: rule url-scheme.
var uptimeTest = hook{
	extract: func(ext, c *doc.Node) {
		url := ext.Get("url").Text()
		scheme, _, found := strings.Cut(url, "://")
		if !found {
			scheme = ""
		}
		c.Set("url", doc.NewString(url))
		c.Set("protocol", doc.NewString(scheme))
	},
	fill: func(ext, c *doc.Node) {
		url := c.Get("url").Text()
		if scheme := c.Get("protocol").Text(); scheme != "" {
			_, rest, found := strings.Cut(url, "://")
			if !found {
				rest = url
			}
			url = scheme + "://" + rest
		}
		assign(ext, doc.NewString(url), "url")
	},
}

// PairedSource reports whether a target URL is the MCP adapter of a REST API, and returns the
// ID of this API (docs/wire/mcp-proxies.md#pairing).
func PairedSource(target string) (id string, paired bool) {
	rest, ok := strings.CutPrefix(target, "tyk://")
	if !ok {
		return "", false
	}
	rest, _, _ = strings.Cut(strings.TrimPrefix(rest, "id:"), "?")
	host, path, _ := strings.Cut(rest, "/")
	if id, ok = strings.CutSuffix(host, "__mcp-server"); ok && id != "" && path == "" {
		return id, true
	}
	if path == "mcp" || path == "mcp/" {
		id = strings.TrimSuffix(host, "__mcp-server")
		return id, id != ""
	}
	return "", false
}

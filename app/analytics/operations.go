package analytics

import (
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// dates is the end of the paths of all views.
const dates = "/{startDay}/{startMonth}/{startYear}/{EndDay}/{EndMonth}/{EndYear}"

var exampleUnit = view.Unit{
	ID:   view.UnitID{Day: 31, Month: 1, Year: 2026, APIID: "orders", APIName: "Orders", Queries: map[string]int{}},
	Hits: 120, Success: 115, Error: 5, LastHit: "2026-01-31T23:58:02Z", RequestTime: 25.5,
	Latency: 25.5, MaxLatency: 180, MinLatency: 4, UpstreamLatency: 21.25, MaxUpstream: 170, MinUpstream: 2,
}

var exampleAnswer = map[string]any{"data": []view.Unit{exampleUnit}, "pages": 1}

// groupOf returns the common properties of the operations below a path.
func groupOf(name, path string, permission access.Permission, failure string) operation.Group {
	return operation.Group{
		Surface: operation.Management, Name: name, Path: path, Tag: "Analytics", Permission: permission,
		Style: operation.Style{Word: "OK", Faults: map[string]operation.Answer{"internal": {Text: failure}}},
	}
}

// codeNoMCP is the code of the fault for callers who may not read MCP proxies.
const codeNoMCP = operation.CodeNeeds + string(access.MCP)

const failed = "Failed to fetch analytics."

// Operations lists the views.
func (s *Service) Operations() []operation.Operation {
	faults := []string{view.CodePeriod, view.CodeFilter, view.CodeMany, CodeForeign}
	example, faulting := operation.Example(nil, exampleAnswer), operation.Faulting(faults...)
	keyed := operation.Faulting(append(faults, CodeKey)...)
	proxies := operation.Needs(access.MCP, access.Read)
	proxied := operation.Faulting(append(faults, codeNoMCP)...)
	// Where gateways do not hash keys, they report the keys themselves.
	unseen := operation.Unseen("keyHash", "keyHashes", "keyId")
	few := operation.Notes("Counters answer most filters. Other combinations of filters are answered from the records of single calls, for a period of 31 days at most.")
	usage := groupOf("usage", "/api/usage", access.Analytics, failed).Rows(
		operation.GET("totals", dates, "Count the traffic over time", s.Totals, example, faulting, few),
		operation.GET("apis", "/apis"+dates, "Count the traffic of each API", s.PerAPI, example, faulting, few),
		operation.GET("api", "/apis/{apiID}"+dates, "Count the traffic of an API over time", s.OfAPI, example, faulting, few),
		operation.GET("mcp", "/mcp"+dates, "Count the traffic of each MCP proxy", s.PerProxy, example, proxied, proxies),
	)
	tracked := operation.Notes("Only tracked endpoints are counted, unless analytics.track_all_paths is on.")
	activity := groupOf("activity", "/api/activity", access.Analytics, failed).Rows(
		operation.GET("key", "/keys/{keyHash}"+dates, "Count the traffic of a key by endpoint", s.OfKey, example, keyed, tracked, unseen),
		operation.GET("key.endpoint", "/keys/endpoint/{keyHash}"+dates, "Count the traffic of a key by endpoint, under the older path", s.OfKey, example, keyed, tracked, unseen),
		operation.GET("keys", "/keys/aggregate/{keyHashes}"+dates, "Count the traffic of several keys over time", s.OfKeys, example, keyed, few, unseen),
		operation.GET("client", "/oauthid/{OAuthClientID}"+dates, "Count the traffic of an OAuth client by endpoint", s.OfClient, example, keyed, tracked),
		operation.GET("client.endpoint", "/oauthid/endpoint/{OAuthClientID}"+dates, "Count the traffic of an OAuth client by endpoint, under the older path", s.OfClient, example, keyed, tracked),
		operation.GET("endpoint", "/endpoint"+dates, "Count the traffic of each endpoint", s.PerEndpoint, example, faulting, tracked),
		operation.GET("error", "/error"+dates, "Count failed calls by status", s.PerError, example, faulting, few),
		operation.GET("geo", "/geo"+dates, "Count the traffic from each country", s.PerCountry, example, faulting, few),
		operation.GET("graph", "/graph"+dates, "Count GraphQL calls by operation, type or field", s.PerQuery, example, faulting),
		operation.GET("mcp.primitives", "/mcp/primitives"+dates, "Count calls of MCP primitives", s.Primitives, example, proxied, proxies),
		operation.GET("mcp.errors", "/mcp/primitives/errors"+dates, "Count failed calls of MCP primitives", s.Failures, example, proxied, proxies),
		operation.GET("mcp.key", "/mcp/keys/{keyId}"+dates, "Count the calls of MCP proxies with a key", s.KeyPrimitives, example, operation.Faulting(append(faults, CodeKey, CodeMissing, codeNoMCP)...), proxies, few, unseen),
	)
	uptime := groupOf("uptime", "/api/uptime", access.Analytics, failed).Rows(
		operation.GET("upstreams", dates, "Count the uptime tests of each upstream", s.Uptime, example, operation.Faulting(view.CodePeriod, view.CodeFilter, view.CodeMany)))
	logs := groupOf("logs", "/api/logs", access.Logs, "Failed to fetch logs.").Rows(
		operation.GET("list", "", "List single calls, newest first", s.Logs, operation.Lists(operation.Item{Name: "path"}), operation.Narrows("start", operation.From, "timestamp"), operation.Narrows("end", operation.To, "timestamp"),
			operation.Narrows("key", operation.Equal, "api_key"), operation.Narrows("api", operation.Equal, "api_id"), operation.Faulting(view.CodePeriod, view.CodeFilter, view.CodeMany, CodeKey, CodeForeign), operation.Unseen("key"),
			operation.Example(nil, map[string]any{"data": []view.Call{exampleCall}, "pages": 1})))
	var all []operation.Operation
	for _, group := range [][]operation.Operation{usage, activity, uptime, logs} {
		all = append(all, group...)
	}
	return all
}

package analytics

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

type (
	ofCall  = func(*record.Record) any
	ofCount = func(*aggregate.Row) any
)

// callValues returns the value of each column of a call.
var callValues = withPrefixed(map[string]ofCall{
	"method":        func(r *record.Record) any { return r.Method },
	"host":          func(r *record.Record) any { return r.Host },
	"path":          func(r *record.Record) any { return r.Path },
	"rawpath":       func(r *record.Record) any { return r.RawPath },
	"originalpath":  func(r *record.Record) any { return r.OriginalPath },
	"listenpath":    func(r *record.Record) any { return r.ListenPath },
	"useragent":     func(r *record.Record) any { return r.UserAgent },
	"ipaddress":     func(r *record.Record) any { return r.IPAddress },
	"apikey":        func(r *record.Record) any { return r.APIKey },
	"apiversion":    func(r *record.Record) any { return r.APIVersion },
	"api_name":      func(r *record.Record) any { return r.APIName },
	"apiid":         func(r *record.Record) any { return r.APIID },
	"orgid":         func(r *record.Record) any { return r.OrgID },
	"oauthid":       func(r *record.Record) any { return r.OauthID },
	"alias":         func(r *record.Record) any { return r.Alias },
	"rawrequest":    func(r *record.Record) any { return r.RawRequest },
	"rawresponse":   func(r *record.Record) any { return r.RawResponse },
	"tags":          func(r *record.Record) any { return list(r.Tags) },
	"contentlength": func(r *record.Record) any { return r.ContentLength },
	"day":           func(r *record.Record) any { return r.Day },
	"month":         func(r *record.Record) any { return r.Month },
	"year":          func(r *record.Record) any { return r.Year },
	"hour":          func(r *record.Record) any { return r.Hour },
	"responsecode":  func(r *record.Record) any { return r.ResponseCode },
	"requesttime":   func(r *record.Record) any { return r.RequestTime },
	"trackpath":     func(r *record.Record) any { return r.TrackPath },
	"timestamp":     func(r *record.Record) any { return r.TimeStamp },
	"expireAt":      func(r *record.Record) any { return r.ExpireAt },

	"latency_total":    func(r *record.Record) any { return r.Latency.Total },
	"latency_upstream": func(r *record.Record) any { return r.Latency.Upstream },
	"latency_gateway":  func(r *record.Record) any { return r.Latency.Gateway },

	"geo_country_iso_code": func(r *record.Record) any { return r.Geo.Country },
	"geo_city_geoname_id":  func(r *record.Record) any { return r.Geo.CityID },
	"geo_city_names": func(r *record.Record) any {
		if len(r.Geo.CityNames) == 0 {
			return ""
		}
		return encode(r.Geo.CityNames)
	},
	"geo_location_latitude":  func(r *record.Record) any { return r.Geo.Latitude },
	"geo_location_longitude": func(r *record.Record) any { return r.Geo.Longitude },
	"geo_location_time_zone": func(r *record.Record) any { return r.Geo.TimeZone },

	"network_open_connections":   func(r *record.Record) any { return r.Network.Open },
	"network_closed_connections": func(r *record.Record) any { return r.Network.Closed },
	"network_bytes_in":           func(r *record.Record) any { return r.Network.In },
	"network_bytes_out":          func(r *record.Record) any { return r.Network.Out },

	"graphql_stats_variables":      func(r *record.Record) any { return r.GraphQL.Variables },
	"graphql_stats_root_fields":    func(r *record.Record) any { return list(r.GraphQL.RootFields) },
	"graphql_stats_types":          func(r *record.Record) any { return types(r.GraphQL.Types) },
	"graphql_stats_errors":         func(r *record.Record) any { return list(r.GraphQL.Errors) },
	"graphql_stats_operation_type": func(r *record.Record) any { return int64(r.GraphQL.Operation) },
	"graphql_stats_has_errors":     func(r *record.Record) any { return r.GraphQL.HasErrors },
	"graphql_stats_is_graph_ql":    func(r *record.Record) any { return r.GraphQL.Is },

	"mcp_stats_is_mcp":         func(r *record.Record) any { return r.MCP.Is },
	"mcp_stats_jsonrpc_method": func(r *record.Record) any { return r.MCP.Method },
	"mcp_stats_primitive_type": func(r *record.Record) any { return r.MCP.PrimitiveType },
	"mcp_stats_primitive_name": func(r *record.Record) any { return r.MCP.PrimitiveName },
}, map[string]ofCall{
	"operation_type": func(r *record.Record) any { return r.GraphQL.Operation.String() },
	"types":          func(r *record.Record) any { return types(r.GraphQL.Types) },
	"root_fields":    func(r *record.Record) any { return list(r.GraphQL.RootFields) },
	"variables":      func(r *record.Record) any { return r.GraphQL.Variables },
	"errors":         func(r *record.Record) any { return list(r.GraphQL.Errors) },
	"has_errors":     func(r *record.Record) any { return r.GraphQL.HasErrors },

	"jsonrpc_method": func(r *record.Record) any { return r.MCP.Method },
	"primitive_type": func(r *record.Record) any { return r.MCP.PrimitiveType },
	"primitive_name": func(r *record.Record) any { return r.MCP.PrimitiveName },
})

// withPrefixed adds the columns of the GraphQL and MCP tables.
func withPrefixed(values, more map[string]ofCall) map[string]ofCall {
	for name, value := range values {
		more[prefix+name] = value
	}
	for name, value := range more {
		values[name] = value
	}
	return values
}

// list and types encode values as JSON.
func list(l []string) string {
	if len(l) == 0 {
		return "[]"
	}
	return encode(l)
}

func types(ts []record.Type) string {
	out := map[string][]string{}
	for _, t := range ts {
		out[t.Name] = append(out[t.Name], t.Fields...)
	}
	return encode(out)
}

func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// counterValues returns the value of each column of counters.
var counterValues = withCodes(map[string]ofCount{
	"id": func(r *aggregate.Row) any { return r.ID() }, "org_id": func(r *aggregate.Row) any { return r.Org }, "api_id": func(r *aggregate.Row) any { return r.API },
	"timestamp": func(r *aggregate.Row) any { return r.Bucket }, "dimension": func(r *aggregate.Row) any { return r.Dimension },
	"dimension_value":                func(r *aggregate.Row) any { return r.Value },
	"counter_identifier":             func(r *aggregate.Row) any { return r.Identifier },
	"counter_human_identifier":       func(r *aggregate.Row) any { return r.Human },
	"counter_error_map":              func(*aggregate.Row) any { return "" },
	"counter_error_list":             func(*aggregate.Row) any { return "" },
	"counter_hits":                   func(r *aggregate.Row) any { return r.Hits },
	"counter_success":                func(r *aggregate.Row) any { return r.Success },
	"counter_error":                  func(r *aggregate.Row) any { return r.Error },
	"counter_open_connections":       func(r *aggregate.Row) any { return r.Open },
	"counter_closed_connections":     func(r *aggregate.Row) any { return r.Closed },
	"counter_bytes_in":               func(r *aggregate.Row) any { return r.In },
	"counter_bytes_out":              func(r *aggregate.Row) any { return r.Out },
	"counter_total_request_time":     func(r *aggregate.Row) any { return r.RequestTime },
	"counter_request_time":           func(r *aggregate.Row) any { return r.Mean(r.RequestTime) },
	"counter_total_latency":          func(r *aggregate.Row) any { return r.Latency },
	"counter_latency":                func(r *aggregate.Row) any { return r.Mean(r.Latency) },
	"counter_max_latency":            func(r *aggregate.Row) any { return r.MaxLatency },
	"counter_min_latency":            func(r *aggregate.Row) any { return r.MinLatency },
	"counter_total_upstream_latency": func(r *aggregate.Row) any { return r.Upstream },
	"counter_upstream_latency":       func(r *aggregate.Row) any { return r.Mean(r.Upstream) },
	"counter_max_upstream_latency":   func(r *aggregate.Row) any { return r.MaxUpstream },
	"counter_min_upstream_latency":   func(r *aggregate.Row) any { return r.MinUpstream },
	"counter_last_time":              func(r *aggregate.Row) any { return r.LastTime },
})

// withCodes adds the columns of status codes.
func withCodes(values map[string]ofCount) map[string]ofCount {
	for i, code := range aggregate.CodeColumns {
		values["code_"+code] = func(r *aggregate.Row) any { return r.Codes[i] }
	}
	return values
}

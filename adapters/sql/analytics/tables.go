// Package analytics stores what gateways report about traffic, in tables that other programs
// write and read as well (docs/wire/analytics.md#tables).
package analytics

import (
	"slices"
	"strings"
	"time"
)

// Type is the type of a column.
type Type uint8

// The types of columns.
const (
	Text Type = iota
	Integer
	Number
	Boolean
	Time
)

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
}

// Table is one table. When tables are sharded, there is a copy of it for each day.
type Table struct {
	Name    string
	Columns []Column
	Key     string     // primary key; "": none
	Indexes [][]string // columns of each
}

// Tables are all tables.
var Tables = []Table{Calls, GraphCalls, MCPCalls, Usage, GraphUsage, MCPUsage, Uptime}

// Calls has a row for each call, except calls of the model context protocol.
var Calls = Table{Name: "tyk_analytics", Columns: calls, Indexes: [][]string{{"orgid", "timestamp"}, {"timestamp"}}}

// GraphCalls has a row for each GraphQL call, besides the row in Calls.
var GraphCalls = Table{Name: "tyk_analytics_graph", Columns: prefixed(columns(Text, "operation_type types root_fields variables errors"), columns(Boolean, "has_errors")),
	Indexes: [][]string{{"analytics_orgid", "analytics_timestamp"}, {"analytics_timestamp"}}}

// MCPCalls has a row for each call of the model context protocol.
var MCPCalls = Table{Name: "tyk_analytics_mcp", Columns: prefixed(columns(Text, "jsonrpc_method primitive_type primitive_name")),
	Indexes: [][]string{{"analytics_orgid", "analytics_timestamp"}, {"analytics_timestamp"}}}

// Usage, GraphUsage, MCPUsage and Uptime have counters for each hour or minute and each
// value of a dimension.
var (
	Usage      = Table{Name: "tyk_aggregated", Columns: counters, Key: "id", Indexes: lookups}
	GraphUsage = Table{Name: "tyk_graph_aggregated", Columns: ofAPI, Key: "id", Indexes: lookups}
	MCPUsage   = Table{Name: "tyk_mcp_aggregated", Columns: ofAPI, Key: "id", Indexes: lookups}
	Uptime     = Table{Name: "tyk_uptime_analytics", Columns: counters, Key: "id", Indexes: lookups}
)

// lookups are indexes for all values of a dimension in a period, and for the history of one
// value.
var lookups = [][]string{{"org_id", "dimension", "timestamp"}, {"org_id", "dimension", "dimension_value", "timestamp"}}

// ofAPI are the columns of counters with the API.
var ofAPI = slices.Concat(counters, columns(Text, "api_id"))

var counters = slices.Concat(
	columns(Text, "id org_id dimension dimension_value counter_identifier counter_human_identifier counter_error_map counter_error_list"),
	columns(Integer, `timestamp counter_hits counter_success counter_error counter_open_connections counter_closed_connections counter_bytes_in counter_bytes_out
		counter_max_upstream_latency counter_min_upstream_latency counter_total_upstream_latency counter_max_latency counter_min_latency counter_total_latency
		code_1x code_200 code_201 code_2x code_301 code_302 code_303 code_304 code_3x code_400 code_401 code_403 code_404 code_429 code_4x
		code_500 code_501 code_502 code_503 code_504 code_5x`),
	columns(Number, "counter_request_time counter_total_request_time counter_upstream_latency counter_latency"),
	columns(Time, "counter_last_time"),
)

var calls = slices.Concat(
	columns(Text, `method host path rawpath useragent apikey apiversion api_name apiid orgid oauthid rawrequest rawresponse ipaddress
		geo_country_iso_code geo_city_names geo_location_time_zone tags alias originalpath listenpath graphql_stats_variables
		graphql_stats_root_fields graphql_stats_types graphql_stats_errors mcp_stats_jsonrpc_method mcp_stats_primitive_type mcp_stats_primitive_name`),
	columns(Integer, `contentlength day month year hour responsecode requesttime geo_city_geoname_id network_open_connections
		network_closed_connections network_bytes_in network_bytes_out latency_total latency_upstream latency_gateway graphql_stats_operation_type`),
	columns(Number, "geo_location_latitude geo_location_longitude"),
	columns(Boolean, "trackpath graphql_stats_has_errors graphql_stats_is_graph_ql mcp_stats_is_mcp"),
	columns(Time, "timestamp expireAt"),
)

func columns(t Type, names string) []Column {
	var out []Column
	for name := range strings.FieldsSeq(names) {
		out = append(out, Column{Name: name, Type: t})
	}
	return out
}

// prefix is the prefix of columns that Calls has as well.
const prefix = "analytics_"

// prefixed returns the columns of Calls with the prefix, followed by more.
func prefixed(more ...[]Column) []Column {
	out := slices.Clone(calls)
	for i := range out {
		out[i].Name = prefix + out[i].Name
	}
	return slices.Concat(out, slices.Concat(more...))
}

// Shard returns the name of the table for a day, when tables are sharded.
func (t Table) Shard(day time.Time) string { return t.Name + "_" + day.Format("20060102") }

// Create returns the statements that create the table under a name, its own or that of a
// shard, unless it exists.
func (t Table) Create(d Dialect, name string) []string {
	lines := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		lines[i] = Quote(c.Name) + " " + d.Types[c.Type]
		if c.Name == t.Key {
			lines[i] += " primary key"
		}
	}
	out := []string{"create table if not exists " + Quote(name) + " (" + strings.Join(lines, ", ") + ")"}
	for i, index := range t.Indexes {
		quoted := make([]string, len(index))
		for j, column := range index {
			quoted[j] = Quote(column)
		}
		out = append(out, "create index if not exists "+Quote(name+"_"+string(rune('a'+i)))+" on "+Quote(name)+" ("+strings.Join(quoted, ", ")+")")
	}
	return out
}

// Quote quotes a name for SQL: some names have capitals, some are SQL keywords.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

package analytics

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// statement is an SQL statement under construction. All tables that it reads share its
// parameters.
type statement struct {
	d    Dialect
	args []any
}

// bind adds a parameter.
func (s *statement) bind(v any) string {
	s.args = append(s.args, v)
	return s.d.Param(len(s.args))
}

// text and number bind a value with its type, which PostgreSQL cannot always infer.
func (s *statement) text(v string) string { return "cast(" + s.bind(v) + " as text)" }

func (s *statement) number(v int64) string { return "cast(" + s.bind(v) + " as bigint)" }

// in returns a condition: the text is in the list. The list is one parameter of any length.
func (s *statement) in(text string, list []string) string {
	if len(list) == 1 {
		return text + " = " + s.text(list[0])
	}
	array, _ := json.Marshal(append([]string{}, list...)) // encoding texts never fails
	return s.d.in(text, s.text(string(array)))
}

// oneOf is in, except that a nil list allows every text.
func (s *statement) oneOf(text string, list []string) []string {
	if list == nil {
		return nil
	}
	return []string{s.in(text, list)}
}

// among returns a condition: one of the cuts applies. It is false without cuts.
func (s *statement) among(text string, cuts []view.Cut) []string {
	if cuts == nil {
		return nil
	}
	conditions := make([]string, len(cuts), len(cuts)+1)
	for i, c := range cuts {
		conditions[i] = s.in("substr("+text+", "+strconv.Itoa(c.At)+", "+strconv.Itoa(c.Length)+")", c.Texts)
	}
	return []string{"(" + strings.Join(append(conditions, "1 = 0"), " or ") + ")"}
}

// local converts a moment in seconds to local seconds.
func (s *statement) local(seconds string, p view.Period) string {
	steps := p.Steps()
	if len(steps) == 1 && steps[0].Ahead == 0 {
		return seconds
	}
	var b strings.Builder
	b.WriteString(seconds + " + case")
	for i := len(steps) - 1; i > 0; i-- {
		b.WriteString(" when " + seconds + " >= " + strconv.FormatInt(steps[i].From, 10) + " then " + strconv.FormatInt(steps[i].Ahead, 10))
	}
	if len(steps) == 1 {
		b.WriteString(" when 1 = 1 then " + strconv.FormatInt(steps[0].Ahead, 10))
	}
	return "(" + b.String() + " else " + strconv.FormatInt(steps[0].Ahead, 10) + " end)"
}

// time converts a moment in seconds to a resolution: a number of hours, days or, together with
// the year, a month.
func (s *statement) time(seconds string, q view.Query) string {
	switch q.Res {
	case view.Hour:
		return s.local(seconds, q.Period) + " / 3600"
	case view.Day:
		return s.local(seconds, q.Period) + " / 86400"
	case view.Month:
		return "cast(" + s.d.date(s.local(seconds, q.Period)) + " as bigint)"
	}
	return "0"
}

// sums are the summed counters, in the order in which they are read.
const sums = `cast(coalesce(sum(hits), 0) as bigint) as hits, cast(coalesce(sum(success), 0) as bigint) as success, cast(coalesce(sum(error), 0) as bigint) as error,
	cast(coalesce(sum(request_time), 0) as double precision) as request_time, cast(coalesce(sum(latency), 0) as double precision) as latency, cast(coalesce(sum(upstream), 0) as double precision) as upstream,
	coalesce(max(max_latency), 0) as max_latency, coalesce(min(min_latency), 0) as min_latency, coalesce(max(max_upstream), 0) as max_upstream,
	coalesce(min(min_upstream), 0) as min_upstream, max(last) as last`

var orders = map[view.By]string{
	view.ByTime: "t", view.ByHits: "hits", view.BySuccess: "success", view.ByError: "error", view.ByRequestTime: "request_time / hits",
	view.ByLatency: "latency / hits", view.ByUpstreamLatency: "upstream / hits", view.ByLastHit: "last",
}

// count returns the statement for a query over tables that each contain part of the rows.
// Blocks of the rollup replace some of their days.
func count(d Dialect, org tenant.ID, q view.Query, tables []string, c cover) (string, []any) {
	s := &statement{d: d}
	read := s.counters
	if q.Records {
		read = s.records
	}
	var parts []string
	for _, gap := range c.gaps {
		q.Period = gap
		one := read(org, q) // the same text for each table: they share parameters
		for _, name := range tables {
			parts = append(parts, strings.ReplaceAll(one, "{table}", Quote(name)))
		}
	}
	for _, b := range c.blocks { // one select each, so that every query planner uses the index
		q.Period = between(q.Period, time.Unix(b.first*daySeconds, 0).UTC(), time.Unix(b.end()*daySeconds, 0).UTC())
		parts = append(parts, strings.ReplaceAll(read(org, q), "{table}", Quote(rollup.Name))+` and "days" = `+strconv.FormatInt(b.days, 10))
	}
	desc := ""
	if q.Order.Desc {
		desc = " desc"
	}
	by := orders[q.Order.By]
	if by == "" {
		by = "name" + d.collate
	}
	return "select t, v, a, name, " + sumNames + ", count(*) over () from (select t, v, a, max(name) as name, " + sums + " from (" + nested(parts) + ") as x group by t, v, a) as y order by " +
		by + desc + ", t, v" + d.collate + ", a" + d.collate + " limit " + s.number(int64(q.AtMost)) + " offset " + s.number(int64(q.Offset)), s.args
}

const sumNames = "hits, success, error, request_time, latency, upstream, max_latency, min_latency, max_upstream, min_upstream, last"

// maxTerms is how many selects SQLite can combine in one compound select.
const maxTerms = 400

// nested combines selects, in groups when there are many.
func nested(parts []string) string {
	if len(parts) <= maxTerms {
		return strings.Join(parts, " union all ")
	}
	var groups []string
	for i := 0; i < len(parts); i += maxTerms {
		groups = append(groups, "select * from ("+strings.Join(parts[i:min(i+maxTerms, len(parts))], " union all ")+") as g"+strconv.Itoa(i))
	}
	return strings.Join(groups, " union all ")
}

// split returns an expression if rows are grouped by it.
func split(on bool, expression string) string {
	if on {
		return "coalesce(" + expression + ", '')"
	}
	return "''"
}

// errorCodes are the columns that count errors by status; the last two count all other 4xx and
// 5xx.
var errorCodes = strings.Fields("400 401 403 404 429 500 501 502 503 504 4x 5x")

// counters returns the select over a table of counters.
func (s *statement) counters(org tenant.ID, q view.Query) string {
	api, value, from := "''", `"dimension_value"`, ""
	switch {
	case q.Table == view.MCP || q.Table == view.Graph:
		api = `"api_id"`
	case q.Dimension == view.APIs:
		api = value
	}
	where := []string{`"org_id" = ` + s.text(string(org)), `"dimension" = ` + s.text(q.Dimension),
		`"timestamp" >= ` + s.number(q.Period.From.Unix()), `"timestamp" < ` + s.number(q.Period.To.Unix())}
	where = append(where, s.oneOf(value, q.Values)...)
	if q.APIs != nil && api != "''" {
		where = append(where, s.in(api, q.APIs))
	}
	if q.Prefix != "" {
		where = append(where, "substr("+value+", 1, "+strconv.Itoa(len([]rune(q.Prefix)))+") = "+s.text(q.Prefix))
	}
	where = append(where, s.among(value, q.Among)...)
	numbers := `"counter_hits" as hits, "counter_success" as success, "counter_error" as error, "counter_total_request_time" as request_time, "counter_total_latency" as latency,
		"counter_total_upstream_latency" as upstream, "counter_max_latency" as max_latency, "counter_min_latency" as min_latency,
		"counter_max_upstream_latency" as max_upstream, "counter_min_upstream_latency" as min_upstream, "counter_last_time" as last`
	few := func(n string) string {
		return n + " as hits, 0 as success, " + n + " as error, 0 as request_time, 0 as latency, 0 as upstream, 0 as max_latency, 0 as min_latency, 0 as max_upstream, 0 as min_upstream, \"counter_last_time\" as last"
	}
	name := `"counter_human_identifier"`
	switch q.Form {
	case view.Codes:
		var of strings.Builder
		rows := make([]string, len(errorCodes))
		for i, code := range errorCodes {
			rows[i] = "select '" + code + "' as c"
			of.WriteString(" when '" + code + `' then "code_` + code + `"`)
		}
		n := "case c" + of.String() + " end"
		from, value, name, numbers = " cross join ("+strings.Join(rows, " union all ")+") as codes", "c", "''", few(n)
		where = append(where, n+" > 0")
	case view.Failed:
		numbers = few(`"counter_error"`)
		where = append(where, `"counter_error" > 0`)
	default:
		where = append(where, `"counter_hits" > 0`)
	}
	return "select " + s.time(`"timestamp"`, q) + " as t, " + split(q.ByValue, value) + " as v, " + split(q.ByAPI, api) + " as a, " + name + " as name, " + numbers +
		" from {table}" + from + " where " + strings.Join(where, " and ")
}

// records returns the select over a table of calls.
func (s *statement) records(org tenant.ID, q view.Query) string {
	prefix := ""
	if q.Table != view.Usage {
		prefix = "analytics_"
	}
	column := func(name string) string { return Quote(prefix + name) }
	value := "''"
	switch q.Dimension {
	case view.APIs:
		value = column("apiid")
	case view.Keys:
		value = column("apikey")
	case view.Errors:
		value = "cast(" + column("responsecode") + " as text)"
	case view.Geo:
		value = column("geo_country_iso_code")
	case view.Endpoints:
		value = "coalesce(" + column("apiid") + ", '') || ':' || coalesce(" + column("apiversion") + ", '') || ':' || " + column("path")
	case view.Names: // spelt as in the counters
		value = `case when coalesce("primitive_type", '') = '' then "jsonrpc_method" else "primitive_type" || '_' || "primitive_name" end`
	}
	at, code := column("timestamp"), column("responsecode")
	where := []string{column("orgid") + " = " + s.text(string(org)), at + " >= " + s.bind(s.d.Time(q.Period.From)), at + " < " + s.bind(s.d.Time(q.Period.To)), code + " <> -1"}
	where = append(where, s.oneOf(column("apiid"), q.APIs)...)
	where = append(where, s.oneOf(column("apikey"), q.Keys)...)
	where = append(where, s.oneOf(column("apiversion"), q.Versions)...)
	where = append(where, s.oneOf(value, q.Values)...)
	if q.Prefix != "" {
		where = append(where, "substr("+value+", 1, "+strconv.Itoa(len([]rune(q.Prefix)))+") = "+s.text(q.Prefix))
	}
	where = append(where, s.tagged(column("tags"), q.Tags)...)
	if q.Table == view.Usage { // GraphQL calls have their own counters, except for queries that cannot be parsed
		where = append(where, "("+code+" = 400 or not coalesce("+s.d.contains(column("tags"), `'"tyk-graph-analytics"'`)+", 1 = 0))")
	}
	switch {
	case q.Form == view.Failed || q.Dimension == view.Errors:
		where = append(where, code+" >= 400")
	case q.Dimension == view.Geo:
		where = append(where, value+" <> ''")
	case q.Dimension == view.Endpoints:
		if where = append(where, column("path")+" <> ''"); !q.Untracked {
			where = append(where, column("trackpath"))
		}
	}
	flag := func(condition string) string { return "case when " + condition + " then 1 else 0 end" }
	total, upstream := column("latency_total"), column("latency_upstream")
	return "select " + s.time(s.d.seconds(at), q) + " as t, " + split(q.ByValue, value) + " as v, " + split(q.ByAPI, column("apiid")) + " as a, '' as name, 1 as hits, " +
		flag(code+" between 200 and 299") + " as success, " + flag(code+" >= 400") + " as error, " + column("requesttime") + " as request_time, " + total + " as latency, " +
		upstream + " as upstream, " + total + " as max_latency, " + total + " as min_latency, " + upstream + " as max_upstream, " + upstream + " as min_upstream, " + at +
		" as last from {table} where " + strings.Join(where, " and ")
}

// tagged returns a condition: a JSON array of texts contains one of the tags, encoded as we do
// or as collectors do that escape HTML characters.
func (s *statement) tagged(column string, tags []string) []string {
	if tags == nil {
		return nil
	}
	any := []string{"1 = 0"}
	for _, tag := range tags {
		escaped, _ := json.Marshal(tag) // encoding texts never fails
		spellings := []string{string(escaped), string(doc.AppendString(nil, tag))}
		for _, text := range slices.Compact(spellings) {
			any = append(any, s.d.contains(column, s.text(text)))
		}
	}
	return []string{"(" + strings.Join(any, " or ") + ")"}
}

// listing returns the statement for records of calls: with their messages, or with the sizes
// of the messages and the total number of calls. With messages, the database would have to
// sort them as well.
func listing(d Dialect, org tenant.ID, q view.CallQuery, tables []string, messages bool) (string, []any) {
	s := &statement{d: d}
	where := []string{`"orgid" = ` + s.text(string(org)), `"timestamp" >= ` + s.bind(d.Time(q.Period.From)), `"timestamp" < ` + s.bind(d.Time(q.Period.To)), `"responsecode" <> -1`}
	where = append(where, s.oneOf(`"apikey"`, q.Keys)...)
	where = append(where, s.oneOf(`"apiid"`, q.APIs)...)
	if q.FailedOnly {
		where = append(where, `"responsecode" >= 400`)
	}
	size := "0"
	columns, inner := make([]string, len(callColumns)), make([]string, len(callColumns))
	for i, name := range callColumns {
		columns[i] = Quote(name)
		inner[i] = columns[i]
		if !messages && (name == "rawrequest" || name == "rawresponse") { // databases know the sizes without reading the messages
			inner[i] = "'' as " + columns[i]
			size += " + coalesce(octet_length(" + columns[i] + "), 0)"
		}
	}
	from := func(columns string) string {
		parts := make([]string, len(tables))
		for i, name := range tables {
			parts[i] = "select " + columns + " from " + Quote(name) + " where " + strings.Join(where, " and ")
		}
		return "from (" + nested(parts) + ") as x"
	}
	total := "0"
	if !messages {
		total = "(select count(*) " + from("1") + ")"
	}
	return "select " + strings.Join(columns, ", ") + ", size, " + total + " " + from(strings.Join(inner, ", ")+", "+size+" as size") + ` order by "timestamp" desc, "apiid"` + d.collate + `, "path"` + d.collate +
		" limit " + s.number(int64(q.AtMost)) + " offset " + s.number(int64(q.Offset)), s.args
}

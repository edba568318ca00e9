package analytics

import (
	"encoding/json"

	"github.com/gatehouse-io/gatehouse/core/analytics/view"
)

// results is the response of a view: a page of results, or a file of all.
type results struct {
	units []view.Unit
	pages int
	csv   bool
}

// Schema describes a page.
func (results) Schema() map[string]any {
	counts, texts := map[string]any{"type": "integer"}, map[string]any{"type": "string"}
	id, unit := map[string]any{"queries": map[string]any{"type": "object", "additionalProperties": counts}}, map[string]any{"last_hit": map[string]any{"type": "string", "format": "date-time"}}
	for _, name := range []string{"day", "month", "year", "hour", "code"} {
		id[name] = counts
	}
	for _, name := range []string{"path", "key", "url", "api_id", "api_name", "iso_country", "alias"} {
		id[name] = texts
	}
	for _, name := range []string{"hits", "success", "error", "max_latency", "min_latency", "max_upstream_latency", "min_upstream_latency"} {
		unit[name] = counts
	}
	for _, name := range []string{"request_time", "latency", "upstream_latency"} {
		unit[name] = map[string]any{"type": "number"}
	}
	unit["id"] = map[string]any{"type": "object", "properties": id}
	items := map[string]any{"type": "object", "required": []string{"id", "hits", "success", "error"}, "properties": unit}
	return map[string]any{"type": "object", "required": []string{"data", "pages"}, "properties": map[string]any{
		"data":  map[string]any{"type": "array", "items": items},
		"pages": map[string]any{"type": "integer", "minimum": 1, "description": "Number of pages."},
	}}
}

// MediaTypes implements operation.Varied.
func (results) MediaTypes() []string { return []string{"application/json", "text/csv"} }

// Download implements operation.File.
func (r results) Download() string {
	if r.csv {
		return "analytics.csv"
	}
	return ""
}

// Stream implements operation.Stream.
func (r results) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	if r.csv {
		return "text/csv", "", [][]byte{view.CSV(r.units)}, nil
	}
	text, _ := json.Marshal(map[string]any{"data": r.units, "pages": r.pages}) // plain values can always be encoded
	return "application/json", "", [][]byte{text, {'\n'}}, nil
}

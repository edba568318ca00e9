package view

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// UnitID identifies a Unit. Parts by which the query does not split are 0 or empty.
type UnitID struct {
	Day     int            `json:"day"`
	Month   int            `json:"month"`
	Year    int            `json:"year"`
	Hour    int            `json:"hour"`
	Code    int            `json:"code"`
	Path    string         `json:"path"`
	Key     string         `json:"key"`
	URL     string         `json:"url"`
	APIID   string         `json:"api_id"`
	APIName string         `json:"api_name"`
	Country string         `json:"iso_country"`
	Alias   string         `json:"alias"`
	Queries map[string]int `json:"queries"`
}

// Unit is one result. Times are in milliseconds.
type Unit struct {
	ID              UnitID  `json:"id"`
	Hits            int64   `json:"hits"`
	Success         int64   `json:"success"`
	Error           int64   `json:"error"`
	LastHit         string  `json:"last_hit"` // RFC 3339
	RequestTime     float64 `json:"request_time"`
	Latency         float64 `json:"latency"`
	MaxLatency      int64   `json:"max_latency"`
	MinLatency      int64   `json:"min_latency"`
	UpstreamLatency float64 `json:"upstream_latency"`
	MaxUpstream     int64   `json:"max_upstream_latency"`
	MinUpstream     int64   `json:"min_upstream_latency"`
}

// Unit returns the result for a row: averages are sums divided by hits.
func (r Row) Unit() Unit {
	average := func(sum float64) float64 {
		if r.Hits == 0 {
			return 0
		}
		return sum / float64(r.Hits)
	}
	return Unit{
		ID:   UnitID{Day: r.Day, Month: r.Month, Year: r.Year, Hour: r.Hour, APIID: r.API, Queries: map[string]int{}},
		Hits: r.Hits, Success: r.Success, Error: r.Error, LastHit: r.LastHit, RequestTime: average(r.RequestTime),
		Latency: average(r.Latency), MaxLatency: r.MaxLatency, MinLatency: r.MinLatency,
		UpstreamLatency: average(r.Upstream), MaxUpstream: r.MaxUpstream, MinUpstream: r.MinUpstream,
	}
}

var columns = []string{"day", "month", "year", "hour", "code", "path", "key", "url", "api_id", "api_name", "iso_country", "alias", "hits", "success", "error", "last_hit",
	"request_time", "latency", "max_latency", "min_latency", "upstream_latency", "max_upstream_latency", "min_upstream_latency"}

// table encodes a list as CSV (RFC 4180) with a header line.
func table[T any](columns []string, list []T, row func(T) []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	_ = w.Write(columns) // writing to memory does not fail
	for _, v := range list {
		_ = w.Write(row(v))
	}
	w.Flush()
	return b.Bytes()
}

// CSV encodes results as CSV.
func CSV(units []Unit) []byte {
	return table(columns, units, func(u Unit) []string {
		return []string{
			whole(int64(u.ID.Day)), whole(int64(u.ID.Month)), whole(int64(u.ID.Year)), whole(int64(u.ID.Hour)), whole(int64(u.ID.Code)),
			Cell(u.ID.Path), Cell(u.ID.Key), Cell(u.ID.URL), Cell(u.ID.APIID), Cell(u.ID.APIName), Cell(u.ID.Country), Cell(u.ID.Alias),
			whole(u.Hits), whole(u.Success), whole(u.Error), u.LastHit, decimal(u.RequestTime), decimal(u.Latency), whole(u.MaxLatency), whole(u.MinLatency),
			decimal(u.UpstreamLatency), whole(u.MaxUpstream), whole(u.MinUpstream),
		}
	})
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Cell returns a text as a CSV cell that no spreadsheet takes for a formula. Clients of
// gateways choose some of the texts, and a spreadsheet evaluates a text with certain first
// characters. With a semicolon as separator, as in half of Europe, a spreadsheet ignores the
// quotes around the cell: it also splits the text at semicolons and line ends.
func Cell(text string) string {
	var b strings.Builder
	begins := true
	for i, c := range text {
		ends := strings.ContainsRune(";\t\r\n", c)
		if begins && (i == 0 || !ends) && formula(text[i:]) {
			b.WriteByte('\'')
		}
		b.WriteRune(c)
		begins = ends || begins && c == '"' // a quote may belong to the quoting
	}
	return b.String()
}

// formula reports whether a spreadsheet may take a text for a formula. Full-width signs count
// too, and spreadsheets may skip leading control characters and spaces.
func formula(text string) bool {
	c, _ := utf8.DecodeRuneInString(text)
	if unicode.IsControl(c) || strings.ContainsRune("=+-@|＝＋－＠", c) {
		return true
	}
	rest := strings.TrimLeftFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.In(c, unicode.Cf) })
	c, _ = utf8.DecodeRuneInString(rest)
	return len(rest) < len(text) && strings.ContainsRune("=＝@＠", c)
}

package view

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Table selects the counters of a query.
type Table uint8

// The tables of counters.
const (
	Usage Table = iota
	MCP
	Graph
	Uptime
)

// Form says how the counters are evaluated.
type Form uint8

// The forms. Codes returns a row for each error status code from the counters of APIs; Failed
// counts only failed calls.
const (
	Plain Form = iota
	Codes
	Failed
)

// Query is a query for counters. In lists of conditions, nil matches everything, and an empty
// list nothing.
type Query struct {
	Table     Table
	Dimension string
	Form      Form
	// Records makes the query use the records of calls instead of the counters. Only records can
	// be filtered by combinations of Keys, Versions and Tags.
	Records              bool
	Keys, Versions, Tags []string
	Untracked            bool // with Records: include endpoints that are not tracked

	Values []string // value is one of these
	Prefix string   // value begins with this
	Among  []Cut    // one of these conditions holds
	APIs   []string // only these APIs, if the table has APIs
	Period Period

	Res            Resolution
	ByValue, ByAPI bool
	Order          Order
	Offset, AtMost int
}

// Row is one result: the counters for a time span, a value and an API. Those by which the
// query does not split are empty.
type Row struct {
	Year, Month, Day, Hour int
	Value, Name, API       string
	Counters
}

// Counters are the counters of a result. Times are in milliseconds.
type Counters struct {
	Hits, Success, Error                             int64
	RequestTime, Latency, Upstream                   float64 // sums
	MaxLatency, MinLatency, MaxUpstream, MinUpstream int64
	LastHit                                          string // RFC 3339
}

// By is a sort key of results.
type By uint8

// The orders.
const (
	ByTime By = iota
	ByHits
	BySuccess
	ByError
	ByRequestTime
	ByLatency
	ByUpstreamLatency
	ByLastHit
	ByName
)

var byNames = map[string]By{
	"hits": ByHits, "success": BySuccess, "error": ByError, "errors": ByError, "requesttime": ByRequestTime, "latency": ByLatency,
	"upstreamlatency": ByUpstreamLatency, "lasthit": ByLastHit, "time": ByTime, "name": ByName,
}

// Order is the order of results.
type Order struct {
	By   By
	Desc bool
}

// ParseOrder parses the parameters by and sort: the name of a counter in any letter case, and
// 1 for ascending or -1 for descending order.
func ParseOrder(by, sort string, preset Order) (Order, error) {
	out := preset
	if by != "" {
		b, ok := byNames[strings.ToLower(strings.ReplaceAll(by, "_", ""))]
		if !ok {
			return out, fault.New(fault.Invalid, CodeFilter, "query parameter by must be Hits, Success, Error, Request_Time, Latency, Upstream_Latency, Last_Hit, Time or Name").At("by")
		}
		out = Order{By: b, Desc: b != ByTime && b != ByName}
	}
	switch sort {
	case "":
	case "1":
		out.Desc = false
	case "-1":
		out.Desc = true
	default:
		return out, fault.New(fault.Invalid, CodeFilter, "query parameter sort must be 1 or -1").At("sort")
	}
	return out, nil
}

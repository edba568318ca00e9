package view

import (
	"strings"

	"github.com/gatehouse-io/gatehouse/core/fault"
)

// Table says which counters are asked.
type Table uint8

// The tables of counters.
const (
	Usage Table = iota
	MCP
	Graph
	Uptime
)

// Form says what of the counters is asked.
type Form uint8

// The forms. Codes makes a value of each status of errors out of the counters of APIs;
// Failed counts failed calls only.
const (
	Plain Form = iota
	Codes
	Failed
)

// Query is a question about counters. Lists of conditions: nil admits everything, an empty
// one nothing.
type Query struct {
	Table     Table
	Dimension string
	Form      Form
	// Records asks the records of calls instead of the counters, which also know what
	// counters do not tell together: Keys, Versions and Tags narrow them.
	Records              bool
	Keys, Versions, Tags []string
	Untracked            bool // records: endpoints that are not tracked, too

	Values []string // any of these
	Prefix string   // values begin so
	Among  []Cut    // any of these holds
	APIs   []string // of these APIs, where a table tells
	Period Period

	Res            Resolution
	ByValue, ByAPI bool
	Order          Order
	Offset, AtMost int
}

// Row is one answer: counters of a span of time, a value and an API, as far as the
// question splits by them.
type Row struct {
	Year, Month, Day, Hour int
	Value, Name, API       string
	Counters
}

// Counters is what is counted. Times are in milliseconds.
type Counters struct {
	Hits, Success, Error                             int64
	RequestTime, Latency, Upstream                   float64 // sums
	MaxLatency, MinLatency, MaxUpstream, MinUpstream int64
	LastHit                                          string // RFC 3339
}

// By is what answers can be in order of.
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

// Order is in which order answers come.
type Order struct {
	By   By
	Desc bool
}

// ParseOrder reads the parameters by and sort: the name of a counter in any letter case, and
// 1 for the smallest first or -1 for the largest first.
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

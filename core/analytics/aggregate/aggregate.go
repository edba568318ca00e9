// Package aggregate computes counters from records: a row for each hour, or minute, and each
// value of a dimension (docs/wire/records.md#counters).
package aggregate

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

// Table says which records a row counts.
type Table uint8

// The tables.
const (
	Requests Table = iota // calls of APIs, except those of the other tables
	GraphQL
	MCP
	Uptime // uptime checks
)

// Tables lists all tables.
var Tables = []Table{Requests, GraphQL, MCP, Uptime}

// Dimensions of all tables of calls.
const (
	total = "" // with the value "total"
	apiID = "apiid"
)

// Key identifies a row.
type Key struct {
	Table            Table
	Org              string
	API              string // always empty for Requests and Uptime
	Bucket           int64  // its beginning, in Unix seconds
	Dimension, Value string
}

// ID returns the primary key of a row.
func (k Key) ID() string {
	owner := k.Org
	if k.Table == GraphQL || k.Table == MCP {
		owner = k.API
	}
	return hex.EncodeToString([]byte(strconv.FormatInt(k.Bucket, 10) + owner + k.Dimension + k.Value))
}

// Row is the counters of one value of a dimension.
type Row struct {
	Key
	Counter
	last int // number of the last record that was counted here
}

// Options say how records are counted.
type Options struct {
	PerMinute  bool           // buckets are minutes instead of hours; not for uptime checks
	Zone       *time.Location // of the collector; hours begin in this zone
	TrackAll   bool           // paths are counted even if their endpoints are not tracked
	IgnoreTags []string       // tags with these prefixes are not counted, in Requests
	// Values is the largest number of values of a dimension that one owner may have in a batch.
	// More values are not counted, except in Dropped. Default 1000.
	Values int
}

// Batch counts records.
type Batch struct {
	Options
	Dropped int // counts that were left out
	rows    map[Key]*Row
	values  map[Key]int // by dimension: Value is empty
	added   int         // records so far
}

// New returns a Batch that has counted nothing.
func New(o Options) *Batch {
	o.Values = cmp.Or(o.Values, 1000)
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	return &Batch{Options: o, rows: map[Key]*Row{}, values: map[Key]int{}}
}

// Rows returns all rows, sorted by table and identifier: writers that lock rows in the same
// order do not deadlock. Keys with the same identifier become one row, because the identifier
// is the primary key. This happens when an API of GraphQL or MCP reports for several
// organisations, and when texts that clients choose give the same identifier.
func (b *Batch) Rows() []Row {
	type named struct {
		id string
		*Row
	}
	list := make([]named, 0, len(b.rows))
	for key, row := range b.rows {
		list = append(list, named{key.ID(), row})
	}
	slices.SortFunc(list, func(a, b named) int { // of two keys with one identifier, the one with an organisation comes first
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.id, b.id), cmp.Compare(b.Org, a.Org), cmp.Compare(a.API, b.API))
	})
	out := make([]Row, 0, len(list))
	for i, n := range list {
		if i > 0 && n.Table == list[i-1].Table && n.id == list[i-1].id {
			out[len(out)-1].join(&n.Counter)
			continue
		}
		out = append(out, *n.Row)
	}
	return out
}

// row returns the row of a key, which it creates if needed, or nil when there are too many.
func (b *Batch) row(key Key) *Row {
	if row, ok := b.rows[key]; ok {
		return row
	}
	of := key
	of.Value = ""
	if b.values[of] >= b.Values {
		b.Dropped++
		return nil
	}
	b.values[of]++
	row := &Row{Key: key}
	b.rows[key] = row
	return row
}

// bucket returns the beginning of the hour or minute of a time, in Unix seconds.
func (b *Batch) bucket(at time.Time, perMinute bool) int64 {
	at = at.In(b.Zone)
	if perMinute {
		return at.Unix() - int64(at.Second())
	}
	return at.Unix() - int64(at.Minute())*60 - int64(at.Second())
}

// AddUptime counts the result of an uptime check.
func (b *Batch) AddUptime(u *record.Uptime) {
	if u.OrgID == "" {
		return
	}
	b.added++
	key := Key{Table: Uptime, Org: short(u.OrgID), Bucket: b.bucket(u.TimeStamp, false)}
	m := measure{code: u.ResponseCode, requestTime: u.RequestTime, at: u.TimeStamp, all: true}
	b.count(key, value{dimension: total, value: "total"}, m)
	b.count(key, value{dimension: "url", value: cut(u.URL, maxPath), identifier: u.URL}, m)
	if m.failed() {
		b.count(key, code(m), m)
	}
}

// Add counts a record.
func (b *Batch) Add(r *record.Record) {
	b.added++
	key := Key{Org: short(r.OrgID), Bucket: b.bucket(r.TimeStamp, b.PerMinute)}
	switch {
	case r.MCP.Is:
		key.Table, key.API = MCP, short(r.APIID)
	case r.GraphQL.Is:
		key.Table, key.API = GraphQL, short(r.APIID)
	case r.OrgID == "":
		return
	}
	if r.ResponseCode == record.Connections {
		// A report about a TCP service.
		key.Dimension, key.Value = total, "total"
		if row := b.row(key); row != nil {
			row.Open += r.Network.Open
			row.Closed += r.Network.Closed
			row.In += r.Network.In
			row.Out += r.Network.Out
		}
		if r.APIID == "" {
			return
		}
		key.Dimension, key.Value = apiID, short(r.APIID)
		if row := b.row(key); row != nil {
			row.Identifier, row.Human = r.APIID, r.APIName
			row.In += r.Network.In
			row.Out += r.Network.Out
		}
		return
	}
	m := measure{code: r.ResponseCode, requestTime: r.RequestTime, latency: r.Latency.Total, upstream: r.Latency.Upstream, at: r.TimeStamp}
	for _, v := range dimensions(b.Options, key.Table, r) {
		m := m
		m.graphFailed = v.graph && r.GraphQL.HasErrors
		b.count(key, v, m)
	}
}

// count adds the measure of a record to the row of a value.
func (b *Batch) count(key Key, v value, m measure) {
	if v.value == "" {
		return
	}
	key.Dimension, key.Value = v.dimension, v.value
	row := b.row(key)
	if row == nil || row.last == b.added { // a record with the same value twice counts once
		return
	}
	row.last = b.added
	row.add(m, v.dimension == total)
	row.Identifier, row.Human = v.identifier, v.human // the last record sets the names of the row
}

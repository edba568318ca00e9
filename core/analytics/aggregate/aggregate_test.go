package aggregate_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// call returns a record of the organisation o1, with a change.
func call(change func(*record.Record)) record.Record {
	r := record.Record{
		TimeStamp: noon.Add(7 * time.Minute), OrgID: "o1", APIID: "a1", APIName: "First", APIVersion: "v1", ResponseCode: 200, RequestTime: 10, Path: "/p",
		APIKey: "k1", Alias: "ann", Latency: record.Latency{Total: 10, Upstream: 8, Gateway: 2},
	}
	change(&r)
	return r
}

// rows counts records and returns the rows by dimension and value.
func rows(o aggregate.Options, records ...record.Record) map[string]aggregate.Row {
	b, out := aggregate.New(o), map[string]aggregate.Row{}
	for i := range records {
		b.Add(&records[i])
	}
	for _, r := range b.Rows() {
		out[fmt.Sprintf("%d %s=%s", r.Table, r.Dimension, r.Value)] = r
	}
	return out
}

func b64(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }

// TestDimensions tests the rows of a record and their names.
func TestDimensions(t *testing.T) {
	plain := []string{"0 =total", "0 apiid=a1", "0 apikeys=k1", "0 versions=" + b64("a1:v1")}
	for name, c := range map[string]struct {
		change  func(*record.Record)
		options aggregate.Options
		more    []string // in addition to plain; all rows if one is empty
	}{
		"plain":           {change: func(*record.Record) {}},
		"a failure":       {change: func(r *record.Record) { r.ResponseCode = 404 }, more: []string{"0 errors=404"}},
		"a client":        {change: func(r *record.Record) { r.OauthID = "c" }, more: []string{"0 oauthids=c"}},
		"a country":       {change: func(r *record.Record) { r.Geo.Country = "NL" }, more: []string{"0 geo=NL"}},
		"no organisation": {change: func(r *record.Record) { r.OrgID = "" }, more: []string{""}},
		"tags": {change: func(r *record.Record) {
			r.Tags = []string{" my.tag", "key-k1", " key-k2", "skip-a", " skip-b", "", "..", "my.tag"}
		},
			options: aggregate.Options{IgnoreTags: []string{"skip-"}}, more: []string{"0 tags=mytag", "0 tags=key-k2", "0 tags=skip-b"}},
		"a tracked path": {change: func(r *record.Record) { r.TrackPath, r.Path, r.OauthID = true, "/dot.json", "c" }, more: []string{
			`0 endpoints=/dot\u2ejson`, "0 apiendpoints=" + hex.EncodeToString([]byte("a1:v1:/dot.json")), "0 keyendpoints=k1." + b64("a1:/dot.json"),
			"0 oauthids=c", "0 oauthendpoints=c." + b64("a1:/dot.json")}},
		"all paths": {change: func(*record.Record) {}, options: aggregate.Options{TrackAll: true}, more: []string{
			"0 endpoints=/p", "0 apiendpoints=" + hex.EncodeToString([]byte("a1:v1:/p")), "0 keyendpoints=k1." + b64("a1:/p")}},
		"a tool": {change: func(r *record.Record) {
			r.OrgID, r.MCP = "", record.MCP{Is: true, Method: "tools/call", PrimitiveType: "tool", PrimitiveName: "get-weather"}
		}, options: aggregate.Options{TrackAll: true}, more: []string{"", "2 =total", "2 apiid=a1", "2 apikeys=k1", "2 versions=" + b64("a1:v1"),
			"2 methods=tools/call", "2 primitives=tool", "2 names=tool_get-weather"}},
		"no primitive": {change: func(r *record.Record) {
			r.MCP = record.MCP{Is: true, Method: "tools/list", PrimitiveName: "tools/list"}
		},
			more: []string{"", "2 =total", "2 apiid=a1", "2 apikeys=k1", "2 versions=" + b64("a1:v1"), "2 methods=tools/list", "2 names=tools/list"}},
		"a query": {change: func(r *record.Record) {
			r.Tags = []string{"skip-a"}
			r.GraphQL = record.GraphQL{Is: true, Operation: 1, RootFields: []string{"user"}, Types: []record.Type{{Name: "User", Fields: []string{"name"}}}}
		}, options: aggregate.Options{IgnoreTags: []string{"skip-"}}, more: []string{"", "1 =total", "1 apiid=a1", "1 apikeys=k1", "1 versions=" + b64("a1:v1"),
			"1 tags=skip-a", "1 operation=Query", "1 types=User", "1 fields=User_name", "1 rootfields=user"}},
	} {
		want := append(slices.Clone(plain), c.more...)
		if i := slices.Index(c.more, ""); i >= 0 {
			want = slices.Delete(slices.Clone(c.more), i, i+1)
		}
		var got []string
		for key := range rows(c.options, call(c.change)) {
			got = append(got, key)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, want)
		}
	}
}

// TestCounters tests the rules of a row, one after the other.
func TestCounters(t *testing.T) {
	at := func(code, ms int64) record.Record {
		return call(func(r *record.Record) {
			r.ResponseCode, r.RequestTime, r.Latency, r.TimeStamp = code, ms, record.Latency{Total: ms, Upstream: ms / 2}, noon.Add(time.Duration(ms)*time.Second)
		})
	}
	got := rows(aggregate.Options{}, at(500, 100), at(301, 50), at(401, 1), at(101, 40), at(204, 60), at(599, 70), at(600, 80), at(200, 55))
	total, api := got["0 =total"], got["0 apiid=a1"]
	if total.Hits != 8 || total.Success != 2 || total.Error != 4 || total.RequestTime != 456 || total.Mean(total.RequestTime) != 57 || total.MaxLatency != 100 {
		t.Errorf("%+v", total)
	}
	if total.MinLatency != 55 || api.MinLatency != 40 || api.MinUpstream != 20 { // the total counts successes only, other rows all but errors
		t.Errorf("shortest: %d %d %d", total.MinLatency, api.MinLatency, api.MinUpstream)
	}
	if !total.LastTime.Equal(noon.Add(55*time.Second)) || !api.LastTime.Equal(noon.Add(100*time.Second)) {
		t.Errorf("last: %v %v", total.LastTime, api.LastTime)
	}
	codes := map[string]int64{}
	for i, n := range total.Codes {
		if n > 0 {
			codes[aggregate.CodeColumns[i]] = n
		}
	}
	if fmt.Sprint(codes) != "map[401:1 500:1 5x:1]" {
		t.Error(codes)
	}
	if total.Bucket != noon.Unix() || total.ID() != hex.EncodeToString([]byte(fmt.Sprint(noon.Unix())+"o1"+""+"total")) {
		t.Error(total.Bucket, total.ID())
	}
}

// TestGraphQLErrors: a response 200 with GraphQL errors is an error in the GraphQL dimensions,
// and a success in the others.
func TestGraphQLErrors(t *testing.T) {
	got := rows(aggregate.Options{}, call(func(r *record.Record) {
		r.GraphQL = record.GraphQL{Is: true, HasErrors: true, Operation: 2, RootFields: []string{"f"}}
	}))
	if total, op := got["1 =total"], got["1 operation=Mutation"]; total.Success != 1 || total.Error != 0 || op.Success != 0 || op.Error != 1 || op.Codes != total.Codes {
		t.Errorf("%+v %+v", total, op)
	}
	if id := got["1 =total"].ID(); !strings.HasPrefix(id, hex.EncodeToString([]byte(fmt.Sprint(noon.Unix())+"a1"))) {
		t.Error(id)
	}
}

// TestConnections: a report of a TCP service is not a hit, and does not divide by zero.
func TestConnections(t *testing.T) {
	got := rows(aggregate.Options{}, call(func(r *record.Record) {
		r.ResponseCode, r.Network = record.Connections, record.Network{Open: 4, Closed: 3, In: 2, Out: 1}
	}))
	total, api := got["0 =total"], got["0 apiid=a1"]
	if len(got) != 2 || total.Hits != 0 || total.Open != 4 || total.Closed != 3 || total.In != 2 || total.Out != 1 || total.Mean(total.Latency) != 0 {
		t.Errorf("%+v", got)
	}
	if api.Open != 0 || api.In != 2 || api.Out != 1 || !api.LastTime.IsZero() {
		t.Errorf("%+v", api)
	}
}

// TestUptime: successes and failures are counted by status code, other results are not.
func TestUptime(t *testing.T) {
	b := aggregate.New(aggregate.Options{PerMinute: true})
	for _, code := range []int64{200, 204, 301, 521} {
		b.AddUptime(&record.Uptime{URL: "http://u/", OrgID: "o1", ResponseCode: code, RequestTime: 4, TimeStamp: noon.Add(time.Minute)})
	}
	b.AddUptime(&record.Uptime{URL: "http://u/", TimeStamp: noon})
	list := b.Rows()
	if len(list) != 3 || list[0].Bucket != noon.Unix() {
		t.Fatalf("%+v", list)
	}
	for _, r := range list {
		switch r.Dimension {
		case "":
			if r.Hits != 4 || r.Success != 2 || r.Error != 1 || r.Codes[1] != 1 || r.Codes[3] != 1 || r.Codes[20] != 1 || !r.LastTime.IsZero() || r.RequestTime != 16 || r.MaxLatency != 0 {
				t.Errorf("%+v", r)
			}
		case "errors":
			if r.Value != "521" || r.Hits != 1 || r.Human != "" {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestBuckets: each record is counted in its own bucket, in the zone of the collector.
func TestBuckets(t *testing.T) {
	india := time.FixedZone("IST", 5*3600+1800)
	for name, c := range map[string]struct {
		options aggregate.Options
		at      time.Time
		want    time.Time
	}{
		"hour":            {aggregate.Options{}, noon.Add(59*time.Minute + 59*time.Second), noon},
		"minute":          {aggregate.Options{PerMinute: true}, noon.Add(59*time.Minute + 59*time.Second), noon.Add(59 * time.Minute)},
		"half an hour":    {aggregate.Options{Zone: india}, noon.Add(20 * time.Minute), noon.Add(-30 * time.Minute)},
		"before the half": {aggregate.Options{Zone: india}, noon.Add(31 * time.Minute), noon.Add(30 * time.Minute)},
	} {
		b := aggregate.New(c.options)
		r := call(func(r *record.Record) { r.TimeStamp = c.at })
		b.Add(&r)
		if got := b.Rows()[0].Bucket; got != c.want.Unix() {
			t.Errorf("%s: %v, want %v", name, time.Unix(got, 0).UTC(), c.want)
		}
	}
}

// TestBounds: clients choose paths, tags and versions. Their values fit into an index, stay
// different, and are counted up to a maximum number.
func TestBounds(t *testing.T) {
	long := strings.Repeat("é", 5000)
	b := aggregate.New(aggregate.Options{TrackAll: true, Values: 10})
	for i := range 100 {
		r := call(func(r *record.Record) {
			end := fmt.Sprint(i)
			r.Path, r.APIVersion, r.Tags, r.APIKey, r.OauthID, r.APIID, r.OrgID, r.Geo.Country = long+end, long+end, []string{long + end}, long+end, long+end, long+end, long, long
		})
		b.Add(&r)
	}
	values := map[string]int{}
	for _, r := range b.Rows() {
		values[r.Dimension]++
		if len(r.ID()) > 2600 || len(r.Value) > 1000 {
			t.Errorf("%s: %d bytes, ID %d", r.Dimension, len(r.Value), len(r.ID()))
		}
	}
	for dimension, n := range values {
		if n > 10 || n < 10 && dimension != "" && dimension != "geo" {
			t.Errorf("%s: %d values", dimension, n)
		}
	}
	if b.Dropped != 90*9 {
		t.Errorf("%d dropped", b.Dropped)
	}
}

// TestOneIdentifier: keys with the same identifier become one row, because it is the primary
// key. Such keys come from an API with records of several organisations, and from texts that
// give the same identifier when they are concatenated.
func TestOneIdentifier(t *testing.T) {
	b := aggregate.New(aggregate.Options{})
	tool := func(org, api, method string, ms, code int64) {
		r := call(func(r *record.Record) {
			r.OrgID, r.APIID, r.ResponseCode, r.RequestTime = org, api, code, ms
			r.Latency = record.Latency{Total: ms, Upstream: ms / 2}
			r.TimeStamp = noon.Add(time.Duration(ms) * time.Second)
			r.MCP = record.MCP{Is: true, Method: method}
		})
		b.Add(&r)
	}
	tool("", "a1", "m", 30, 200)
	tool("o1", "a1", "m", 10, 500)
	tool("o1", "abc", "methodsX", 1, 200)
	tool("o2", "abcmethods", "X", 1, 200)
	tcp := call(func(r *record.Record) {
		r.OrgID, r.ResponseCode, r.MCP, r.Network = "o0", record.Connections, record.MCP{Is: true}, record.Network{Open: 1, Closed: 2, In: 3, Out: 4}
	})
	b.Add(&tcp)
	seen := map[string]bool{}
	for _, r := range b.Rows() {
		if seen[r.ID()] {
			t.Errorf("twice: %+v", r)
		}
		seen[r.ID()] = true
		switch {
		case r.API == "a1" && r.Dimension == "":
			if r.Org != "o1" || r.Hits != 2 || r.Success != 1 || r.Error != 1 || r.RequestTime != 40 || r.Latency != 40 || r.Upstream != 20 || r.MaxLatency != 30 || r.MinLatency != 10 ||
				r.MaxUpstream != 15 || r.MinUpstream != 5 || r.Open != 1 || r.Closed != 2 || r.In != 3 || r.Out != 4 || !r.LastTime.Equal(noon.Add(30*time.Second)) {
				t.Errorf("%+v", r)
			}
		case r.Dimension == "methods" && r.API != "a1":
			if r.Org != "o2" || r.Hits != 2 {
				t.Errorf("%+v", r)
			}
		}
	}
}

// TestAgainstCounting compares rows with a direct count of the records.
func TestAgainstCounting(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	var all []record.Record
	for range 5000 {
		all = append(all, call(func(r *record.Record) {
			r.OrgID, r.APIID, r.APIKey, r.ResponseCode = pick("o1", "o2"), pick("a1", "a2", "a3"), pick("", "k1", "k2"), []int64{200, 201, 302, 404, 500, 503}[rnd.IntN(6)]
			r.RequestTime = rnd.Int64N(1000)
			r.Latency = record.Latency{Total: r.RequestTime, Upstream: r.RequestTime / 2}
			r.TimeStamp = noon.Add(time.Duration(rnd.IntN(72*3600)) * time.Second)
		}))
	}
	b := aggregate.New(aggregate.Options{})
	for i := range all {
		b.Add(&all[i])
	}
	of := map[string]func(r *record.Record) string{
		"": func(*record.Record) string { return "total" }, "apiid": func(r *record.Record) string { return r.APIID }, "apikeys": func(r *record.Record) string { return r.APIKey },
		"errors": func(r *record.Record) string { return fmt.Sprint(r.ResponseCode) }, "versions": func(r *record.Record) string { return b64(r.APIID + ":v1") },
	}
	sum := int64(0)
	for _, row := range b.Rows() {
		var hits, success, failed, ms, most int64
		for i := range all {
			r := &all[i]
			if r.OrgID != row.Org || r.TimeStamp.Unix()/3600*3600 != row.Bucket || of[row.Dimension](r) != row.Value {
				continue
			}
			hits, ms, most = hits+1, ms+r.RequestTime, max(most, r.RequestTime)
			if r.ResponseCode >= 400 {
				failed++
			} else if r.ResponseCode < 300 {
				success++
			}
		}
		if row.Hits != hits || row.Success != success || row.Error != failed || row.RequestTime != ms || row.MaxLatency != most || hits == 0 {
			t.Fatalf("%+v: %d %d %d %d %d", row, hits, success, failed, ms, most)
		}
		if row.Dimension == "" {
			sum += hits
		}
	}
	if sum != int64(len(all)) {
		t.Errorf("%d of %d records", sum, len(all))
	}
}

package aggregate

import "time"

// Counter is the counters of one row.
type Counter struct {
	Hits, Success, Error                             int64
	RequestTime, Latency, Upstream                   int64 // sums, in milliseconds
	MaxLatency, MinLatency, MaxUpstream, MinUpstream int64
	Open, Closed, In, Out                            int64 // connections and bytes of TCP services
	Identifier, Human                                string
	LastTime                                         time.Time // zero: year 1
	Codes                                            [len(CodeColumns)]int64
}

// CodeColumns are the names of the columns for status codes.
var CodeColumns = [...]string{
	"1x", "200", "201", "2x", "301", "302", "303", "304", "3x", "400", "401", "403", "404", "429", "4x", "500", "501", "502", "503", "504", "5x",
}

// measure is the contribution of one record to a row.
type measure struct {
	code, requestTime, latency, upstream int64
	at                                   time.Time
	graphFailed                          bool // an HTTP success with a GraphQL error
	all                                  bool // of an uptime check: successes are counted by status code too, and there is no latency
}

func (m measure) failed() bool    { return m.code >= 400 }
func (m measure) succeeded() bool { return m.code >= 200 && m.code < 300 }

// column returns the column of a status code, or -1 when it has none.
func column(code int64) int {
	if code < 100 || code >= 600 {
		return -1
	}
	text := [3]byte{byte('0' + code/100), byte('0' + code/10%10), byte('0' + code%10)}
	group := -1
	for i, name := range CodeColumns {
		if name == string(text[:]) {
			return i
		}
		if name[0] == text[0] && name[1:] == "x" {
			group = i
		}
	}
	return group
}

// add counts a record. The minimum times of the total are taken from successes only, those of
// other rows from all records except errors. The first record counts in any case.
func (c *Counter) add(m measure, total bool) {
	first := c.Hits == 0
	c.Hits++
	switch {
	case m.failed() || m.graphFailed:
		c.Error++
	case m.succeeded():
		c.Success++
	}
	if i := column(m.code); i >= 0 && (m.failed() || m.all && m.succeeded()) {
		c.Codes[i]++
	}
	c.RequestTime += m.requestTime
	if total && !m.all || first && !total {
		c.LastTime = m.at
	}
	if m.all {
		return
	}
	c.Latency += m.latency
	c.Upstream += m.upstream
	c.MaxLatency, c.MaxUpstream = max(c.MaxLatency, m.latency), max(c.MaxUpstream, m.upstream)
	switch {
	case first:
		c.MinLatency, c.MinUpstream = m.latency, m.upstream
	case total && m.succeeded(), !total && !m.failed():
		c.MinLatency, c.MinUpstream = min(c.MinLatency, m.latency), min(c.MinUpstream, m.upstream)
	}
}

// join adds the counters of another part of the same row. The names of c stay.
func (c *Counter) join(d *Counter) {
	switch {
	case c.Hits == 0:
		c.MinLatency, c.MinUpstream = d.MinLatency, d.MinUpstream
	case d.Hits > 0:
		c.MinLatency, c.MinUpstream = min(c.MinLatency, d.MinLatency), min(c.MinUpstream, d.MinUpstream)
	}
	c.MaxLatency, c.MaxUpstream = max(c.MaxLatency, d.MaxLatency), max(c.MaxUpstream, d.MaxUpstream)
	if d.LastTime.After(c.LastTime) {
		c.LastTime = d.LastTime
	}
	c.Hits, c.Success, c.Error = c.Hits+d.Hits, c.Success+d.Success, c.Error+d.Error
	c.RequestTime, c.Latency, c.Upstream = c.RequestTime+d.RequestTime, c.Latency+d.Latency, c.Upstream+d.Upstream
	c.Open, c.Closed, c.In, c.Out = c.Open+d.Open, c.Closed+d.Closed, c.In+d.In, c.Out+d.Out
	for i, n := range d.Codes {
		c.Codes[i] += n
	}
}

// Mean returns sum divided by the number of hits; 0 without hits.
func (c *Counter) Mean(sum int64) float64 {
	if c.Hits == 0 {
		return 0
	}
	return float64(sum) / float64(c.Hits)
}

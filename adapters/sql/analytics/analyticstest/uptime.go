package analyticstest

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
)

// Test is one test of an upstream.
type Test struct {
	At       time.Time
	Org, URL string
	Code     int
	Time     int64
}

// FillUptime creates the table of uptime tests and fills it with the counters of some
// tests.
func FillUptime(ctx context.Context, s *analytics.Store, tests []Test) error {
	w := &filler{ctx: ctx, made: map[string]func() error{}}
	all := map[place]*counts{}
	for _, x := range tests {
		values := map[string]string{"": "total", "url": x.URL}
		if x.Code >= 400 {
			values["errors"] = fmt.Sprint(x.Code)
		}
		for dimension, v := range values {
			at := place{analytics.Uptime.Name, x.Org, "", dimension, v, x.At.Truncate(time.Hour).Unix()}
			if all[at] == nil {
				all[at] = &counts{}
			}
			all[at].add(Record{At: x.At, Code: x.Code, Latency: x.Time}, "")
		}
	}
	for at, c := range all {
		c.latency, c.most, c.least = 0, 0, 0 // failed tests report none of these
		if err := w.counters(s.Uptime, at, c); err != nil {
			return err
		}
	}
	return w.flush()
}

package dashboard

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is the traffic of one day.
type Day struct {
	Date    time.Time // its beginning
	Calls   int64
	Errors  int64
	Latency float64 // milliseconds, on average
}

// Usage is what a dashboard knows about calls.
type Usage interface {
	// KeyUsage returns the total of the calls of some keys for each day, in order. keys are names
	// as gateways report them: hashes, where gateways hash. Days without calls are left out.
	KeyUsage(ctx context.Context, keys []string, from, to time.Time) ([]Day, error)
}

// maxDays is how many days a dashboard may report.
const maxDays = 10_000

// KeyUsage implements Usage.
func (e Entries) KeyUsage(ctx context.Context, keys []string, from, to time.Time) ([]Day, error) {
	params := map[string]string{"keyHashes": strings.Join(keys, ",")}
	for name, n := range map[string]int{"startDay": from.Day(), "startMonth": int(from.Month()), "startYear": from.Year(), "EndDay": to.Day(), "EndMonth": int(to.Month()), "EndYear": to.Year()} {
		params[name] = strconv.Itoa(n)
	}
	a, err := e.Wire(ctx, Request{Operation: "activity.keys", Method: "GET", Params: params, Query: map[string][]string{"p": {"-1"}},
		Path: "/api/activity/keys/aggregate/{keyHashes}/{startDay}/{startMonth}/{startYear}/{EndDay}/{EndMonth}/{EndYear}"})
	if err != nil {
		return nil, fmt.Errorf("read the usage of keys: %w", err)
	}
	list, err := items(a.Body, maxDays, "data")
	if err != nil {
		return nil, fmt.Errorf("read the usage of keys: %w", err)
	}
	out := make([]Day, 0, len(list))
	for _, n := range list {
		at := time.Date(int(n.Get("id", "year").Int()), time.Month(n.Get("id", "month").Int()), int(n.Get("id", "day").Int()), 0, 0, 0, 0, time.UTC)
		out = append(out, Day{Date: at, Calls: n.Get("hits").Int(), Errors: n.Get("error").Int(), Latency: n.Get("latency").Float()})
	}
	return out, nil
}

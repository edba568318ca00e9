package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// trafficDays and trafficAPIs are the amount of data: one row of counters a day for each API,
// and one an hour for all together.
const (
	trafficDays = 365
	trafficAPIs = 1000
)

// trafficRows measures views of a year, of 1,000 APIs.
func trafficRows(ctx context.Context, b *bench) ([]row, error) {
	return b.onEach(ctx, trafficOn, onSQLite, onPostgres)
}

func trafficOn(ctx context.Context, b *bench, k backend) (rows []row, err error) {
	days := trafficDays
	if b.short {
		days /= 10
	}
	s, drop, err := b.trafficStore(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(), drop()) }()
	first := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := addTraffic(ctx, s.Counters, first, days); err != nil {
		return nil, err
	}
	writer := s.Writers()[0]
	for more := true; more; { // as the collector does in the background
		if _, more, err = writer.Roll(ctx, first.AddDate(0, 0, days)); err != nil {
			return nil, err
		}
	}
	last := first.AddDate(0, 0, days-1)
	period, err := view.Dates{"1", "1", "2025", fmt.Sprint(last.Day()), fmt.Sprint(int(last.Month())), fmt.Sprint(last.Year())}.In(time.UTC)
	if err != nil {
		return nil, err
	}
	scope, err := tenant.Of("org")
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		id, figure string
		q          view.Query
		want       int
		aim        bool
	}{
		{"all", "all traffic, by day", view.Query{Values: []string{"total"}, Res: view.Day}, days, true},
		{"one", "one API, by day", view.Query{Dimension: view.APIs, Values: []string{"api-500"}, Res: view.Day}, days, true},
		{"each", "each of 1,000 APIs", view.Query{Dimension: view.APIs, ByAPI: true}, trafficAPIs, true},
	} {
		one.q.Period, one.q.AtMost = period, 10_000
		var times []float64
		for range b.rounds {
			begin := time.Now()
			_, total, err := s.Count(ctx, scope, one.q)
			if err != nil || total != one.want {
				return rows, errors.Join(err, fmt.Errorf("%s: %d results, not %d", one.figure, total, one.want))
			}
			times = append(times, float64(time.Since(begin).Microseconds())/1000)
		}
		r := row{id: "traffic/" + one.id, figure: fmt.Sprintf("%s: a year of %s", k.name, one.figure), value: significant(median(times)), unit: "ms"}
		if one.aim {
			r.aim = atMost(median(times), 50, "ms")
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// trafficStore opens an empty database for traffic.
func (b *bench) trafficStore(ctx context.Context, k backend) (s *analytics.Store, drop func() error, err error) {
	drop = func() error { return nil }
	in := *b
	if k.name == onPostgres.name {
		if in.postgres, drop, err = b.schema(ctx); err != nil {
			return nil, drop, err
		}
	}
	s, err = in.analyticsOn(k)
	b.files = in.files
	return s, drop, err
}

// addTraffic writes the counters of some days.
func addTraffic(ctx context.Context, p analytics.Place, first time.Time, days int) error {
	statements := analytics.Usage.Create(p.Dialect, analytics.Usage.Name)
	const columns = `"id", "org_id", "dimension", "dimension_value", "timestamp", "counter_hits", "counter_success", "counter_error", "counter_total_request_time", "counter_total_latency",
		"counter_total_upstream_latency", "counter_max_latency", "counter_min_latency", "counter_max_upstream_latency", "counter_min_upstream_latency", "counter_last_time"`
	// For each API 10 calls are counted in each hour.
	add := func(dimension, value, at, rows string, hours int) string {
		counts := fmt.Sprintf("%d, %d, %d, %d, %d, %d, 40, 2, 35, 1", 10*hours, 9*hours, hours, 120*hours, 120*hours, 100*hours)
		return `insert into "tyk_aggregated" (` + columns + `) ` + rows + ` select '` + dimension + `' || ` + value + ` || '/' || ` + at + `, 'org', '` + dimension + `', ` + value + `, ` + at +
			`, ` + counts + `, '2025-06-01 00:00:00+00:00' from `
	}
	numbers := func(name string, n int) string {
		return fmt.Sprintf("%s(n) as (select 0 union all select n + 1 from %s where n < %d)", name, name, n-1)
	}
	at := func(seconds int, n string) string { return fmt.Sprintf("(%d + %s * %d)", first.Unix(), n, seconds) }
	statements = append(statements,
		add("", "'total'", at(3600, "h.n"), "with recursive "+numbers("h", 24*days), trafficAPIs)+"h",
		add("apiid", "'api-' || a.n", at(86400, "d.n"), "with recursive "+numbers("a", trafficAPIs)+", "+numbers("d", days), 24)+"d cross join a",
		"analyze")
	for _, text := range statements {
		if _, err := p.Writers.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

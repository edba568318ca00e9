package analytics_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/analytics/view"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// The first day of the traffic.
var firstRolled = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

// twin is the same traffic twice: with and without a rollup.
type twin struct {
	t              *testing.T
	rolled, direct *analytics.Store
	scope          tenant.Scope
	days           int
}

// TestRollup: queries have the same results as without a rollup, whenever counters are rolled
// up, while others write and delete some.
func TestRollup(t *testing.T) {
	for sharded, days := range map[bool]int{false: 150, true: 40} {
		t.Run(fmt.Sprint("sqlite, sharded ", sharded), func(t *testing.T) {
			testRollup(t, days, func() analytics.Place {
				r, w, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.Default())
				if err != nil {
					t.Fatal(err)
				}
				return analytics.Place{Readers: r, Writers: w, Dialect: analytics.SQLite, Sharded: sharded}
			})
		})
		t.Run(fmt.Sprint("postgres, sharded ", sharded), func(t *testing.T) {
			testRollup(t, days, func() analytics.Place {
				db, err := postgres.Plain(harness.Database(t), 4)
				if err != nil {
					t.Fatal(err)
				}
				return analytics.Place{Readers: db, Writers: db, Dialect: analytics.Postgres, Sharded: sharded}
			})
		})
	}
}

func testRollup(t *testing.T, days int, open func() analytics.Place) {
	w := &twin{t: t, days: days}
	var err error
	if w.scope, err = tenant.Of("a"); err != nil {
		t.Fatal(err)
	}
	records := analyticstest.Traffic{Seed: 7, Records: 20 * days, Days: w.days, From: firstRolled, APIs: 12, Keys: 3, Orgs: []string{"a", "a", "b"}}.Make()
	for _, s := range []**analytics.Store{&w.rolled, &w.direct} {
		p := open()
		*s = &analytics.Store{Counters: p, Records: p, Uptime: p}
		t.Cleanup(func() { _ = (*s).Close() })
		if err := analyticstest.Fill(t.Context(), *s, records); err != nil {
			t.Fatal(err)
		}
	}
	year := w.question(firstRolled, firstRolled.AddDate(0, 0, w.days))
	w.covered(year, 0, 1)
	w.compare()
	w.roll(w.days)
	blocks, gaps, err := w.rolled.Covered(t.Context(), "a", year)
	if err != nil || blocks == 0 || blocks > 12 || gaps != 0 {
		t.Errorf("%d blocks, %d gaps, %v", blocks, gaps, err)
	}
	w.compare()
	// A pump adds to the counters of APIs first and then to their total; in between nothing is
	// rolled up.
	at := firstRolled.AddDate(0, 0, w.days/2)
	w.change(at, `update {t} set counter_hits = counter_hits + 5, counter_error = counter_error + 2 where org_id = 'a' and dimension = 'apiid'`)
	w.roll(w.days)
	w.change(at, `update {t} as o set counter_hits = counter_hits + (select sum(5) from {t} where org_id = 'a' and dimension = 'apiid' and timestamp = o.timestamp),
		counter_error = counter_error + (select sum(2) from {t} where org_id = 'a' and dimension = 'apiid' and timestamp = o.timestamp) where org_id = 'a' and dimension = ''`)
	if more, _, err := w.rolled.Covered(t.Context(), "a", year); err != nil || more <= blocks {
		t.Errorf("a block that does not agree is used: %d, %v", more, err)
	}
	w.compare()
	w.roll(w.days)
	w.covered(year, blocks, 0)
	w.compare()
	// A day is deleted directly, and the collector deletes old rows.
	w.change(firstRolled.AddDate(0, 0, w.days*2/3), `delete from {t} where org_id = 'a'`)
	w.compare()
	w.roll(w.days)
	w.compare()
	w.covered(year, blocks, 0)
	w.change(firstRolled, `delete from {t} where dimension = ''`) // it begins with totals
	w.roll(w.days)
	w.compare()
}

// question returns a query for the totals of each API.
func (w *twin) question(from, to time.Time) view.Query {
	w.t.Helper()
	zone := []*time.Location{time.UTC, time.FixedZone("ahead", 5*3600+1800), time.FixedZone("behind", -9*3600)}[rand.IntN(3)]
	if from.Equal(firstRolled) {
		zone = time.UTC
	}
	last := to.AddDate(0, 0, -1)
	p, err := view.Dates{fmt.Sprint(from.Day()), fmt.Sprint(int(from.Month())), fmt.Sprint(from.Year()), fmt.Sprint(last.Day()), fmt.Sprint(int(last.Month())), fmt.Sprint(last.Year())}.In(zone)
	if err != nil {
		w.t.Fatal(err)
	}
	return view.Query{Dimension: view.APIs, ByAPI: true, Period: p, AtMost: 1000, Order: view.Order{By: view.ByHits, Desc: true}}
}

// covered checks the number of blocks and gaps of a result.
func (w *twin) covered(q view.Query, blocks, gaps int) {
	w.t.Helper()
	if b, g, err := w.rolled.Covered(w.t.Context(), "a", q); err != nil || b != blocks || g != gaps {
		w.t.Errorf("%d blocks and %d gaps, %v; want %d and %d", b, g, err, blocks, gaps)
	}
}

// roll rolls up all days before one.
func (w *twin) roll(days int) {
	w.t.Helper()
	writer := w.rolled.Writers()[0]
	for {
		_, more, err := writer.Roll(w.t.Context(), firstRolled.AddDate(0, 0, days))
		if err != nil {
			w.t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

// change writes to the counters of a day in both databases.
func (w *twin) change(at time.Time, statement string) {
	w.t.Helper()
	for _, s := range []*analytics.Store{w.rolled, w.direct} {
		name := analytics.Usage.Name
		if s.Counters.Sharded {
			name = analytics.Usage.Shard(at)
		}
		of := fmt.Sprintf(" and timestamp >= %d and timestamp < %d", at.Unix(), at.AddDate(0, 0, 1).Unix())
		if _, err := s.Counters.Writers.ExecContext(w.t.Context(), strings.ReplaceAll(statement, "{t}", name)+of); err != nil {
			w.t.Fatal(err)
		}
	}
}

// compare compares the results of both for periods of all kinds.
func (w *twin) compare() {
	w.t.Helper()
	for i := range 15 {
		from, n := rand.IntN(w.days), 1+rand.IntN(w.days)
		if i == 0 {
			from, n = 0, w.days
		}
		q := w.question(firstRolled.AddDate(0, 0, from), firstRolled.AddDate(0, 0, from+n))
		if i%4 == 1 {
			q.Values = []string{analyticstest.API(1), analyticstest.API(6), "none"}
		}
		if i%5 == 1 {
			q.ByAPI, q.Offset = rand.IntN(2) == 0, rand.IntN(3)
		}
		have, want := ask(w.t, w.rolled, w.scope, q), ask(w.t, w.direct, w.scope, q)
		if have != want {
			w.t.Fatalf("%s, %d days:\n%+v\nwant\n%+v", q.Period.From, n, have, want)
		}
	}
}

func ask(t *testing.T, s *analytics.Store, scope tenant.Scope, q view.Query) string {
	t.Helper()
	rows, total, err := s.Count(context.WithoutCancel(t.Context()), scope, q)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %+v", total, rows)
}

package analytics_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/analytics/aggregate"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	port "github.com/gatehouse-io/gatehouse/ports/analytics"
)

// BenchmarkStore stores pieces of 4,000 records.
func BenchmarkStore(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		readers, db, err := sqlite.Plain(filepath.Join(b.TempDir(), "analytics.db"), slog.Default())
		if err != nil {
			b.Fatal(err)
		}
		benchStore(b, analytics.Place{Readers: readers, Writers: db, Dialect: analytics.SQLite})
	})
	b.Run("postgres", func(b *testing.B) {
		db, err := postgres.Plain(harness.Database(b), 4)
		if err != nil {
			b.Fatal(err)
		}
		benchStore(b, analytics.Place{Readers: db, Writers: db, Dialect: analytics.Postgres})
	})
}

func benchStore(b *testing.B, p analytics.Place) {
	s := analytics.Store{Counters: p, Records: p, Uptime: p}
	defer s.Close()
	w := s.Writers()[0]
	batch := aggregate.New(aggregate.Options{})
	var all []record.Record
	for i := range 4000 {
		all = append(all, call(func(r *record.Record) {
			r.APIID, r.APIKey, r.Path, r.TrackPath = fmt.Sprint("api-", i%50), fmt.Sprintf("%08x", i%500), fmt.Sprint("/orders/", i%200), i%2 == 0
		}))
		batch.Add(&all[i])
	}
	rows := batch.Rows()
	n := 0
	for b.Loop() {
		n++
		if err := w.Store(b.Context(), port.Piece{Claim: port.Claim{Claim: fmt.Sprint("c", n)}, To: 4000, Records: all, Counts: rows, At: time.Now()}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(4000*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

package app_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// traffic returns what gateways reported of four days of the organisations of transcripts.
func traffic(t testing.TB) *sqlanalytics.Store {
	t.Helper()
	readers, writers, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	at := sqlanalytics.Place{Readers: readers, Writers: writers, Dialect: sqlanalytics.SQLite}
	s := &sqlanalytics.Store{Counters: at, Records: at, Uptime: at}
	t.Cleanup(func() { _ = s.Close() })
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	records := analyticstest.Traffic{Seed: 11, Records: 120, Days: 4, From: first, APIs: 10, Keys: 3, Orgs: []string{"org-a", "org-b"}}.Make()
	if err := analyticstest.Fill(t.Context(), s, records); err != nil {
		t.Fatal(err)
	}
	tests := []analyticstest.Test{
		{At: first, Org: "org-a", URL: "http://up.example/", Code: 200, Time: 12}, {At: first.Add(time.Hour), Org: "org-a", URL: "http://up.example/", Code: 521, Time: 3},
		{At: first, Org: "org-a", URL: "http://also.example/", Code: 204, Time: 7}, {At: first, Org: "org-b", URL: "http://other.example/", Code: 200, Time: 1},
	}
	if err := analyticstest.FillUptime(t.Context(), s, tests); err != nil {
		t.Fatal(err)
	}
	return s
}

package console_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics/analyticstest"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// reported is a world with traffic reported by gateways in the first week of 2026.
func reported(t *testing.T) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "analytics.db")
	w := newWorld(t, "SVC_DB_STORAGE_ANALYTICS_TYPE=sqlite", "SVC_DB_STORAGE_ANALYTICS_CONNECTIONSTRING="+file, "SVC_DB_STORAGE_LOGS_TYPE=sqlite", "SVC_DB_STORAGE_LOGS_CONNECTIONSTRING="+file)
	readers, writers, err := sqlite.Plain(file, slog.New(slog.DiscardHandler))
	must(t, err)
	at := sqlanalytics.Place{Readers: readers, Writers: writers, Dialect: sqlanalytics.SQLite}
	s := &sqlanalytics.Store{Counters: at, Records: at, Uptime: at}
	defer func() { must(t, s.Close()) }()
	org := fmt.Sprint(w.ask("GET", "/api/users/me", "")["org_id"])
	must(t, analyticstest.Fill(t.Context(), s, analyticstest.Traffic{Seed: 11, Records: 400, Days: 7, From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), APIs: 6, Keys: 3, Orgs: []string{org}}.Make()))
	return w
}

// TestLogsPage: single calls of the last week or of a chosen period, each with its time and
// outcome.
func TestLogsPage(t *testing.T) {
	t.Parallel()
	w := reported(t)
	b := w.signIn(t)
	must(t, b.Run("localStorage.setItem('gatehouse.zone', 'UTC')", nil))
	b.Expect("/api/users/me")
	b.visit("logs")
	b.See("There are no single calls.")
	from := value[string](b, "document.getElementById('filter-start').value")
	if at, err := time.Parse("2006-01-02T15:04", from); err != nil || time.Since(at) < 6*24*time.Hour || time.Since(at) > 8*24*time.Hour {
		t.Errorf("they begin at %q; %v", from, err)
	}
	b.Fill("Start", "2026-01-01T00:00")
	b.Fill("End", "2026-01-02T00:00")
	b.Wait("location.hash.includes('start=1767225600') && location.hash.includes('end=1767312000')")
	b.Wait("['Timestamp', 'Method', 'Path', 'Response code'].every((name, i) => document.querySelectorAll('th[scope=col]')[i]?.innerText.startsWith(name)) && document.querySelector('tbody time').dateTime.startsWith('2026-01-0')")
}

// TestAnalyticsPage: charts with their numbers, of all APIs and of one, by day and by hour,
// and of a key.
func TestAnalyticsPage(t *testing.T) {
	t.Parallel()
	w := reported(t)
	b := w.signIn(t)
	must(t, b.Run("localStorage.setItem('gatehouse.zone', 'UTC')", nil))
	b.Expect("/api/users/me")
	const bars, total = "document.querySelectorAll('.chart rect.calm').length", "document.querySelector('.figures dd').innerText"
	b.visit("analytics?from=2026-01-01&until=2026-01-07")
	b.Wait(bars + " === 7 && document.querySelectorAll('.tall tbody tr').length === 7 && document.querySelectorAll('.halves table').length === 3")
	all := value[string](b, total)
	if rows := value[int](b, "[...document.querySelectorAll('.tall tbody tr td:nth-child(2)')].reduce((n, d) => n + Number(d.innerText), 0)"); fmt.Sprint(rows) != all {
		t.Errorf("%d calls in the table, %s in all", rows, all)
	}
	b.Looks("analytics")
	name := value[string](b, "document.querySelector('[aria-label=APIs] .link').innerText")
	b.Click(name)
	b.Wait(total + " !== " + quote(all) + " && document.querySelectorAll('.halves .panel').length === 2")
	b.Fill("To", "2026-01-02")
	b.See("Calls in each hour")
	b.Wait(bars + " === 48")
	b.visit("analytics?from=2026-01-01&until=2026-01-07&key=" + analyticstest.Key(1))
	b.See("What the key called")
	b.Wait("document.querySelector('.halves table') && " + total + " !== '0'")
	b.visit("analytics?from=2026-01-07&until=2026-01-01")
	b.See("The first day must not be after the last one")
}

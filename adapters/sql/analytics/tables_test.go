package analytics_test

import (
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// TestTables creates every table twice, plain and for a day, and counts its columns.
func TestTables(t *testing.T) {
	_, db, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	day := time.Date(2026, 11, 3, 23, 0, 0, 0, time.UTC)
	want := map[string]int{"tyk_analytics": 52, "tyk_analytics_graph": 58, "tyk_analytics_mcp": 55, "tyk_aggregated": 48, "tyk_graph_aggregated": 49, "tyk_mcp_aggregated": 49, "tyk_uptime_analytics": 48}
	for _, table := range analytics.Tables {
		for _, name := range []string{table.Name, table.Shard(day), table.Name} {
			if !strings.HasSuffix(name, "_20261103") && name != table.Name {
				t.Error(name)
			}
			for _, statement := range table.Create(analytics.SQLite, name) {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatalf("%s: %v", statement, err)
				}
			}
		}
		if n := columnsOf(t, db, table.Name); n != want[table.Name] || n != len(table.Columns) {
			t.Errorf("%s: %d columns", table.Name, n)
		}
	}
}

// columnsOf counts the columns of a table.
func columnsOf(t *testing.T, db *sql.DB, table string) int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "select * from "+analytics.Quote(table))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err := errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return len(columns)
}

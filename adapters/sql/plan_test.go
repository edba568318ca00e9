package sql

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPlans checks that no query scans a table: SQLite's planner has no statistics and
// would rather walk all records of a kind than look up a key.
func TestPlans(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := Migrate(t.Context(), db, Dialect{Name: "sqlite", Begin: "begin immediate"}); err != nil {
		t.Fatal(err)
	}
	one, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		scope tenant.Scope
		q     store.Query
		first string
	}{
		{one, store.Query{Kind: "k", Index: "i", Value: "v"}, "SEARCH k USING PRIMARY KEY (kind=? AND name=? AND value=? AND org=?)"},
		{tenant.Everyone("test"), store.Query{Kind: "k", Index: "i", Value: "v"}, "SEARCH k USING PRIMARY KEY (kind=? AND name=? AND value=?)"},
		{one, store.Query{Kind: "k", Index: "i", Value: "v", After: "x"}, "SEARCH k USING PRIMARY KEY (kind=? AND name=? AND value=? AND org=? AND id>?)"},
		{one, store.Query{Kind: "k"}, "SEARCH r USING INDEX sqlite_autoindex_record_1 (kind=? AND org=?)"},
		{one, store.Query{Kind: "k", Desc: true}, "SEARCH r USING INDEX sqlite_autoindex_record_1 (kind=? AND org=?)"},
		{one, store.Query{Kind: "k", Index: "i", Sorted: true}, "SEARCH k USING COVERING INDEX record_key_sorted (kind=? AND name=? AND org=?)"},
		{one, store.Query{Kind: "k", Index: "i", Sorted: true, Prefix: "p"}, "SEARCH k USING COVERING INDEX record_key_sorted (kind=? AND name=? AND org=? AND value>? AND value<?)"},
		{one, store.Query{Kind: "k", Index: "i", Sorted: true, Prefix: "p", Desc: true},
			"SEARCH k USING COVERING INDEX record_key_sorted (kind=? AND name=? AND org=? AND value>? AND value<?)"},
		{tenant.Everyone("test"), store.Query{Kind: "k", ID: "1"}, "SEARCH r USING INDEX record_by_id (kind=? AND id=?)"},
	} {
		r := &reader{scope: c.scope}
		text, args := r.page(c.q, store.Record{}, true, 10, 0)
		plan := explainPlan(t, db, text, args)
		if len(plan) == 0 || plan[0] != c.first {
			t.Errorf("%+v: %q", c.q, plan)
		}
		for _, step := range plan {
			if strings.Contains(step, "SCAN") || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%+v: %s", c.q, step)
			}
		}
	}
}

// TestPlansOfRemovals checks that index rows are found by their keys, however many are
// deleted at once.
func TestPlansOfRemovals(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := Migrate(t.Context(), db, Dialect{Name: "sqlite", Begin: "begin immediate"}); err != nil {
		t.Fatal(err)
	}
	f := newFlusher()
	for st, width := range map[*statement]int{&f.drop: 3, &f.sweepParts: 3, &f.freeTexts: 3, &f.dropKeys: 5, &f.dropRefs: 5} {
		st.rows = [][]any{make([]any, width)}
		plan := explainPlan(t, db, st.text(batches[0], false), make([]any, batches[0]*width))
		if len(plan) == 0 || !strings.HasPrefix(plan[0], "SEARCH record") && !strings.HasPrefix(plan[0], "SEARCH long_text") {
			t.Errorf("%s: %q", st.head, plan)
		}
	}
}

func explainPlan(t *testing.T, db *sql.DB, text string, args []any) (steps []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "explain query plan "+text, args...)
	if err != nil {
		t.Fatal(text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

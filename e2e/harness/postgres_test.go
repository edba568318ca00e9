package harness_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// deadline bounds one exchange with a server that answers.
const deadline = 20 * time.Second

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(within(t), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func text(t *testing.T, db *sql.DB, query string, args ...any) (value string) {
	t.Helper()
	if err := db.QueryRowContext(within(t), query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

func TestDatabasesAreIsolatedEmptyAndDropped(t *testing.T) {
	server := open(t, harness.Postgres(t).DSN())
	const count = "SELECT count(*)::text FROM pg_database WHERE datname LIKE 'gatehouse\\_%'"
	before := text(t, server, count)
	t.Run("while in use", func(t *testing.T) {
		first, second := open(t, harness.Database(t)), open(t, harness.Database(t))
		for _, db := range []*sql.DB{first, second} {
			exec(t, db, "CREATE TABLE note (body text)") // fails if the other one's table is visible
		}
		exec(t, first, "INSERT INTO note VALUES ('first')")
		if got := text(t, second, "SELECT count(*)::text FROM note"); got != "0" {
			t.Errorf("the second database sees %s rows of the first", got)
		}
		// The subtest ends while these connections are open: dropping must not wait for them.
		if _, err := first.Conn(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	if after := text(t, server, count); after != before {
		t.Errorf("%s databases before, %s after", before, after)
	}
}

func TestServersAreSharedUnlessAskedOtherwise(t *testing.T) {
	first, second := harness.Postgres(t), harness.Redis(t)
	for range 2 {
		if harness.Postgres(t) != first || harness.Redis(t) != second {
			t.Error("two calls gave two servers")
		}
	}
}

func TestPostgresIsDurable(t *testing.T) {
	db := open(t, harness.Postgres(t).DSN())
	for name, want := range map[string]string{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"} {
		if got := text(t, db, "SELECT current_setting($1)", name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

func TestPostgresWantsItsPassword(t *testing.T) {
	addr := harness.NewPostgres(t).Addr()
	db := open(t, "postgres://postgres:wrong@"+addr+"/postgres?sslmode=disable")
	if err := db.PingContext(within(t)); err == nil {
		t.Error("a wrong password was accepted")
	}
}

func TestPostgresKeepsDataAndAddressOverCrashes(t *testing.T) {
	server := harness.NewPostgres(t)
	dsn, db := server.DSN(), open(t, server.DSN())
	exec(t, db, "CREATE TABLE note (body text)")
	want := ""
	for _, crash := range []string{"a", "b"} {
		exec(t, db, "INSERT INTO note VALUES ('"+crash+"')")
		want += crash
		server.Stop(t)
		server.Stop(t) // a second call changes nothing
		if err := db.PingContext(within(t)); err == nil {
			t.Fatal("a stopped server answers")
		}
		server.Start(t)
		if server.DSN() != dsn {
			t.Fatalf("the connection string became %s", server.DSN())
		}
		got := text(t, open(t, dsn), "SELECT string_agg(body, '' ORDER BY body) FROM note")
		if got != want {
			t.Fatalf("after crash %s the rows are %q, want %q", crash, got, want)
		}
	}
}

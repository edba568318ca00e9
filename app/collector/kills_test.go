package collector_test

import (
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/records"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
)

// Environment variables that make a process of this test a collector: where Redis and
// the database are.
const (
	variableRedis    = "GATEHOUSE_TEST_COLLECTOR_REDIS"
	variableSQLite   = "GATEHOUSE_TEST_COLLECTOR_SQLITE"
	variablePostgres = "GATEHOUSE_TEST_COLLECTOR_POSTGRES"
)

// TestProcess is the process that TestKills kills. In a normal test run it does
// nothing.
func TestProcess(t *testing.T) {
	addr := os.Getenv(variableRedis)
	if addr == "" {
		return
	}
	client, err := redis.Open(redis.Config{Addrs: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	set := collector.Settings{Queue: redis.NewClaims(client), Decoder: records.Decoder{}, Every: 5 * time.Millisecond, Holder: "it", Bounds: analytics.Bounds{Entries: 50}}
	for _, w := range openStore(t, os.Getenv(variableSQLite), os.Getenv(variablePostgres)).Writers() {
		set.Sinks = append(set.Sinks, w)
	}
	s, err := collector.New(set, newLeases(t), time.Now, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("running")
	_ = s.Run(t.Context()) // until it is killed
}

// openStore opens a database with all tables.
func openStore(t *testing.T, path, dsn string) *sqlanalytics.Store {
	t.Helper()
	place := sqlanalytics.Place{Dialect: sqlanalytics.SQLite}
	var err error
	if dsn == "" {
		place.Readers, place.Writers, err = sqlite.Plain(path, slog.Default())
	} else {
		var db *sql.DB
		db, err = postgres.Plain(dsn, 4)
		place = sqlanalytics.Place{Readers: db, Writers: db, Dialect: sqlanalytics.Postgres}
	}
	if err != nil {
		t.Fatal(err)
	}
	return &sqlanalytics.Store{Counters: place, Records: place, Uptime: place}
}

// TestKills kills a process that collects, with SIGKILL, at random moments while gateways
// leave records: 5 times, and 50 times in the long form.
func TestKills(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { kills(t, filepath.Join(t.TempDir(), "analytics.db"), "") })
	t.Run("postgres", func(t *testing.T) { kills(t, "", harness.Database(t)) })
}

func kills(t *testing.T, path, dsn string) {
	times := 5
	if os.Getenv("GATEHOUSE_E2E_LONG") != "" {
		times = 50
	}
	addr := harness.NewRedis(t).Addr()
	store := openStore(t, path, dsn)
	t.Cleanup(func() { _ = store.Close() })
	w := &world{t: t, rdb: goredis.NewClient(&goredis.Options{Addr: addr}), db: store.Counters.Readers}
	t.Cleanup(func() { _ = w.rdb.Close() })
	calls, checks := 0, 0
	all := analytics.Lists()
	start := func() *exec.Cmd {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestProcess$", "-test.timeout", "10m")
		child.Env = append(os.Environ(), variableRedis+"="+addr, variableSQLite+"="+path, variablePostgres+"="+dsn)
		said, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := said.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return child
	}
	for range times {
		child := start()
		for end := time.Now().Add(time.Duration(rand.IntN(600)) * time.Millisecond); time.Now().Before(end); time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond) {
			l, n := all[rand.IntN(len(all))], 1+rand.IntN(300)
			w.push(l, n)
			if l.Uptime {
				checks += n
			} else {
				calls += n
			}
		}
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	before := w.number("select count(*) from tyk_analytics")
	last := start()
	w.want(calls, checks)
	_ = last.Process.Kill()
	_ = last.Wait()
	t.Logf("%d kills: %d calls, %d of them before the last start, and %d checks, each counted once", times, calls, before, checks)
}

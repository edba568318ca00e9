package scenarios

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	goredis "github.com/redis/go-redis/v9"
	_ "modernc.org/sqlite"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestCollectorIsKilled kills the collecting process at random moments, while gateways
// push records: each is stored and counted exactly once.
func TestCollectorIsKilled(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		dir := t.TempDir()
		killCollectors(t, 1, onSQLite(dir), "sqlite", filepath.Join(dir, "analytics.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := harness.Database(t)
		killCollectors(t, 2, onPostgres("", dsn), "pgx", dsn)
	})
}

func killCollectors(t *testing.T, processes int, env environment, driver, dsn string) {
	kills := 6
	if long() {
		kills = 50
	}
	r := random(t)
	addr := harness.NewRedis(t).Addr()
	rdb := goredis.NewClient(&goredis.Options{Addr: addr})
	t.Cleanup(func() { _ = rdb.Close() })
	env = env.bootstrapping().with(environment{"REDISADDRS": addr, "ANALYTICS_COLLECT": "true", "ANALYTICS_COLLECTINTERVAL": "100ms", "ANALYTICS_TRACKALLPATHS": "true"})
	var all []*service
	if processes == 1 {
		all = []*service{serve(t, env)}
	} else {
		all = launchAll(t, processes, env)
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var pushed, checks atomic.Int64
	var gateways sync.WaitGroup
	for g := range 3 {
		gateways.Go(func() { report(ctx, t, rdb, g, &pushed, &checks) })
	}
	for kill := range kills {
		one := all[kill%len(all)]
		time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
		one.process.Kill()
		one.restart(t)
	}
	stop()
	gateways.Wait()
	number := func(query string) (n int64) {
		_ = db.QueryRowContext(t.Context(), query).Scan(&n) // an error means that nothing is there yet
		return n
	}
	until(t, 3*time.Minute, "all records are stored", func() error {
		if keys := rdb.Keys(t.Context(), "*analytics*").Val(); len(keys) > 0 {
			return fmt.Errorf("Redis has %q", keys)
		}
		return nil
	})
	for query, want := range map[string]int64{
		"select count(*) from tyk_analytics":                                                pushed.Load(),
		"select count(distinct path) from tyk_analytics":                                    pushed.Load(),
		"select sum(counter_hits) from tyk_aggregated where dimension = ''":                 pushed.Load(),
		"select sum(counter_total_latency) from tyk_aggregated where dimension = 'apikeys'": pushed.Load() * 7,
		"select sum(counter_hits) from tyk_uptime_analytics where dimension = 'url'":        checks.Load(),
		"select count(*) from gatehouse_asides":                                             0,
	} {
		if got := number(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	t.Logf("%d kills: %d records and %d checks, each counted once", kills, pushed.Load(), checks.Load())
}

// TestCollectedCalls: requests to a gateway are counted, for the API that was created
// here.
func TestCollectedCalls(t *testing.T) {
	dir, addr := t.TempDir(), harness.NewRedis(t).Addr()
	s := serve(t, onSQLite(dir).bootstrapping().with(environment{"REDISADDRS": addr, "ANALYTICS_COLLECT": "true", "ANALYTICS_COLLECTINTERVAL": "100ms"}))
	g := gatewaysim.New(gatewaysim.Config{DashboardURL: "http://" + s.addr, NodeSecret: nodeSecret, Redis: gatewaysim.Redis{Addr: addr}, Records: true, Intervals: haste})
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Kill)
	body := json.RawMessage(`{"api_definition":{"api_id":"counted","name":"Counted","active":true,"use_keyless":true,"proxy":{"listen_path":"/counted/","target_url":"http://127.0.0.1:1/"}}}`)
	if err := s.api.call(t.Context(), "POST", classicAPIs, body, nil); err != nil {
		t.Fatal(err)
	}
	ask := func(path string) int {
		w := httptest.NewRecorder()
		g.Handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	until(t, time.Minute, "the gateway serves the API", func() error {
		if code := ask("/counted/first"); code != http.StatusOK {
			return fmt.Errorf("status %d", code)
		}
		return nil
	})
	for range 4 {
		ask("/counted/more")
	}
	ask("/unknown/")
	db, err := sql.Open("sqlite", filepath.Join(dir, "analytics.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	until(t, time.Minute, "the calls are counted", func() error {
		var hits, success, calls int
		if err := db.QueryRowContext(t.Context(), "select coalesce(sum(counter_hits), 0), coalesce(sum(counter_success), 0), (select count(*) from tyk_analytics) from tyk_aggregated where dimension = 'apiid' and dimension_value = 'counted' and org_id = $1", orgID).
			Scan(&hits, &success, &calls); err != nil || hits != 5 || success != 5 || calls != 5 {
			return fmt.Errorf("%d hits, %d successes, %d calls: %w", hits, success, calls, err)
		}
		return nil
	})
}

// report pushes records to random lists until ctx ends.
func report(ctx context.Context, t *testing.T, rdb *goredis.Client, gateway int, pushed, checks *atomic.Int64) {
	for i := 0; ctx.Err() == nil; i++ {
		list, protobuf := gatewaysim.RecordList, i%3 == 0
		if n := rand.IntN(4); n > 0 {
			list += fmt.Sprint("_", n)
		}
		if protobuf {
			list += "_protobuf"
		}
		var entries []any
		for n := range 1 + rand.IntN(200) {
			rec := gatewaysim.Record{
				Time: time.Now(), Method: "GET", Path: fmt.Sprintf("/%d/%d/%d", gateway, i, n), Code: 200, RequestTime: 7, Upstream: 5, API: "a1", Org: orgID, Key: "00000000",
				Tags: []string{"org-" + orgID}, Request: strings.Repeat("QUJD", rand.IntN(200)),
			}
			if protobuf {
				entries = append(entries, rec.Protobuf())
			} else {
				entries = append(entries, rec.Msgpack())
			}
		}
		// A push whose outcome is unknown would spoil the count.
		if err := rdb.RPush(context.WithoutCancel(ctx), list, entries...).Err(); err != nil {
			t.Error(err)
			return
		}
		pushed.Add(int64(len(entries)))
		check := gatewaysim.Check{Time: time.Now(), URL: "http://up.example/", Code: 200, API: "a1", Org: orgID}.Msgpack()
		if err := rdb.RPush(context.WithoutCancel(ctx), gatewaysim.UptimeList, check).Err(); err != nil {
			t.Error(err)
			return
		}
		checks.Add(1)
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
	}
}

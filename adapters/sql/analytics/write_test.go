package analytics_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
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

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

// world is a database with a Writer of all tables.
type world struct {
	t *testing.T
	*analytics.Writer
	db      *sql.DB
	dialect string
	n       int // claims so far
}

// each runs a test on all databases.
func each(t *testing.T, sharded bool, test func(w *world)) {
	t.Run("sqlite", func(t *testing.T) {
		readers, db, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.Default())
		if err != nil {
			t.Fatal(err)
		}
		test(newWorld(t, analytics.Place{Readers: readers, Writers: db, Dialect: analytics.SQLite, Sharded: sharded}))
	})
	t.Run("postgres", func(t *testing.T) {
		db, err := postgres.Plain(harness.Database(t), 4)
		if err != nil {
			t.Fatal(err)
		}
		test(newWorld(t, analytics.Place{Readers: db, Writers: db, Dialect: analytics.Postgres, Sharded: sharded}))
	})
}

func newWorld(t *testing.T, p analytics.Place) *world {
	s := analytics.Store{Counters: p, Records: p, Uptime: p}
	t.Cleanup(func() { _ = s.Close() })
	writers := s.Writers()
	if len(writers) != 1 {
		t.Fatalf("%d writers", len(writers))
	}
	return &world{t: t, Writer: writers[0], db: p.Writers, dialect: p.Dialect.Name}
}

func call(change func(*record.Record)) record.Record {
	r := record.Record{
		TimeStamp: noon, ExpireAt: noon.AddDate(100, 0, 0), OrgID: "o1", APIID: "a1", APIName: "First", APIVersion: "v1", ResponseCode: 200, RequestTime: 10,
		Path: "/p", APIKey: "k1", Tags: []string{"gold"}, Latency: record.Latency{Total: 10, Upstream: 8, Gateway: 2},
	}
	change(&r)
	return r
}

// piece returns a piece of records, with a new claim.
func (w *world) piece(records ...record.Record) port.Piece {
	w.n++
	b := aggregate.New(aggregate.Options{TrackAll: true})
	for i := range records {
		b.Add(&records[i])
	}
	return port.Piece{Claim: port.Claim{Claim: fmt.Sprint("c", w.n)}, To: int64(len(records)), Records: records, Counts: b.Rows(), At: noon}
}

func (w *world) store(p port.Piece) {
	w.t.Helper()
	if err := w.Store(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
}

// value reads one value as text.
func (w *world) value(query string) (out string) {
	w.t.Helper()
	var v sql.NullString
	if err := w.db.QueryRowContext(w.t.Context(), query).Scan(&v); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return v.String
}

func (w *world) want(query, want string) {
	w.t.Helper()
	if got := w.value(query); got != want && strings.TrimRight(strings.TrimRight(got, "0"), ".") != want {
		w.t.Errorf("%s: %q, want %q", query, got, want)
	}
}

// TestFrozenWriter: a process that is frozen while it stores a claim does not block the process
// that takes over.
func TestFrozenWriter(t *testing.T) {
	db, err := postgres.Plain(harness.Database(t), 4)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, analytics.Place{Readers: db, Writers: db, Dialect: analytics.Bounded(analytics.Postgres, 300*time.Millisecond)})
	w.store(w.piece(call(func(*record.Record) {})))
	p := w.piece(call(func(*record.Record) {}))
	frozen, err := w.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = frozen.Rollback() }()
	if _, err := frozen.ExecContext(t.Context(), `insert into gatehouse_claims (name, done, at) values ($1, 1, 1)`, p.Claim.Claim); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := w.Store(ctx, p); err != nil {
		t.Error(err)
	}
}

// TestStore checks counters when pieces are stored one after the other.
func TestStore(t *testing.T) {
	each(t, false, func(w *world) {
		w.store(w.piece(call(func(*record.Record) {}), call(func(r *record.Record) {
			r.APIName = "Old"
			r.ResponseCode, r.RequestTime, r.Latency.Total = 500, 30, 30
		})))
		w.store(w.piece(call(func(r *record.Record) {
			r.APIName, r.ResponseCode, r.RequestTime, r.Latency.Total, r.TimeStamp = "New", 404, 2, 2, noon.Add(time.Minute)
		})))
		w.store(w.piece(call(func(r *record.Record) {
			r.ResponseCode, r.Network = record.Connections, record.Network{Open: 1, Closed: 2, In: 3, Out: 4}
		})))
		of := func(column, dimension string) string {
			return "select " + column + " from tyk_aggregated where dimension = '" + dimension + "'"
		}
		for column, want := range map[string]string{
			"counter_hits": "3", "counter_success": "1", "counter_error": "2", "code_500": "1", "code_404": "1", "code_200": "0", "counter_total_request_time": "42", "counter_request_time": "14",
			"counter_latency": "14", "counter_max_latency": "30", "counter_min_latency": "2", "counter_open_connections": "1", "counter_closed_connections": "2",
			"counter_bytes_in": "3", "counter_bytes_out": "4", "dimension_value": "total", "org_id": "o1", "timestamp": fmt.Sprint(noon.Unix()),
		} {
			w.want(of(column, ""), want)
		}
		w.want(of("counter_human_identifier", "apiid"), "Old") // what is there stays
		w.want("select count(*) from tyk_analytics", "4")
		w.want("select count(*) from tyk_analytics where orgid = 'o1' and api_name = 'New' and tags = '[\"gold\"]'", "1")
		if last := w.value(of("counter_last_time", "")); !strings.Contains(last, "12:01") {
			t.Error(last)
		}
	})
}

// TestOnce: a piece is stored once, and only after the one before it.
func TestOnce(t *testing.T) {
	each(t, false, func(w *world) {
		p := w.piece(call(func(*record.Record) {}), call(func(*record.Record) {}))
		later := p
		later.From, later.To = 2, 4
		for name, c := range map[string]struct {
			piece port.Piece
			want  error
		}{"1 the second": {later, port.ErrStale}} {
			if err := w.Store(w.t.Context(), c.piece); !errors.Is(err, c.want) {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		w.store(p)
		if err := w.Store(w.t.Context(), p); !errors.Is(err, port.ErrStale) {
			w.t.Errorf("again: %v", err)
		}
		w.store(later)
		if done, err := w.Done(w.t.Context(), p.Claim); done != 4 || err != nil {
			w.t.Error(done, err)
		}
		w.want("select counter_hits from tyk_aggregated where dimension = ''", "4")
		w.want("select count(*) from tyk_analytics", "4")
		if done, err := w.Done(w.t.Context(), port.Claim{Claim: "unheard of"}); done != 0 || err != nil {
			w.t.Error(done, err)
		}
	})
}

// TestHostile: arbitrary values of clients are stored, and do not affect other records.
func TestHostile(t *testing.T) {
	each(t, false, func(w *world) {
		var all []record.Record
		for _, path := range []string{"/a\x00b", "/\xff\xfe", strings.Repeat("/long", 100_000), `/'; drop table tyk_analytics; --`, "/\u0000\\u0000", `/{"a":1}`, "/é\U0001F600"} {
			all = append(all, call(func(r *record.Record) {
				r.Path, r.UserAgent, r.Tags, r.APIVersion, r.APIKey, r.Alias, r.OauthID, r.APIName = path, path, []string{path}, path, path, path, path, path
				r.Latency.Total, r.RequestTime, r.ContentLength, r.Day = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MinInt64
				r.ExpireAt = time.Unix(math.MaxInt64, 0)
				r.GraphQL = record.GraphQL{Is: path == `/{"a":1}`, Variables: path, RootFields: []string{path}, Types: []record.Type{{Name: path, Fields: []string{path}}}, Operation: 99}
				r.MCP = record.MCP{Is: strings.HasPrefix(path, "/é"), Method: path, PrimitiveType: path, PrimitiveName: path}
			}))
		}
		for i := range all {
			all[i].Clean()
		}
		for range 3 {
			w.store(w.piece(all...))
		}
		w.want("select count(*) from tyk_analytics", "18")
		w.want("select count(*) from tyk_analytics_graph", "3")
		w.want("select count(*) from tyk_analytics_mcp", "3")
		w.want("select counter_hits from tyk_aggregated where dimension = ''", "15")
		w.want("select counter_hits from tyk_graph_aggregated where dimension = ''", "3")
		w.want("select counter_hits from tyk_mcp_aggregated where dimension = '' and api_id = 'a1' and org_id = 'o1'", "3")
	})
}

// TestSharedIdentifiers: an MCP API that reports for several organisations has one row of
// counters, also within a piece.
func TestSharedIdentifiers(t *testing.T) {
	each(t, false, func(w *world) {
		of := func(org string) record.Record {
			return call(func(r *record.Record) { r.OrgID, r.MCP = org, record.MCP{Is: true, Method: "tools/list"} })
		}
		for range 2 {
			w.store(w.piece(of("o1"), of(""), of("o2")))
		}
		w.want("select counter_hits from tyk_mcp_aggregated where dimension = '' and api_id = 'a1'", "6")
	})
}

// TestRefused: the database refuses the values, and the error does not quote them.
func TestRefused(t *testing.T) {
	each(t, false, func(w *world) {
		w.store(w.piece(call(func(*record.Record) {})))
		refuse := "alter table tyk_analytics add check (path <> '/secret')"
		if w.dialect == analytics.SQLite.Name {
			refuse = "create trigger refuse before insert on tyk_analytics when new.path = '/secret' begin select raise(abort, '/secret'); end"
		}
		if _, err := w.db.ExecContext(w.t.Context(), refuse); err != nil {
			w.t.Fatal(err)
		}
		p := w.piece(call(func(*record.Record) {}), call(func(r *record.Record) { r.Path = "/secret" }))
		if err := w.Store(w.t.Context(), p); !errors.Is(err, port.ErrRefused) || strings.Contains(err.Error(), "/secret") {
			w.t.Error(err)
		}
		w.want("select count(*) from tyk_analytics", "1")
		if done, err := w.Done(w.t.Context(), p.Claim); done != p.From || err != nil {
			w.t.Error(done, err)
		}
	})
}

// TestSharded: a row goes to the table of its day.
func TestSharded(t *testing.T) {
	each(t, true, func(w *world) {
		w.store(w.piece(call(func(*record.Record) {}), call(func(r *record.Record) { r.TimeStamp = noon.AddDate(0, 0, 1) })))
		for _, day := range []string{"20261103", "20261104"} {
			w.want("select count(*) from tyk_analytics_"+day, "1")
			w.want("select counter_hits from tyk_aggregated_"+day+" where dimension = ''", "1")
		}
		keep := port.Retention{Now: noon.AddDate(0, 0, 31), Calls: 30 * 24 * time.Hour, Counters: 30 * 24 * time.Hour}
		n, more, err := w.Forget(t.Context(), keep)
		if n != 4 || more || err != nil { // two tables, an hour of the volume, a claim
			t.Error(n, more, err)
		}
		w.want("select count(*) from tyk_analytics_20261104", "1")
		if _, err := w.db.ExecContext(t.Context(), "select 1 from tyk_analytics_20261103"); err == nil {
			t.Error("the day is still there")
		}
		w.store(w.piece(call(func(*record.Record) {}))) // creates it again
		w.want("select count(*) from tyk_analytics_20261103", "1")
	})
}

// TestForget: rows are deleted when they are too old or too many, oldest first, in steps.
func TestForget(t *testing.T) {
	each(t, false, func(w *world) {
		var old []record.Record
		for i := range 2500 {
			old = append(old, call(func(r *record.Record) { r.TimeStamp = noon.AddDate(0, 0, -40).Add(time.Duration(i) * time.Millisecond) }))
		}
		w.store(w.piece(old...))
		big := func(hour int) record.Record {
			return call(func(r *record.Record) {
				r.TimeStamp, r.RawRequest = noon.Add(time.Duration(hour)*time.Hour), strings.Repeat("x", 100_000)
			})
		}
		w.store(w.piece(big(-3), big(-2), big(-1), call(func(*record.Record) {})))
		steps := 0
		forget := func(keep port.Retention) {
			t := w.t
			t.Helper()
			for more := true; more; steps++ {
				var err error
				if _, more, err = w.Forget(t.Context(), keep); err != nil {
					t.Fatal(err)
				}
			}
		}
		forget(port.Retention{Now: noon})
		w.want("select count(*) from tyk_analytics", "2504")
		forget(port.Retention{Now: noon, Calls: 30 * 24 * time.Hour})
		w.want("select count(*) from tyk_analytics", "4")
		if steps < 4 {
			w.t.Errorf("%d steps", steps)
		}
		forget(port.Retention{Now: noon, Bytes: 250_000})
		w.want("select count(*) from tyk_analytics", "3")
		w.want("select count(*) from gatehouse_volume", "3")
		w.want("select count(*) from tyk_aggregated where dimension = ''", "5")
		forget(port.Retention{Now: noon, Counters: 24 * time.Hour})
		w.want("select count(*) from tyk_aggregated where dimension = ''", "4")
		w.want("select count(*) from gatehouse_claims", "2")
		forget(port.Retention{Now: noon.Add(25 * time.Hour), Open: []string{"c2"}})
		w.want("select name from gatehouse_claims", "c2")
	})
}

// TestAsides keeps a limited number of unreadable entries, with their errors.
func TestAsides(t *testing.T) {
	each(t, false, func(w *world) {
		for i := range 15 {
			p := w.piece()
			p.To, p.At = 200, noon.Add(time.Duration(i)*time.Second)
			for n := range 200 {
				p.Asides = append(p.Asides, port.Aside{Position: int64(n), Bytes: 5, Reason: "it \x00 is broken", Entry: []byte{0, 255}})
			}
			w.store(p)
		}
		w.want("select count(*) from gatehouse_asides", "1500")
		if _, _, err := w.Forget(w.t.Context(), port.Retention{Now: noon}); err != nil {
			w.t.Fatal(err)
		}
		w.want("select count(*) from gatehouse_asides", "1000")
		w.want("select reason from gatehouse_asides limit 1", "it  is broken")
		w.want("select entry from gatehouse_asides limit 1", "00ff")
	})
}

// TestOlderTables: a table of another program that lacks columns is written to.
func TestOlderTables(t *testing.T) {
	each(t, false, func(w *world) {
		if _, err := w.db.ExecContext(w.t.Context(), `create table tyk_analytics (method text, path text, orgid text, extra text)`); err != nil {
			w.t.Fatal(err)
		}
		w.store(w.piece(call(func(*record.Record) {})))
		w.want("select path from tyk_analytics where orgid = 'o1'", "/p")
	})
}

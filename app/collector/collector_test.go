package collector_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/records"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	sqlanalytics "github.com/gatehouse-io/gatehouse/adapters/sql/analytics"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/collector"
	"github.com/gatehouse-io/gatehouse/core/analytics/record"
	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/analytics"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// world is the Redis of gateways and a database.
type world struct {
	t     *testing.T
	rdb   *goredis.Client
	queue analytics.Queue
	sink  analytics.Sink
	db    *sql.DB
	sql   *sql.DB // writes
	log   strings.Builder
	mu    sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	addr := harness.NewRedis(t).Addr()
	w := &world{t: t, rdb: goredis.NewClient(&goredis.Options{Addr: addr})}
	client, err := redis.Open(redis.Config{Addrs: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	readers, writers, err := sqlite.Plain(filepath.Join(t.TempDir(), "analytics.db"), slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	place := sqlanalytics.Place{Readers: readers, Writers: writers, Dialect: sqlanalytics.SQLite}
	s := &sqlanalytics.Store{Counters: place, Records: place, Uptime: place}
	w.queue, w.sink, w.db, w.sql = redis.NewClaims(client), s.Writers()[0], readers, writers
	t.Cleanup(func() { _, _, _ = w.rdb.Close(), client.Close(), s.Close() })
	return w
}

// newLeases returns a new store for leases.
func newLeases(t *testing.T) store.Leases {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Write implements io.Writer, for the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// start starts a process that collects. It stops at the end of the test, or with stop.
func (w *world) start(change func(*collector.Settings)) (s *collector.Service, stop func()) {
	w.t.Helper()
	set := collector.Settings{Queue: w.queue, Decoder: records.Decoder{}, Sinks: []analytics.Sink{w.sink}, Every: 20 * time.Millisecond, Holder: fmt.Sprint(rand.Int64())}
	if change != nil {
		change(&set)
	}
	return w.startAt(newLeases(w.t), set)
}

func (w *world) startAt(leases store.Leases, set collector.Settings) (*collector.Service, func()) {
	w.t.Helper()
	s, err := collector.New(set, leases, time.Now, slog.New(slog.NewTextHandler(w, nil)))
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(ctx) }()
	stop := sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(stop)
	return s, stop
}

// push appends records to a list, each with a path of its own.
func (w *world) push(l analytics.List, n int) {
	w.t.Helper()
	entries := make([]any, n)
	for i := range entries {
		r := gatewaysim.Record{Time: time.Now(), Method: "GET", Path: fmt.Sprintf("/%s/%d/%d", l.Name, i, rand.Int64()), Code: 200, RequestTime: 5, API: "a1", Org: "o1", Key: "k1"}
		entries[i] = r.Msgpack()
		if l.Protobuf {
			entries[i] = r.Protobuf()
		}
		if l.Uptime {
			entries[i] = gatewaysim.Check{Time: time.Now(), URL: "http://up/", Code: 200, API: "a1", Org: "o1"}.Msgpack()
		}
	}
	if err := w.rdb.RPush(w.t.Context(), l.Name, entries...).Err(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) number(query string) (n int) {
	_ = w.db.QueryRowContext(w.t.Context(), query).Scan(&n) // a table that does not exist yet is empty
	return n
}

// want waits until so many calls and checks are stored and Redis is empty.
func (w *world) want(calls, checks int) {
	w.t.Helper()
	count := func() [4]int {
		return [4]int{
			w.number("select count(*) from tyk_analytics"), w.number("select count(distinct path) from tyk_analytics"),
			w.number("select sum(counter_hits) from tyk_aggregated where dimension = ''"), w.number("select sum(counter_hits) from tyk_uptime_analytics where dimension = ''"),
		}
	}
	var got [4]int
	var keys []string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		keys = slices.DeleteFunc(w.rdb.Keys(w.t.Context(), "*").Val(), func(key string) bool { return strings.HasSuffix(key, ".shared") })
		if got = count(); got == [4]int{calls, calls, calls, checks} && len(keys) == 0 {
			return
		}
	}
	w.t.Fatalf("%d; want %d calls and %d checks; Redis has %q\n%s", got, calls, checks, keys, w.logged())
}

var plain = analytics.List{Name: gatewaysim.RecordList}

// TestCollects: all lists are emptied, in every format, and again after more records
// came.
func TestCollects(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(nil)
	for round := 1; round <= 3; round++ {
		for _, l := range analytics.Lists() {
			w.push(l, 10)
		}
		w.want(round*220, round*10)
	}
	if got := s.Status(); got.Records != 690 || got.Asides != 0 || !got.Collecting || got.Waiting != 0 || got.Trouble != nil || got.Others != nil {
		t.Errorf("%+v", got)
	}
}

// TestUnreadable: an entry that cannot be decoded is set aside, and the others are
// stored.
func TestUnreadable(t *testing.T) {
	w := newWorld(t)
	future := gatewaysim.Record{Time: time.Now().AddDate(1, 0, 0), Org: "o1"}.Msgpack()
	for _, bad := range [][]byte{{}, []byte("hello"), {0xc1}, future, []byte(strings.Repeat("SECRET", 1000)), gatewaysim.Record{Time: time.Now()}.Protobuf()} {
		w.push(plain, 1)
		w.rdb.RPush(t.Context(), plain.Name, bad)
		w.push(plain, 1)
	}
	s, _ := w.start(func(s *collector.Settings) { s.Bounds.Largest = 3000 })
	w.want(12, 0)
	if got := s.Status(); got.Asides != 6 || got.Records != 12 {
		t.Errorf("%+v", got)
	}
	for query, want := range map[string]int{
		"select count(*) from gatehouse_asides": 6, "select count(*) from gatehouse_asides where reason like '%larger than 3000 bytes'": 1,
		"select count(*) from gatehouse_asides where reason like '%two days ahead%'": 1, "select count(*) from gatehouse_asides where entry <> ''": 0,
	} {
		if got := w.number(query); got != want {
			t.Errorf("%s: %d", query, got)
		}
	}
	if strings.Contains(w.logged(), "SECRET") || !strings.Contains(w.logged(), "set aside") {
		t.Error(w.logged())
	}
}

// TestRefused: an entry that the database refuses is set aside, and the others are
// stored. If the database refuses many entries, the database is probably at fault, and
// they wait.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.push(plain, 1)
	s, _ := w.start(nil)
	w.want(1, 0)
	if _, err := w.sql.ExecContext(t.Context(), `create trigger refuse before insert on tyk_analytics when new.path = '/refused' begin select raise(abort, 'SECRET'); end`); err != nil {
		t.Fatal(err)
	}
	refuse := func(n int) {
		for range n {
			w.rdb.RPush(t.Context(), plain.Name, gatewaysim.Record{Time: time.Now(), Method: "GET", Path: "/refused", Code: 200, API: "a1", Org: "o1", Key: "k1"}.Msgpack())
		}
	}
	w.push(plain, 300)
	refuse(1)
	w.push(plain, 20)
	refuse(2)
	w.push(plain, 100)
	w.want(421, 0)
	if got := s.Status(); got.Asides != 3 || got.Records != 421 || got.Trouble != nil {
		t.Errorf("%+v", got)
	}
	if n := w.number("select count(*) from gatehouse_asides where reason like '%the database refuses what an entry holds (SQLite error %' and entry = ''"); n != 3 {
		t.Error(n)
	}
	refuse(25)
	w.push(plain, 1)
	w.want(422, 0)
	if got := s.Status(); got.Asides != 28 || !strings.Contains(w.logged(), "they wait in Redis") || strings.Contains(w.logged(), "SECRET") {
		t.Errorf("%+v\n%s", got, w.logged())
	}
}

// TestAsidesWithEntries: where messages are stored unredacted, entries that are set
// aside are stored as well.
func TestAsidesWithEntries(t *testing.T) {
	w := newWorld(t)
	w.rdb.RPush(t.Context(), plain.Name, "hello")
	w.push(plain, 1)
	w.start(func(s *collector.Settings) { s.Keep = record.All })
	w.want(1, 0)
	if n := w.number("select count(*) from gatehouse_asides where entry = '68656c6c6f'"); n != 1 {
		t.Error(n)
	}
}

// TestLeftBehind: claims of a process that died are stored. A claim that is stored in
// part continues where it stopped, and one that is stored completely is not stored
// again.
func TestLeftBehind(t *testing.T) {
	w := newWorld(t)
	faulty := &faults{Queue: w.queue, Sink: w.sink, fail: func(step string) bool { return step == "release" }}
	w.push(plain, 25)
	s, stop := w.start(func(s *collector.Settings) {
		s.Queue, s.Sinks, s.Bounds.Entries = faulty, []analytics.Sink{faulty}, 10
	})
	for s.Status().Records < 25 {
		time.Sleep(time.Millisecond)
	}
	stop()
	w.push(plain, 25)
	faulty.fail = func(step string) bool {
		return step == "store" && w.number("select done from gatehouse_claims order by name desc") == 10
	}
	s, stop = w.start(func(s *collector.Settings) {
		s.Queue, s.Sinks, s.Bounds.Entries = faulty, []analytics.Sink{faulty}, 10
	})
	for s.Status().Trouble == nil {
		time.Sleep(time.Millisecond)
	}
	stop()
	if n := w.number("select count(*) from tyk_analytics"); n != 35 {
		t.Errorf("%d", n)
	}
	w.start(nil)
	w.want(50, 0)
}

var errFault = errors.New("it broke")

// faults is a queue and a sink whose calls fail before or after they take effect.
type faults struct {
	analytics.Queue
	analytics.Sink
	mu   sync.Mutex
	fail func(step string) bool
}

func (f *faults) broken(step string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail(step)
}

func (f *faults) around(step string, do func() error) error {
	if f.broken(step) {
		return errFault
	}
	err := do()
	if f.broken("after " + step) {
		return errFault
	}
	return err
}

func (f *faults) Claim(ctx context.Context, l analytics.List, unique string) (c analytics.Claim, ok bool, err error) {
	err = f.around("claim", func() error { c, ok, err = f.Queue.Claim(ctx, l, unique); return err })
	return c, ok && err == nil, err
}

func (f *faults) Open(ctx context.Context) (out []analytics.Claim, err error) {
	err = f.around("open", func() error { out, err = f.Queue.Open(ctx); return err })
	return out, err
}

func (f *faults) Read(ctx context.Context, c analytics.Claim, from int64, b analytics.Bounds) (out []string, err error) {
	err = f.around("read", func() error { out, err = f.Queue.Read(ctx, c, from, b); return err })
	return out, err
}

func (f *faults) Release(ctx context.Context, c analytics.Claim) error {
	return f.around("release", func() error { return f.Queue.Release(ctx, c) })
}

func (f *faults) Store(ctx context.Context, p analytics.Piece) error {
	return f.around("store", func() error { return f.Sink.Store(ctx, p) })
}

// TestFaults: if any call fails, before or after it took effect, every record is still
// counted once.
func TestFaults(t *testing.T) {
	w := newWorld(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	var calm atomic.Bool
	faulty := &faults{Queue: w.queue, Sink: w.sink, fail: func(string) bool { return !calm.Load() && rnd.IntN(4) == 0 }}
	set := func(s *collector.Settings) {
		s.Queue, s.Sinks, s.Bounds.Entries, s.Every = faulty, []analytics.Sink{faulty}, 7, 2*time.Millisecond
	}
	total := 0
	for range 20 {
		_, stop := w.start(set)
		for range 5 {
			n := 1 + rand.IntN(30)
			w.push(plain, n)
			total += n
			time.Sleep(5 * time.Millisecond)
		}
		stop()
	}
	calm.Store(true)
	w.start(set)
	w.want(total, 0)
}

// TestTwoAtOnce: if two processes both believe that they hold the lease, every record
// is still counted once.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.start(func(s *collector.Settings) { s.Bounds.Entries, s.Every = 5, 2*time.Millisecond })
	}
	total := 0
	for range 100 {
		w.push(plain, 13)
		total += 13
		time.Sleep(time.Millisecond)
	}
	for w.number("select count(*) from tyk_analytics") < total {
		time.Sleep(10 * time.Millisecond)
	}
	w.start(nil) // for claims that each process left to the other
	w.want(total, 0)
}

// TestOneOfSeveral: the process that holds the lease collects, and another one when it
// ends.
func TestOneOfSeveral(t *testing.T) {
	w := newWorld(t)
	leases := newLeases(t)
	set := collector.Settings{Queue: w.queue, Decoder: records.Decoder{}, Sinks: []analytics.Sink{w.sink}, Every: 10 * time.Millisecond, TTL: 20 * time.Second}
	set.Holder = "one"
	one, stop := w.startAt(leases, set)
	w.push(plain, 10)
	w.want(10, 0)
	set.Holder = "two"
	two, _ := w.startAt(leases, set)
	if !one.Status().Collecting || two.Status().Collecting {
		t.Error(one.Status(), two.Status())
	}
	stop()
	w.push(plain, 10)
	w.want(20, 0)
	if one.Status().Collecting || !two.Status().Collecting {
		t.Error(one.Status(), two.Status())
	}
}

// TestDatabaseAway: lists are claimed while the database is unavailable, up to a bound,
// and stored later.
func TestDatabaseAway(t *testing.T) {
	w := newWorld(t)
	var away atomic.Bool
	away.Store(true)
	faulty := &faults{Queue: w.queue, Sink: w.sink, fail: func(step string) bool { return step == "store" && away.Load() }}
	s, _ := w.start(func(s *collector.Settings) { s.Sinks, s.Backlog = []analytics.Sink{faulty}, 30 })
	for i := range 3 {
		w.push(plain, 15)
		for i < 2 && s.Status().Waiting < int64(15*(i+1)) {
			time.Sleep(time.Millisecond)
		}
	}
	for !s.Status().Full {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if got := s.Status(); got.Waiting != 30 || got.Trouble == nil || w.rdb.LLen(t.Context(), plain.Name).Val() != 15 {
		t.Errorf("%+v", got)
	}
	away.Store(false)
	w.want(45, 0)
	for s.Status().Trouble != nil {
		time.Sleep(time.Millisecond)
	}
	if !strings.Contains(w.logged(), "cannot be stored") || !strings.Contains(w.logged(), "over: ") {
		t.Error(w.logged())
	}
}

// TestAnotherReader: the status names a list from which another program takes records.
func TestAnotherReader(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(func(s *collector.Settings) { s.Every = 100 * time.Millisecond })
	for end := time.Now().Add(20 * time.Second); len(s.Status().Others) == 0 || !strings.Contains(w.logged(), "tyk-pump"); {
		if time.Now().After(end) {
			t.Fatal("it was not noticed")
		}
		w.push(plain, 5)
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		w.rdb.Del(t.Context(), plain.Name)
	}
	if got := s.Status().Others; len(got) != 1 || got[0] != plain.Name {
		t.Error(got)
	}
	if n := strings.Count(w.logged(), "tyk-pump"); n != 1 {
		t.Errorf("%d warnings: %s", n, w.logged())
	}
	next, _ := w.start(nil)
	for end := time.Now().Add(20 * time.Second); len(next.Status().Others) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("another process does not know")
		}
	}
}

// TestExpiry: an expired list is not taken for another reader.
func TestExpiry(t *testing.T) {
	w := newWorld(t)
	s, _ := w.start(func(s *collector.Settings) { s.Every = 200 * time.Millisecond })
	for range 40 {
		if _, err := w.rdb.TxPipelined(t.Context(), func(p goredis.Pipeliner) error {
			p.RPush(t.Context(), plain.Name, gatewaysim.Record{Time: time.Now()}.Msgpack())
			p.PExpire(t.Context(), plain.Name, 20*time.Millisecond)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond)
	}
	if got := s.Status().Others; got != nil {
		t.Error(got)
	}
}

// TestSettings: the error names the setting that is missing.
func TestSettings(t *testing.T) {
	if _, err := collector.New(collector.Settings{Queue: &faults{}}, newLeases(t), time.Now, slog.Default()); err == nil || !strings.Contains(err.Error(), "storage.analytics") {
		t.Error(err)
	}
	if _, err := collector.New(collector.Settings{Queue: &faults{}}, nil, time.Now, slog.Default()); err == nil {
		t.Error("without leases")
	}
	s, err := collector.New(collector.Settings{}, nil, time.Now, slog.Default())
	if err != nil || s.Run(t.Context()) != nil || s.Quit(t.Context()) != nil || s.Status().Full {
		t.Error("off:", err)
	}
}

// joins counts the calls of Roll. There are many days to join.
type joins struct {
	analytics.Sink
	n atomic.Int64
}

func (j *joins) Roll(context.Context, time.Time) (int64, bool, error) {
	return 1, j.n.Add(1)%3 != 0, nil
}

// TestJoinsOnly: without a queue, one process of several joins the days that a pump has
// counted, as long as there are any, and again later.
func TestJoinsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases, sinks := newLeases(t), make([]joins, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range sinks {
			s, err := collector.New(collector.Settings{Sinks: []analytics.Sink{&sinks[i]}, Holder: fmt.Sprint(i)}, leases, time.Now, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = s.Run(ctx) }()
			defer func() {
				if got := s.Status(); got.Collecting || got.Full || got.Trouble != nil {
					t.Errorf("%+v", got)
				}
			}()
		}
		for i, want := range []int64{3, 6} {
			time.Sleep(time.Duration(1+15*i) * time.Minute)
			time.Sleep(time.Second)
			if a, b := sinks[0].n.Load(), sinks[1].n.Load(); max(a, b) != want || min(a, b) != 0 {
				t.Errorf("%d and %d steps, want %d of one process", a, b, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}

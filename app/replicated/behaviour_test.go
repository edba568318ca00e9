package replicated_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

func TestOverPostgres(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		return over(tb, openPostgres(tb, harness.Database(tb)), replicated.Current)
	})
}

func openPostgres(tb testing.TB, dsn string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), postgres.Config{DSN: dsn, Conns: 4})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

var one = func() tenant.Scope {
	s, err := tenant.Of("a")
	if err != nil {
		panic(err)
	}
	return s
}()

// put stores a record with a number for a document.
func put(tb testing.TB, s store.Store, id string, n int) {
	tb.Helper()
	if _, err := s.Update(tb.Context(), one, func(w store.Writer) error {
		r := store.Record{Org: "a", Kind: "n", ID: id, Doc: fmt.Append(nil, n)}
		if old, err := w.Get(tb.Context(), "n", id); err == nil {
			r.Rev = old.Rev
		}
		return w.Put(tb.Context(), r)
	}); err != nil {
		tb.Fatal(err)
	}
}

func read(ctx context.Context, view func(context.Context, tenant.Scope, func(store.Reader) error) error, id string) (text string, err error) {
	err = view(ctx, one, func(r store.Reader) error {
		rec, err := r.Get(ctx, "n", id)
		text = string(rec.Doc)
		return err
	})
	return text, err
}

// A write that one replica acknowledged can be read from every other one at once.
func TestReplicasAgree(t *testing.T) {
	dsn := harness.Database(t)
	var replicas []*replicated.Store
	for range 3 {
		replicas = append(replicas, over(t, openPostgres(t, dsn), replicated.Current))
	}
	for i := range 60 {
		put(t, replicas[i%3], "x", i)
		for j, r := range replicas {
			if text, err := read(t.Context(), r.View, "x"); err != nil || text != fmt.Sprint(i) {
				t.Fatalf("write %d on %d, read on %d: %q, %v", i, i%3, j, text, err)
			}
		}
	}
}

// fragile is a primary that can be made to fail.
type fragile struct {
	*memdb.DB
	away    atomic.Bool
	expired atomic.Bool
}

var errAway = fmt.Errorf("away: %w", store.ErrUnavailable)

func (f *fragile) Head(ctx context.Context) (store.Revision, error) {
	if f.away.Load() {
		return 0, errAway
	}
	return f.DB.Head(ctx)
}

func (f *fragile) Follow(ctx context.Context, after store.Revision) iter.Seq2[store.Commit, error] {
	return func(yield func(store.Commit, error) bool) {
		for c, err := range f.DB.Follow(ctx, after) {
			switch {
			case f.away.Load():
				err = errAway
			case f.expired.Swap(false):
				err = store.ErrExpired
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func fragileStore(t *testing.T) (*fragile, *replicated.Store) {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	f := &fragile{DB: db}
	return f, over(t, f, replicated.Current)
}

// While the primary is unavailable, current reads fail and the last known state can
// still be read. Afterwards everything works again without intervention.
func TestPrimaryAway(t *testing.T) {
	f, s := fragileStore(t)
	put(t, s, "x", 1)
	if _, err := read(t.Context(), s.View, "x"); err != nil {
		t.Fatal(err)
	}
	f.away.Store(true)
	if _, err := read(t.Context(), s.View, "x"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("current: %v", err)
	}
	if text, err := read(t.Context(), s.ViewStale, "x"); err != nil || text != "1" {
		t.Errorf("stale: %q, %v", text, err)
	}
	put(t, f.DB, "x", 2) // another process writes: the change log fails
	until(t, func() bool { return s.Trouble() != nil })
	f.away.Store(false)
	until(t, func() bool { text, err := read(t.Context(), s.View, "x"); return err == nil && text == "2" })
	until(t, func() bool { return s.Trouble() == nil })
}

// hanging is a primary whose responses are held back, whatever the deadline.
type hanging struct {
	*memdb.DB
	hangs atomic.Bool
	let   chan struct{}
}

func (h *hanging) Head(ctx context.Context) (store.Revision, error) {
	if h.hangs.Load() {
		<-h.let
	}
	return h.DB.Head(ctx)
}

// TestHangingPrimary: while the primary hangs, a read of the last known state does not
// wait until calls to the primary time out.
func TestHangingPrimary(t *testing.T) {
	t.Parallel()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := &hanging{DB: db, let: make(chan struct{})}
	s := over(t, h, replicated.Current)
	put(t, s, "x", 1)
	known := func(ctx context.Context) (stale bool, text string, err error) {
		text, err = read(ctx, func(ctx context.Context, sc tenant.Scope, fn func(store.Reader) error) (err error) {
			stale, err = s.ViewLastKnown(ctx, sc, fn)
			return err
		}, "x")
		return stale, text, err
	}
	if stale, text, err := known(t.Context()); stale || text != "1" || err != nil {
		t.Errorf("current: %t %q, %v", stale, text, err)
	}
	h.hangs.Store(true)
	defer close(h.let)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for range 2 { // the second one finds a call in progress
		if stale, text, err := known(ctx); !stale || text != "1" || err != nil {
			t.Errorf("while it hangs: %t %q, %v", stale, text, err)
		}
	}
}

// A copy whose change log has expired is loaded again from a snapshot.
func TestExpiredFeed(t *testing.T) {
	f, s := fragileStore(t)
	put(t, s, "x", 1)
	f.expired.Store(true)
	put(t, f.DB, "x", 2)
	put(t, f.DB, "x", 3)
	until(t, func() bool { text, err := read(t.Context(), s.View, "x"); return err == nil && text == "3" })
}

// TestPutBack: a database that was put back to an earlier state has the copy follow, and the
// service is told of it once, so that it can tell gateways.
func TestPutBack(t *testing.T) {
	dsn := harness.Database(t)
	var calls atomic.Int64
	s := over(t, openPostgres(t, dsn), replicated.Current, func(s *replicated.Store) {
		s.PutBack = func(context.Context) error {
			if calls.Add(1) == 1 {
				return errAway
			}
			return nil
		}
	})
	for n := range 5 {
		put(t, s, "x", n)
	}
	put(t, s, "y", 1)
	until(t, func() bool { _, err := read(t.Context(), s.View, "y"); return err == nil })
	if n := calls.Load(); n != 0 {
		t.Errorf("told %d times before", n)
	}
	harness.Exec(t, dsn, `delete from change_log where last > 5`)
	harness.Exec(t, dsn, `delete from record where rev > 5`)
	until(t, func() bool { return calls.Load() == 2 })
	until(t, func() bool {
		text, err := read(t.Context(), s.View, "y")
		return err == nil && text == "" || errors.Is(err, store.ErrNotFound)
	})
	put(t, s, "y", 2)
	until(t, func() bool { text, err := read(t.Context(), s.View, "y"); return err == nil && text == "2" })
	if n := calls.Load(); n != 2 {
		t.Errorf("told %d times", n)
	}
}

// One request asks for the head once, and still reads its own writes.
func TestOneQuestionPerRequest(t *testing.T) {
	f, s := fragileStore(t)
	put(t, s, "x", 1)
	ctx := store.Request(t.Context())
	if _, err := read(ctx, s.View, "x"); err != nil {
		t.Fatal(err)
	}
	f.away.Store(true) // a second call would fail
	if text, err := read(ctx, s.View, "x"); err != nil || text != "1" {
		t.Errorf("%q, %v", text, err)
	}
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within ten seconds")
		}
	}
}

// slow is a primary that has committed but has not returned yet.
type slow struct {
	*sqlite.Store
	hold chan struct{}
}

func (s *slow) Update(ctx context.Context, sc tenant.Scope, fn func(store.Writer) error) (store.Revision, error) {
	rev, err := s.Store.Update(ctx, sc, fn)
	if s.hold != nil && err == nil {
		<-s.hold
	}
	return rev, err
}

// A caller whose write was refused because of another write reads the result of that
// other write, even before Update has returned for it.
func TestRefusedForWhatIsRead(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	primary := &slow{Store: db}
	s := over(t, primary, replicated.Local)
	put(t, s, "x", 1)
	primary.hold = make(chan struct{})
	remove := func() error {
		_, err := s.Update(t.Context(), one, func(w store.Writer) error { return w.Delete(t.Context(), "n", "x") })
		return err
	}
	first := make(chan error)
	go func() { first <- remove() }()
	until(t, func() bool { return db.Committed() == 2 })
	if err := remove(); !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if text, err := read(t.Context(), s.View, "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("read %q, %v after the deletion showed", text, err)
	}
	close(primary.hold)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// mute is a primary whose change log yields nothing.
type mute struct{ *sqlite.Store }

func (m mute) FollowBatches(ctx context.Context, _ store.Revision) iter.Seq2[[]store.Commit, error] {
	return func(func([]store.Commit, error) bool) { <-ctx.Done() }
}

// TestWhoWritesBringsTheCopy states that a write is in the copy when Update returns:
// its caller does not wait for Run to follow the change log.
func TestWhoWritesBringsTheCopy(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := over(t, mute{db}, replicated.Local)
	<-s.Loaded()
	for n := range 3 {
		put(t, s, "x", n)
		if text, err := read(t.Context(), s.ViewStale, "x"); err != nil || text != fmt.Sprint(n) {
			t.Errorf("read %q, %v after the write of %d", text, err, n)
		}
	}
}

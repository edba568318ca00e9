package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

func open(tb testing.TB, path string) *sqlite.Store {
	tb.Helper()
	return openWith(tb, sqlite.Config{Path: path})
}

func openWith(tb testing.TB, c sqlite.Config) *sqlite.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		return open(tb, filepath.Join(tb.TempDir(), "gatehouse.db"))
	})
}

func TestKinds(t *testing.T) {
	a, err := app.New()
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunKinds(t, func(tb testing.TB) storetest.Backend { return open(tb, filepath.Join(tb.TempDir(), "gatehouse.db")) }, a.Kinds().Samples())
}

// Units that are prepared outside the writer behave as those that run in it.
func TestStorePrepared(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		return openWith(tb, sqlite.Prepared(sqlite.Config{Path: filepath.Join(tb.TempDir(), "gatehouse.db")}))
	})
}

func TestLeap(t *testing.T) {
	storetest.RunLeap(t, func(tb testing.TB, now func() time.Time) storetest.Backend {
		return openWith(tb, sqlite.Config{Path: filepath.Join(tb.TempDir(), "gatehouse.db"), Now: now})
	})
}

func TestHold(t *testing.T) {
	storetest.RunHold(t, func(tb testing.TB, hold time.Duration) storetest.Backend {
		return openWith(tb, sqlite.Config{Path: filepath.Join(tb.TempDir(), "gatehouse.db"), Hold: hold})
	})
}

// A unit of work whose rows take too long to send is refused as well, and the other units of
// its group continue.
func TestHoldWhileSending(t *testing.T) {
	s := openWith(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db"), Hold: 50 * time.Millisecond})
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	large := store.Record{Org: "a", Kind: "large", ID: "1", Doc: []byte("{}")}
	for i := range 200_000 {
		large.Keys = append(large.Keys, store.Key{Index: "i", Value: fmt.Sprint(i)})
	}
	update := func(fn func(store.Writer) error) error {
		_, err := s.Update(t.Context(), scope, fn)
		return err
	}
	busy, queued := make(chan struct{}), make(chan struct{})
	go func() {
		_ = update(func(store.Writer) error { close(busy); <-queued; return nil })
	}()
	<-busy
	outcome := make(chan error, 2)
	go func() {
		outcome <- update(func(w store.Writer) error { return w.Put(t.Context(), large) })
	}()
	go func() {
		outcome <- update(func(w store.Writer) error {
			return w.Put(t.Context(), store.Record{Org: "a", Kind: "small", ID: "1", Doc: []byte("{}")})
		})
	}()
	close(queued)
	refused := 0
	for range 2 {
		if err := <-outcome; errors.Is(err, store.ErrTooLong) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of the two were refused", refused)
	}
}

// A process that uses the file alone does not wait for the lease of a dead process. Within a
// process a lease has one holder.
func TestLeaseOfTheDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	first, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := first.Acquire(t.Context(), "redis", "one", time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := first.Advance(t.Context(), "redis", "one", 7); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil { // as after a kill: nothing is released
		t.Fatal(err)
	}
	next := open(t, path)
	if at, ok, err := next.Acquire(t.Context(), "redis", "two", time.Hour); at != 7 || !ok || err != nil {
		t.Error("the next process:", at, ok, err)
	}
	if _, ok, err := next.Acquire(t.Context(), "redis", "three", time.Hour); ok || err != nil {
		t.Error("another holder in the same process:", ok, err)
	}
}

// A lease that is longer than any real lease was taken before a clock was put back, and blocks
// no process.
func TestLeaseOfAnotherTime(t *testing.T) {
	s := openWith(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db"), Beside: true}) // which shares its leases
	for _, c := range []struct {
		holder string
		ttl    time.Duration
		taken  bool
	}{{"one", time.Hour, true}, {"two", time.Minute, true}, {"three", time.Minute, false}} {
		if _, taken, err := s.Acquire(t.Context(), "redis", c.holder, c.ttl); err != nil || taken != c.taken {
			t.Errorf("%s: %v, %v", c.holder, taken, err)
		}
	}
}

// Restored calls tell until it has succeeded, and not again.
func TestRestored(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "gatehouse.db"), filepath.Join(dir, "backup.db")
	told := 0
	tell := func(s *sqlite.Store, err error) error {
		return s.Restored(t.Context(), func(context.Context) error { told++; return err })
	}
	s := open(t, path)
	scope, err := tenant.Of("org")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
		return w.Put(t.Context(), store.Record{Org: "org", Kind: "note", ID: "1", Doc: []byte(`{}`)})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Backup(t.Context(), s, file); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tell(s, nil), s.Close()); err != nil || told != 0 {
		t.Fatal(told, err)
	}
	if _, _, err := sqlite.Restore(t.Context(), file, path, true, time.Now()); err != nil {
		t.Fatal(err)
	}
	s, away := open(t, path), errors.New("away")
	if err := tell(s, away); !errors.Is(err, away) {
		t.Error(err)
	}
	for range 2 {
		if err := tell(s, nil); err != nil {
			t.Error(err)
		}
	}
	if told != 2 {
		t.Errorf("told %d times", told)
	}
}

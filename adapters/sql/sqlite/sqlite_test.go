package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
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

func TestHold(t *testing.T) {
	storetest.RunHold(t, func(tb testing.TB) storetest.Backend {
		return openWith(tb, sqlite.Config{Path: filepath.Join(tb.TempDir(), "gatehouse.db"), Hold: storetest.Hold})
	})
}

// A unit of work whose rows take too long to send is refused as well, and the others
// of its group go on.
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

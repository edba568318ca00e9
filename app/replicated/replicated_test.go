package replicated_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// over returns a store whose copy is kept up to date until the end of the test.
func over(tb testing.TB, primary replicated.Primary, mode replicated.Mode, set ...func(*replicated.Store)) *replicated.Store {
	tb.Helper()
	copied, err := memdb.New(time.Now)
	if err != nil {
		tb.Fatal(err)
	}
	s := replicated.New(primary, copied, mode, nil)
	for _, set := range set {
		set(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Run(ctx) }()
	tb.Cleanup(func() { cancel(); <-done })
	return s
}

func TestOverSQLite(t *testing.T) {
	for _, mode := range []replicated.Mode{replicated.Current, replicated.Local, replicated.Direct} {
		t.Run(string(mode), func(t *testing.T) {
			storetest.Run(t, func(tb testing.TB) storetest.Backend {
				db, err := sqlite.Open(tb.Context(), sqlite.Config{Path: filepath.Join(tb.TempDir(), "gatehouse.db")})
				if err != nil {
					tb.Fatal(err)
				}
				tb.Cleanup(func() { _ = db.Close() })
				return over(tb, db, mode)
			})
		})
	}
}

func TestOverMemory(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		db, err := memdb.New(time.Now)
		if err != nil {
			tb.Fatal(err)
		}
		return over(tb, db, replicated.Current)
	})
}

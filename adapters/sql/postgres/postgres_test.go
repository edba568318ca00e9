package postgres_test

import (
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/app"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend { return open(tb, harness.Database(tb)) })
}

func TestKinds(t *testing.T) {
	a, err := app.New()
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunKinds(t, func(tb testing.TB) storetest.Backend { return open(tb, harness.Database(tb)) }, a.Kinds().Samples())
}

// Units that are prepared outside the writer behave as those that run in it.
func TestStorePrepared(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		return openWith(tb, postgres.Prepared(postgres.Config{DSN: harness.Database(tb), Conns: 4}))
	})
}

func TestLeap(t *testing.T) {
	storetest.RunLeap(t, func(tb testing.TB, now func() time.Time) storetest.Backend {
		return openWith(tb, postgres.Config{DSN: harness.Database(tb), Conns: 4, Now: now})
	})
}

func TestHold(t *testing.T) {
	storetest.RunHold(t, func(tb testing.TB, hold time.Duration) storetest.Backend {
		return openWith(tb, postgres.Config{DSN: harness.Database(tb), Conns: 4, Hold: hold})
	})
}

func open(tb testing.TB, dsn string) *postgres.Store {
	tb.Helper()
	return openWith(tb, postgres.Config{DSN: dsn, Conns: 4})
}

func openWith(tb testing.TB, c postgres.Config) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), c)
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

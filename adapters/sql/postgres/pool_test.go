package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPool: many concurrent readers use no more connections than allowed, few stay open
// afterwards, and old ones are replaced.
func TestPool(t *testing.T) {
	dsn := harness.Database(t)
	s := openWith(t, postgres.Config{DSN: dsn, Conns: 2, Idle: 1, Life: time.Minute})
	beside, err := postgres.Plain(dsn, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = beside.Close() })
	open := func() (n int) {
		if err := beside.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const most, listens = 3, 1
	var all sync.WaitGroup
	reads, goes := make(chan struct{}, 12), make(chan struct{})
	for range 12 {
		all.Go(func() {
			err := s.View(context.Background(), tenant.Everyone("a test of connections"), func(store.Reader) error {
				reads <- struct{}{}
				<-goes
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range most {
		<-reads
	}
	if n := open(); n > most+listens {
		t.Errorf("%d connections, not %d", n, most+listens)
	}
	close(goes)
	all.Wait()
	for end := time.Now().Add(10 * time.Second); open() > 1+listens; {
		if time.Now().After(end) {
			t.Fatalf("%d connections stay open", open())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

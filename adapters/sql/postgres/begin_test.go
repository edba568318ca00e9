package postgres_test

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestOpenSlowly: a server that is too slow to accept a connection at first does not end the
// start of a service. A server that refuses does, after the configured attempts.
func TestOpenSlowly(t *testing.T) {
	t.Parallel()
	dsn := harness.Database(t)
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	for name, c := range map[string]struct {
		err     error
		retries int
		opens   bool
	}{"slow": {os.ErrDeadlineExceeded, 0, true}, "refused": {refused, 0, false}, "refused at first": {refused, 2, true}} {
		t.Run(name, func(t *testing.T) {
			var dials atomic.Int32
			s, err := postgres.Open(t.Context(), postgres.Dialled(postgres.Config{DSN: dsn, Retries: c.retries, RetryDelay: time.Millisecond}, func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) <= 2 {
					return nil, c.err
				}
				return new(net.Dialer).DialContext(ctx, network, addr)
			}))
			if opened := err == nil; opened != c.opens {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if err := s.Close(); err != nil || dials.Load() < 3 {
				t.Error(err, dials.Load())
			}
		})
	}
}

// TestFrozenWriter: a process that is frozen during a write blocks other writers for no longer
// than a transaction may take, and writes again when it continues.
func TestFrozenWriter(t *testing.T) {
	t.Parallel()
	dsn := harness.Database(t)
	frozen, other := openWith(t, postgres.Within(postgres.Config{DSN: dsn, Conns: 4}, 300*time.Millisecond)), open(t, dsn)
	scope, err := tenant.Of("org")
	if err != nil {
		t.Fatal(err)
	}
	put := func(s *postgres.Store, id string, before func()) error {
		_, err := s.Update(t.Context(), scope, func(w store.Writer) error {
			before()
			return w.Put(t.Context(), store.Record{Org: "org", Kind: "note", ID: id, Doc: []byte(`{}`)})
		})
		return err
	}
	holds, goes, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	freeze := sync.OnceFunc(func() { close(holds); <-goes })
	go func() { ended <- put(frozen, "frozen", freeze) }()
	<-holds
	if err := put(other, "other", func() {}); err != nil {
		t.Errorf("another process: %v", err)
	}
	close(goes)
	if err := <-ended; !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the frozen process: %v", err)
	}
	if err := put(frozen, "again", func() {}); err != nil {
		t.Errorf("the frozen process, later: %v", err)
	}
}

package postgres_test

import (
	"context"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestOpenSlowly: a server that is too slow to take a connection at first does not end the
// start of a service; one that refuses does, after the attempts that the configuration allows.
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

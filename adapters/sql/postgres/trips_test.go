package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// watched counts how often a client waits for the server: each time it reads after it has
// written.
type watched struct {
	net.Conn
	mu    sync.Mutex
	asked bool
	trips int
}

// Write implements net.Conn.
func (c *watched) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.asked = true
	c.mu.Unlock()
	return c.Conn.Write(b)
}

// Read implements net.Conn.
func (c *watched) Read(b []byte) (int, error) {
	c.mu.Lock()
	if c.asked {
		c.asked = false
		c.trips++
	}
	c.mu.Unlock()
	return c.Conn.Read(b)
}

func (c *watched) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trips
}

// A write of a record that this process wrote last takes two round trips: one that begins,
// takes the turn and reads the revision, and one that stores and commits.
func TestRoundTrips(t *testing.T) {
	var mu sync.Mutex
	var conns []*watched
	s, err := postgres.Open(t.Context(), postgres.Dialled(postgres.Config{DSN: harness.Database(t)}, func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		c := &watched{Conn: conn}
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
		return c, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	busiest := func() (most int) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			most = max(most, c.count())
		}
		return most
	}
	write := func(n int) {
		scope, _ := tenant.Of("a")
		for i := range n {
			if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
				r, err := w.Get(t.Context(), "thing", "one")
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					return err
				}
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "thing", ID: "one", Rev: r.Rev, Doc: []byte{'[', byte('0' + i%10), ']'}})
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(50) // the statements are prepared, and the writer's connection is the busiest
	before := busiest()
	write(50)
	if got := busiest() - before; got > 2*50+2 {
		t.Errorf("50 writes took %d round trips", got)
	}
}

// What the server refuses is sent together with the commit: nothing of it is stored, others
// of the same transaction are, and the next write finds the connection as it should be.
func TestRefusedWithTheCommit(t *testing.T) {
	dsn := harness.Database(t)
	s := open(t, dsn)
	if err := insert(t.Context(), s, "before"); err != nil {
		t.Fatal(err)
	}
	harness.Exec(t, dsn, `alter table record add constraint refused check (id <> 'refused')`)
	for round := range 3 {
		results := make(chan error, 8)
		for i := range 8 {
			id := fmt.Sprintf("fine-%d-%d", round, i)
			if i == 3 {
				id = "refused"
			}
			go func() { results <- insert(t.Context(), s, id) }()
		}
		failed := 0
		for range 8 {
			if err := <-results; err != nil {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%d writes failed", failed)
		}
	}
	if err := insert(t.Context(), s, "after"); err != nil {
		t.Error(err)
	}
	scope, _ := tenant.Of("a")
	if err := s.View(t.Context(), scope, func(r store.Reader) error {
		if _, err := r.Get(t.Context(), "thing", "refused"); err == nil {
			t.Error("what was refused is there")
		}
		_, err := r.Get(t.Context(), "thing", "fine-2-7")
		return err
	}); err != nil {
		t.Error(err)
	}
}

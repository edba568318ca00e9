package memdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPruneAfterALeap: commits that are dated years ahead are forgotten together with those that
// follow, and not before.
func TestPruneAfterALeap(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, err := memdb.New(func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	write := func(at time.Time) {
		t.Helper()
		now = at
		if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
			return w.Put(t.Context(), store.Record{Org: "a", Kind: "n", ID: fmt.Sprint(at.UnixNano()), Doc: []byte("1")})
		}); err != nil {
			t.Fatal(err)
		}
	}
	began := now
	write(began)
	write(began.Add(90000 * time.Hour))
	write(began.Add(90001 * time.Hour))
	write(began.Add(time.Hour))
	write(began.Add(2 * time.Hour))
	for _, c := range []struct {
		since time.Duration
		n     int
	}{{time.Minute, 1}, {time.Minute, 0}, {time.Hour, 0}, {time.Hour + 1, 3}, {time.Hour + 1, 0}} {
		if n, err := s.Prune(t.Context(), store.Retention{Since: began.Add(c.since)}); err != nil || n != c.n {
			t.Errorf("what is older than %v: %d commits are forgotten, want %d: %v", c.since, n, c.n, err)
		}
	}
}

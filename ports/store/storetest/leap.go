package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// RunLeap tests what back ends prune after their clock was years ahead for a while: commits
// with such a time are pruned together with the commits after them, and not before.
func RunLeap(t *testing.T, newBackend func(tb testing.TB, now func() time.Time) Backend) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := began
	b := newBackend(t, func() time.Time { return now })
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []time.Duration{0, 90000 * time.Hour, 90001 * time.Hour, time.Hour, 2 * time.Hour} {
		now = began.Add(at)
		if _, err := b.Update(t.Context(), scope, func(w store.Writer) error {
			return things.Insert(t.Context(), w, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint(i)})
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		since time.Duration
		n     int
	}{{time.Minute, 1}, {time.Minute, 0}, {time.Hour, 0}, {time.Hour + 1, 3}, {time.Hour + 1, 0}} {
		if n, err := b.Prune(t.Context(), store.Retention{Since: began.Add(c.since)}); err != nil || n != c.n {
			t.Errorf("what is older than %v: %d commits are forgotten, want %d: %v", c.since, n, c.n, err)
		}
	}
}

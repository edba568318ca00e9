package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPutBack: the database is put back to an earlier state while processes run, such as by a
// standby that takes over and misses the last commits. Followers then get what the database has,
// and none of the lost commits that the process still has in memory.
func TestPutBack(t *testing.T) {
	for name, next := range map[string]struct {
		notices bool // a follower looks before the next commit
		ours    bool // the process that made the lost commits makes the next one
	}{
		"another process commits":        {true, false},
		"the same process commits":       {true, true},
		"the same commits before a look": {false, true},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := harness.Database(t)
			ours := openWith(t, postgres.Config{DSN: dsn, Conns: 4, Poll: 10 * time.Millisecond})
			for i := range 5 {
				if err := insert(t.Context(), ours, fmt.Sprint("old-", i)); err != nil {
					t.Fatal(err)
				}
			}
			harness.Exec(t, dsn, `delete from change_log where last > 1`)
			harness.Exec(t, dsn, `delete from record where rev > 1`)
			if next.notices {
				for c, err := range ours.Follow(t.Context(), 5) {
					if !errors.Is(err, store.ErrExpired) {
						t.Fatalf("revision %d, %v", c.Rev, err)
					}
				}
			}
			who := ours
			if !next.ours {
				who = open(t, dsn)
			}
			if err := insert(t.Context(), who, "new-2"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			var got []string
			for c, err := range ours.Follow(ctx, 1) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Changes[0].ID)
			}
			if !slices.Equal(got, []string{"new-2"}) {
				t.Errorf("followers got %q", got)
			}
		})
	}
}

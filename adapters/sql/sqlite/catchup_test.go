package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPlanOutlastsManyCommits prepares a unit of work while another organisation commits
// more often than a process remembers. The unit runs again only if the first of these
// commits changed what it has read.
func TestPlanOutlastsManyCommits(t *testing.T) {
	for name, c := range map[string]struct {
		first store.Record
		runs  int
	}{
		"others' records":         {store.Record{Org: "b", Kind: "k", ID: "first", Doc: []byte(`{}`)}, 1},
		"what it has looked at":   {store.Record{Org: "a", Kind: "k", ID: "seen", Doc: []byte(`{}`)}, 2},
		"what it has not seen of": {store.Record{Org: "a", Kind: "k", ID: "unseen", Doc: []byte(`{}`)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, sqlite.Prepared(sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")}))
			runs := 0
			_, err := s.Update(t.Context(), acme, func(w store.Writer) error {
				n, err := count(w.Scan(t.Context(), store.Query{Kind: "k", ID: "seen"}))
				if runs++; runs == 1 {
					fillLog(t, s, c.first, 1100)
				}
				if err != nil {
					return err
				}
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "seen", ID: "1", Doc: fmt.Append(nil, n)})
			})
			if err != nil || runs != c.runs {
				t.Errorf("the unit ran %d times, not %d: %v", runs, c.runs, err)
			}
		})
	}
}

// fillLog stores a record, and then n others of another organisation, in one commit each.
func fillLog(t *testing.T, s store.Store, first store.Record, n int) {
	t.Helper()
	everyone := tenant.Everyone("units of this scope have a turn of their own")
	put := func(r store.Record) {
		if _, err := s.Update(t.Context(), everyone, func(w store.Writer) error { return w.Put(t.Context(), r) }); err != nil {
			t.Error(err)
		}
	}
	put(first)
	sc, err := tenant.Of("b")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for from := range 10 {
		all.Go(func() {
			for i := from; i < n; i += 10 {
				r := store.Record{Org: "b", Kind: "k", ID: fmt.Sprint(i), Doc: []byte(`{}`)}
				if _, err := s.Update(t.Context(), sc, func(w store.Writer) error { return w.Put(t.Context(), r) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestLargeUnitLeavesTheWriterEarly counts how much a large unit of work does before it
// is stopped, even if it ignores errors, and checks what it has stored in the end.
func TestLargeUnitLeavesTheWriterEarly(t *testing.T) {
	s := openWith(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")})
	const n = 4000
	var done []int
	rev, err := s.Update(t.Context(), acme, func(w store.Writer) error {
		done = append(done, 0)
		for i := range n {
			key := store.Key{Index: "name", Value: fmt.Sprint("n", i), Unique: true}
			done[len(done)-1]++
			_ = w.Put(t.Context(), rec(fmt.Sprint(i), key)) // the next one may do better
		}
		return nil
	})
	if err != nil || len(done) != 2 || done[0] > n/10 || done[1] != n {
		t.Fatalf("the runs did %v: %v", done, err)
	}
	for _, id := range []string{"0", fmt.Sprint(n - 1)} {
		if err := s.View(t.Context(), acme, func(r store.Reader) error { return isStored(t.Context(), r, id, rev) }); err != nil {
			t.Errorf("record %s: %v", id, err)
		}
	}
}

func isStored(ctx context.Context, r store.Reader, id string, at store.Revision) error {
	for rec, err := range r.Scan(ctx, store.Query{Kind: "k", Index: "name", Value: "n" + id, Limit: 1}) {
		if err != nil {
			return err
		}
		if rec.ID != id || rec.Rev != at {
			return fmt.Errorf("%s of revision %d", rec.ID, rec.Rev)
		}
		return nil
	}
	return store.ErrNotFound
}

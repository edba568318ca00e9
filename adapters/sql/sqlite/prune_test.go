package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// grow overwrites one record repeatedly, and returns the size of the file.
func grow(t *testing.T, s *sqlite.Store, path string, times int) int64 {
	t.Helper()
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
			r := store.Record{Org: "a", Kind: "k", ID: "1"}
			if old, err := w.Get(t.Context(), "k", "1"); err == nil {
				r.Rev = old.Rev
			}
			b := []byte{'"'}
			for range 5_000 {
				b = fmt.Appendf(b, "%016x", rand.Uint64())
			}
			r.Doc = append(b, '"')
			return w.Put(t.Context(), r)
		}); err != nil {
			t.Fatal(err)
		}
	}
	return size(t, path)
}

// size returns the size of the file once it contains all commits.
func size(t *testing.T, path string) int64 {
	t.Helper()
	db := behind(t, path)
	_, err := db.ExecContext(t.Context(), "pragma wal_checkpoint(truncate)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Space of pruned history is given back to the file system, even in a database from
// before files could give space back.
func TestSpaceComesBack(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprint("made before: ", old), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			if old {
				s := open(t, path)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				db := behind(t, path)
				for _, statement := range []string{"pragma journal_mode(delete)", "pragma auto_vacuum(none)", "vacuum"} {
					if _, err := db.ExecContext(t.Context(), statement); err != nil {
						t.Fatal(statement, err)
					}
				}
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, path)
			large := grow(t, s, path, 60)
			if n, err := s.Prune(t.Context(), store.Retention{Bytes: 1 << 20}); err != nil || n < 40 {
				t.Fatalf("pruned %d, %v", n, err)
			}
			if small := size(t, path); large < 8<<20 || small > 3<<20 {
				t.Errorf("%d bytes became %d", large, small)
			}
		})
	}
}

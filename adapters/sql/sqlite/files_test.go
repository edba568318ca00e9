package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestFilesAreTheOwners checks the modes of a new database and of one that others could
// read.
func TestFilesAreTheOwners(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gatehouse.db")
	for round := range 2 {
		s := open(t, path)
		scope, err := tenant.Of("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
			return items.Insert(t.Context(), w, item{ID: string(rune('a' + round)), Org: "a"})
		}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(path + "*")
		if err != nil || len(files) < 4 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("round %d: %s is %v, %v", round, f, info.Mode(), err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, _ = filepath.Glob(path + "*")
		for _, f := range files {
			if err := os.Chmod(f, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A folder in the place of the database is refused and stays as it is: without its
// mode, its owner could not even remove it.
func TestFolderKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); err == nil {
		t.Error("a folder was opened")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

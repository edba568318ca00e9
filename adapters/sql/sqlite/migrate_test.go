package sqlite_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
)

// TestMigrate applies each step once, and refuses a database that it does not
// understand.
func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a folder?#%", "..", "gatehouse.db")
	path = filepath.Clean(path)
	for round, applied := range []bool{true, false} {
		steps, err := sqlite.Migrate(t.Context(), path)
		if err != nil || len(steps) == 0 {
			t.Fatal(steps, err)
		}
		for _, s := range steps {
			if s.Applied != applied {
				t.Errorf("round %d: %+v", round, s)
			}
		}
	}
	for statement, want := range map[string]string{
		`insert into migration (name, sum) values ('9999_future.sql', 'x')`: "use the newer program",
		`update migration set sum = 'other'`:                                "another version of this step",
	} {
		db := behind(t, path)
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Migrate(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
		if _, err := db.ExecContext(t.Context(), `delete from migration where name = '9999_future.sql'`); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
	}
}

// A path may hold any character.
func TestOddPath(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "50% a?b#c é.db"))
	if _, err := s.Head(t.Context()); err != nil {
		t.Error(err)
	}
}

package postgres_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestBackupMovesBetweenDatabases takes a store from SQLite to PostgreSQL and back
// by way of the one form of backup.
func TestBackupMovesBetweenDatabases(t *testing.T) {
	dir := t.TempDir()
	first, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "first.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Close() }()
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two", "three"} {
		if _, err := first.Update(t.Context(), scope, func(w store.Writer) error {
			return w.Put(t.Context(), store.Record{Org: "a", Kind: "n", ID: id, Doc: []byte(`{"text":"é \u0000"}`), Keys: []store.Key{{Index: "i", Value: id, Unique: true}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	forth, back := filepath.Join(dir, "forth.db"), filepath.Join(dir, "back.db")
	want, err := sqlite.Backup(t.Context(), first, forth)
	if err != nil || want.Rows["record"] != 3 || want.Head != 3 {
		t.Fatal(want, err)
	}
	pg, err := postgres.Open(t.Context(), postgres.Config{DSN: harness.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.Close() }()
	from, err := sqlite.Connect(forth)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	for _, replace := range []bool{false, true} {
		if have, err := pg.CopyFrom(t.Context(), from, replace); err != nil || !have.Equal(want) {
			t.Errorf("forth: %v, %v", have, err)
		}
	}
	if _, err := pg.CopyFrom(t.Context(), from, false); !errors.Is(err, store.ErrTaken) {
		t.Errorf("over what is there: %v", err)
	}
	if have, err := sqlite.Backup(t.Context(), pg, back); err != nil || !have.Equal(want) {
		t.Errorf("back: %v, %v", have, err)
	}
	if err := pg.View(t.Context(), scope, func(r store.Reader) error {
		rec, err := r.Get(t.Context(), "n", "two")
		if string(rec.Doc) != `{"text":"é \u0000"}` || rec.Rev != 2 || rec.Key("i") != "two" {
			t.Errorf("%+v", rec)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

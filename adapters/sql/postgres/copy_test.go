package postgres_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// TestBackupMovesBetweenDatabases moves a store from SQLite to PostgreSQL and back
// through a backup, unencrypted and encrypted.
func TestBackupMovesBetweenDatabases(t *testing.T) {
	documents, err := crypto.NewDocuments("secret")
	if err != nil {
		t.Fatal(err)
	}
	for name, sealing := range map[string]sqladapter.Sealing{"clear": {}, "encrypted": {Documents: documents}} {
		t.Run(name, func(t *testing.T) { move(t, sealing) })
	}
}

func move(t *testing.T, sealing sqladapter.Sealing) {
	dir := t.TempDir()
	first, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "first.db"), Sealing: sealing})
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
	long := storetest.Long("long", 2_500_000) // in parts
	if _, err := first.Update(t.Context(), scope, func(w store.Writer) error {
		return w.Put(t.Context(), store.Record{Org: "a", Kind: "long", ID: "1", Doc: long})
	}); err != nil {
		t.Fatal(err)
	}
	forth, back := filepath.Join(dir, "forth.db"), filepath.Join(dir, "back.db")
	want, err := sqlite.Backup(t.Context(), first, forth)
	if err != nil || want.Rows["record"] != 4 || want.Rows["long_text"] != 2 || want.Rows["long_part"] != 10+12 || want.Head != 4 {
		t.Fatal(want, err)
	}
	pg, err := postgres.Open(t.Context(), postgres.Config{DSN: harness.Database(t), Sealing: sealing})
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
	if _, held, err := pg.Acquire(t.Context(), "relay", "a service", time.Minute); err != nil || !held {
		t.Fatal(held, err)
	}
	if _, err := pg.CopyFrom(t.Context(), from, true); !errors.Is(err, sqladapter.ErrServed) {
		t.Errorf("under a service: %v", err)
	}
	if err := pg.Release(t.Context(), "relay", "a service"); err != nil {
		t.Error(err)
	}
	if have, err := pg.CopyFrom(t.Context(), from, true); err != nil || !have.Equal(want) {
		t.Errorf("after the service: %v, %v", have, err)
	}
	if have, err := sqlite.Backup(t.Context(), pg, back); err != nil || !have.Equal(want) {
		t.Errorf("back: %v, %v", have, err)
	}
	last, err := sqlite.Open(t.Context(), sqlite.Config{Path: back, Sealing: sealing})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = last.Close() }()
	for _, st := range []interface {
		store.Store
		store.Historian
	}{pg, last} {
		check(t, st, scope)
		if got, err := store.At(t.Context(), st, scope, "long", "1", 4); err != nil || !bytes.Equal(got, long) {
			t.Errorf("a long document: %d bytes, %v", len(got), err)
		}
		for c, err := range st.History(t.Context(), scope, "long", "1") {
			if got, wrong := c.Changes[0].Delta.Apply(nil); err != nil || wrong != nil || !bytes.Equal(got, long) {
				t.Errorf("its history: %d bytes, %v, %v", len(got), err, wrong)
			}
		}
	}
}

// check checks the moved records.
func check(t *testing.T, st interface {
	store.Store
	store.Historian
}, scope tenant.Scope) {
	t.Helper()
	n := 0
	for c, err := range st.History(t.Context(), scope, "n", "two") {
		if n++; err != nil || c.Rev != 2 {
			t.Error(c, err)
		}
	}
	if n != 1 {
		t.Errorf("%d commits", n)
	}
	if err := st.View(t.Context(), scope, func(r store.Reader) error {
		rec, err := r.Get(t.Context(), "n", "two")
		if string(rec.Doc) != `{"text":"é \u0000"}` || rec.Rev != 2 || rec.Key("i") != "two" {
			t.Errorf("%+v", rec)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestReseal encrypts unencrypted records in PostgreSQL, and reads them.
func TestReseal(t *testing.T) {
	documents, err := crypto.NewDocuments("secret")
	if err != nil {
		t.Fatal(err)
	}
	dsn := harness.Database(t)
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	long := storetest.Long("long", 2_500_000) // in parts
	for round, want := range []int{0, 3, 0} {
		var sealing sqladapter.Sealing
		if round > 0 {
			sealing.Documents = documents
		}
		pg, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Sealing: sealing})
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err := pg.Update(t.Context(), scope, func(w store.Writer) error {
				if err := w.Put(t.Context(), store.Record{Org: "a", Kind: "n", ID: "long", Doc: long}); err != nil {
					return err
				}
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "n", ID: "x", Doc: []byte(`{"password":"hunter2"}`)})
			}); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := pg.Reseal(t.Context(), func(int) {}); n != want || err != nil {
			t.Errorf("round %d: %d rows, %v", round, n, err)
		}
		if err := pg.View(t.Context(), scope, func(r store.Reader) error {
			rec, err := r.Get(t.Context(), "n", "x")
			if string(rec.Doc) != `{"password":"hunter2"}` || rec.Damage != nil {
				t.Errorf("round %d: %+v", round, rec)
			}
			if err != nil {
				return err
			}
			rec, err = r.Get(t.Context(), "n", "long")
			if !bytes.Equal(rec.Doc, long) || rec.Damage != nil {
				t.Errorf("round %d: %d bytes, %v", round, len(rec.Doc), rec.Damage)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
		_ = pg.Close()
	}
	pg, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pg.Close() }()
	if err := pg.Fits(t.Context()); !errors.Is(err, sqladapter.ErrSealed) {
		t.Error(err)
	}
}

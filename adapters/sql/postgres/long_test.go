package postgres_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// counted counts the sealed parts, and calls before with each.
type counted struct {
	secret.Documents
	before func(n int)
	n      int
}

func (c *counted) Seal(dst, plain, place []byte) ([]byte, error) {
	if len(plain) > 64<<10 {
		c.n++
		c.before(c.n)
	}
	return c.Documents.Seal(dst, plain, place)
}

// TestTextsOfAnotherProcess stores a long document while another process starts, which
// removes texts without a row: texts of a running unit stay, and old ones are removed.
// A unit that loses its texts that way stores them again.
func TestTextsOfAnotherProcess(t *testing.T) {
	dsn := harness.Database(t)
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	exec := func(text string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Error(text, err)
		}
	}
	count := func(text string) (n int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), text).Scan(&n); err != nil {
			t.Error(text, err)
		}
		return n
	}
	startAnother := func() {
		t.Helper()
		exec(`insert into long_text (name, state, at, size, kind, org, id, last) values ('ZZZ', 2, 0, 0, '', '', '', 0)`)
		other, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn})
		if err != nil {
			t.Error(err)
			return
		}
		for end := time.Now().Add(20 * time.Second); count(`select count(*) from long_text where name = 'ZZZ'`) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Error("the other process removes nothing")
				break
			}
		}
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
	ring, err := crypto.NewDocuments("secret")
	if err != nil {
		t.Fatal(err)
	}
	sealing := &counted{Documents: ring, before: func(int) {}}
	s, err := postgres.Open(t.Context(), postgres.Config{DSN: dsn, Sealing: sqladapter.Sealing{Documents: sealing}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	scope, err := tenant.Of("a")
	if err != nil {
		t.Fatal(err)
	}
	for round, c := range []struct {
		aged bool
		runs int
	}{{false, 2}, {true, 2}} { // the first run finds out that the unit is large
		text, runs, parts := storetest.Long(fmt.Sprint("text ", round), 1_200_000), 0, sealing.n
		sealing.before = func(n int) {
			if n != parts+4 {
				return
			}
			if c.aged {
				exec(`update long_text set at = 0 where state = 0`)
			}
			startAnother()
		}
		if _, err := s.Update(t.Context(), scope, func(w store.Writer) error {
			runs++
			r := store.Record{Org: "a", Kind: "long", ID: "1", Doc: text}
			if old, err := w.Get(t.Context(), "long", "1"); err == nil {
				r.Rev = old.Rev
			}
			return w.Put(t.Context(), r)
		}); err != nil {
			t.Fatal(err)
		}
		if runs != c.runs {
			t.Errorf("round %d: %d runs", round, runs)
		}
		if err := s.View(t.Context(), scope, func(r store.Reader) error {
			rec, err := r.Get(t.Context(), "long", "1")
			if err == nil && (rec.Damage != nil || !bytes.Equal(rec.Doc, text)) {
				t.Errorf("round %d: %d bytes, %v", round, len(rec.Doc), rec.Damage)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	sealing.before = func(int) {}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for ctx.Err() == nil && count(`select count(*) from long_text where state <> 1`) > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	if n := count(`select count(*) from long_text`); n != 3 || ctx.Err() != nil { // the document, and two changes
		t.Errorf("%d texts", n)
	}
}

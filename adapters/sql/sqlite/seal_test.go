package sqlite_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/crypto"
	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// sealing encrypts with the first secret.
func sealing(tb testing.TB, secrets ...string) sqladapter.Sealing {
	tb.Helper()
	d, err := crypto.NewDocuments(secrets...)
	if err != nil {
		tb.Fatal(err)
	}
	return sqladapter.Sealing{Documents: d}
}

func openSealed(tb testing.TB, path string, s sqladapter.Sealing) *sqlite.Store {
	tb.Helper()
	st, err := sqlite.Open(tb.Context(), sqlite.Config{Path: path, Sealing: s})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = st.Close() })
	return st
}

func TestSealedStore(t *testing.T) {
	storetest.Run(t, func(tb testing.TB) storetest.Backend {
		return openSealed(tb, filepath.Join(tb.TempDir(), "gatehouse.db"), sealing(tb, "secret"))
	})
}

// password must not be readable on the disk.
const password = "correct-horse-battery"

// leaks returns the files of a database that contain the password.
func leaks(tb testing.TB, path string) (found []string) {
	tb.Helper()
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) == 0 {
		tb.Fatal(files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		if bytes.Contains(text, []byte(password)) {
			found = append(found, filepath.Base(f))
		}
	}
	return found
}

// write stores a secret document, changes it, and deletes another one.
func write(tb testing.TB, s *sqlite.Store) {
	tb.Helper()
	for _, step := range []func(w store.Writer) error{
		func(w store.Writer) error {
			return w.Put(tb.Context(), store.Record{Org: "a", Kind: "secret", ID: "x", Doc: fmt.Appendf(nil, `{"password":%q,"n":1}`, password)})
		},
		func(w store.Writer) error {
			return w.Put(tb.Context(), store.Record{Org: "a", Kind: "secret", ID: "gone", Doc: fmt.Appendf(nil, `{"n":0,"password":%q}`, strings.Repeat(password, 500))})
		},
		func(w store.Writer) error { return w.Delete(tb.Context(), "secret", "gone") },
		func(w store.Writer) error {
			rec, err := w.Get(tb.Context(), "secret", "x")
			if err != nil {
				return err
			}
			rec.Doc = fmt.Appendf(nil, `{"password":"%s","n":2}`, password)
			return w.Put(tb.Context(), rec)
		},
	} {
		if _, err := s.Update(tb.Context(), acme, step); err != nil {
			tb.Fatal(err)
		}
	}
}

// readable checks that the document and its history are there.
func readable(tb testing.TB, s *sqlite.Store) {
	tb.Helper()
	now, err := store.At(tb.Context(), s, acme, "secret", "x", 4)
	then, wrong := store.At(tb.Context(), s, acme, "secret", "x", 1)
	if err != nil || wrong != nil || !json.Valid(now) || !strings.Contains(string(now), password) || !strings.Contains(string(then), `"n":1`) {
		tb.Errorf("now %s, %v; then %s, %v", now, err, then, wrong)
	}
	if found, err := s.Damaged(tb.Context()); err != nil || len(found) > 0 {
		tb.Error(found, err)
	}
}

func closed(tb testing.TB, s *sqlite.Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// TestNothingInClear searches for a password in every file of an encrypted store.
func TestNothingInClear(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := openSealed(t, path, sealing(t, "secret"))
	write(t, s)
	readable(t, s)
	if found := leaks(t, path); len(found) > 0 {
		t.Error("while it is open:", found)
	}
	closed(t, s)
	if found := leaks(t, path); len(found) > 0 {
		t.Error("when it is closed:", found)
	}
}

// TestReseal encrypts unencrypted texts, including free pages; changes the key; and can
// read when encryption is switched off.
func TestReseal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	write(t, s)
	closed(t, s)
	if len(leaks(t, path)) == 0 {
		t.Fatal("nothing was in clear: the test shows nothing")
	}
	off := sealing(t, "new")
	off.Clear = true
	for _, round := range []struct {
		name    string
		sealing sqladapter.Sealing
		rows    int
	}{
		{"first", sealing(t, "old"), 5}, {"again", sealing(t, "old"), 0}, {"another key", sealing(t, "new", "old"), 5},
		{"the old key is gone", sealing(t, "new"), 0}, {"off", off, 0}, {"on again", sealing(t, "new"), 0},
	} {
		s := openSealed(t, path, round.sealing)
		if err := s.Fits(t.Context()); err != nil {
			t.Errorf("%s: %v", round.name, err)
		}
		told := 0
		n, err := s.Reseal(t.Context(), func(done int) { told = done })
		if err != nil || n != round.rows || told != n {
			t.Errorf("%s: %d rows of %d, %d told, %v", round.name, n, round.rows, told, err)
		}
		readable(t, s)
		if found := leaks(t, path); len(found) > 0 {
			t.Errorf("%s: in clear in %v", round.name, found)
		}
		closed(t, s)
	}
	for name, wrong := range map[string]sqladapter.Sealing{"another key": sealing(t, "other"), "no key": {}} {
		s := openSealed(t, path, wrong)
		if err := s.Fits(t.Context()); !errors.Is(err, sqladapter.ErrSealed) {
			t.Errorf("%s: %v", name, err)
		}
		closed(t, s)
	}
}

// TestSwappedDocuments refuses documents of another record, organisation or revision:
// each is bound to its place.
func TestSwappedDocuments(t *testing.T) {
	for name, swap := range map[string]string{
		"record":       `update record set doc = (select doc from record where id = '001') where id = '000'`,
		"identifier":   `update record set id = '00x' where id = '000'`,
		"organisation": `update record set org = 'b' where id = '000'`,
		"kind":         `update record set kind = 'itex' where id = '000'`,
		"revision":     `update record set rev = 9 where id = '000'`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			s := openSealed(t, path, sealing(t, "secret"))
			fill(t, s, 2)
			closed(t, s)
			tamper(t, path, swap)
			s = openSealed(t, path, sealing(t, "secret"))
			bad := 0
			if err := s.Examine(t.Context(), func(rec store.Record) {
				if rec.Damage != nil {
					bad++
				}
			}, func(*store.Damage) {}); err != nil || bad != 1 {
				t.Errorf("%d damaged, %v", bad, err)
			}
		})
	}
}

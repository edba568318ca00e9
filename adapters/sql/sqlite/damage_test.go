package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var acme = func() tenant.Scope {
	s, err := tenant.Of("a")
	if err != nil {
		panic(err)
	}
	return s
}()

// fill stores items 000 to n-1.
func fill(tb testing.TB, s *sqlite.Store, n int) {
	tb.Helper()
	if _, err := s.Update(tb.Context(), acme, func(w store.Writer) error {
		for i := range n {
			id := fmt.Sprintf("%03d", i)
			if err := items.Insert(tb.Context(), w, item{ID: id, Org: "a", Name: "name " + id + strings.Repeat(" and more", 40)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
}

// behind opens a file directly. It waits while the store locks the file, as during a
// checkpoint.
func behind(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// tamper runs a statement on the file directly.
func tamper(tb testing.TB, path, statement string) {
	tb.Helper()
	db := behind(tb, path)
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(tb.Context(), statement); err != nil {
		tb.Fatal(err)
	}
}

func names(ctx context.Context, s store.Store) (ids []string, err error) {
	err = s.View(ctx, acme, func(r store.Reader) error {
		for v, err := range items.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			ids = append(ids, v.Value.ID)
		}
		return nil
	})
	return ids, err
}

// TestDamagedRecords: damaged records are left out of lists, reported when requested,
// counted, and can each be deleted with all their rows.
func TestDamagedRecords(t *testing.T) {
	for name, statement := range map[string]string{
		"document":     `update record set doc = substr(doc, 1, 20) where id = '001'`,
		"no text":      `update record set doc = cast(x'7b22ff' as text) where id = '001'`,
		"meta":         `update record set meta = '{' where id = '001'`,
		"revision":     `update record set rev = 'x' where id = '001'`,
		"another type": `update record set doc = '[1]' where id = '001'`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			s := open(t, path)
			fill(t, s, 3)
			var taken item
			if err := s.View(t.Context(), acme, func(r store.Reader) error {
				v, err := items.Get(t.Context(), r, "001")
				taken = v.Value
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tamper(t, path, statement)
			s = open(t, path)
			if ids, err := names(t.Context(), s); err != nil || fmt.Sprint(ids) != "[000 002]" {
				t.Errorf("listed %v, %v", ids, err)
			}
			if err := s.View(t.Context(), acme, func(r store.Reader) error {
				_, err := items.Get(t.Context(), r, "001")
				return err
			}); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "item '001' is damaged and cannot be read: delete it, or restore a backup") {
				t.Error(err)
			}
			if found, err := s.Damaged(t.Context()); err != nil || name != "another type" && (len(found) != 1 || found[0].ID != "001") {
				t.Errorf("counted %v, %v", found, err)
			}
			if _, err := s.Update(t.Context(), acme, func(w store.Writer) error {
				_, err := items.Delete(t.Context(), w, "001", nil)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if found, err := s.Damaged(t.Context()); err != nil || len(found) != 0 {
				t.Errorf("still counted %v, %v", found, err)
			}
			if _, err := s.Update(t.Context(), acme, func(w store.Writer) error { return items.Insert(t.Context(), w, taken) }); err != nil {
				t.Errorf("its unique name is not free: %v", err)
			}
		})
	}
}

// TestDamagedLog: followers get past a row of the log that cannot be read.
func TestDamagedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	fill(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, `update change_log set body = substr(body, 1, 50)`)
	s = open(t, path)
	for _, err := range s.Follow(t.Context(), 0) {
		if !errors.Is(err, store.ErrExpired) {
			t.Error(err)
		}
	}
	n := 0
	if err := s.Snapshot(t.Context(), func(st store.State) error {
		for _, err := range st.Records {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}); err != nil || n != 3 {
		t.Errorf("%d records, %v", n, err)
	}
	var bad []store.Damage
	if err := s.Examine(t.Context(), func(store.Record) {}, func(d *store.Damage) {
		if d != nil {
			bad = append(bad, *d)
		}
	}); err != nil || len(bad) != 1 || bad[0].ID != "1" {
		t.Errorf("%v, %v", bad, err)
	}
}

// TestFlippedBytes damages a file in many places: it is refused with advice, or it serves
// every record except those counted as damaged.
func TestFlippedBytes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gatehouse.db")
	s := open(t, path)
	fill(t, s, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	refused, left := 0, 0
	for round := range 150 {
		bad, at := append([]byte(nil), good...), chance.IntN(len(good)-16)
		switch round {
		case 0:
			bad = bad[:len(bad)/2]
		case 1:
			clear(bad[:4096])
		case 2:
			bad = append([]byte("not a database at all"), bad...)
		default:
			for i := range 16 {
				bad[at+i] ^= byte(1 + chance.IntN(255))
			}
		}
		broken := filepath.Join(t.TempDir(), "gatehouse.db")
		if err := os.WriteFile(broken, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), sqlite.Config{Path: broken})
		if err != nil {
			refused++
			if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "restore a backup with `gatehouse restore FILE`") {
				t.Errorf("round %d, byte %d: %v", round, at, err)
			}
			continue
		}
		ids, err := names(t.Context(), s)
		damaged, wrong := s.Damaged(t.Context())
		if left += len(damaged); err != nil || wrong != nil || len(ids)+len(damaged) != 200 {
			t.Errorf("round %d, byte %d: %d records, %d damaged, %v, %v", round, at, len(ids), len(damaged), err, wrong)
		}
		_ = s.Close()
	}
	if refused < 5 || left < 5 {
		t.Errorf("%d files refused, %d records left out: the test damages nothing", refused, left)
	}
}

// TestUntouchedFile: a file in the state in which it was closed is served at once and then
// checked: damage stops all writes. Any other file is checked first.
func TestUntouchedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	fill(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	db := behind(t, path)
	db.SetMaxOpenConns(1)
	for _, statement := range []string{`pragma writable_schema = on`, `update sqlite_schema set sql = replace(sql, 'kind, id', 'id, kind') where name = 'record_by_id'`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("another time: %v", err)
	}
	if err := os.Chtimes(path, left.ModTime(), left.ModTime()); err != nil { // as if the disk had changed it
		t.Fatal(err)
	}
	s, err = sqlite.Open(t.Context(), sqlite.CheckedAfter(sqlite.Config{Path: path}, time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(10 * time.Second); s.Trouble(t.Context()) == nil && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if err := s.Trouble(t.Context()); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("trouble: %v", err)
	}
	if err := insert(t, s, "more"); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("written: %v", err)
	}
	if ids, err := names(t.Context(), s); err != nil || len(ids) != 3 {
		t.Error(ids, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("the next start: %v", err)
	}
}

// TestVanishedDatabase: a start does not create an empty database where there was one.
func TestVanishedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	fill(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"missing": func() error { return os.Remove(path) },
		"empty":   func() error { return os.WriteFile(path, nil, 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "missing or empty") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(os.RemoveAll(path), os.Remove(path+".lock"), os.WriteFile(path+"-wal", []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a log without its database: %v", err)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestAcknowledgedChangesAreMissed refuses a file whose log is missing, truncated or
// damaged, or that was replaced by an older copy, if it has acknowledged more than it
// contains.
func TestAcknowledgedChangesAreMissed(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "gatehouse.db")
	s := open(t, path)
	fill(t, s, 3)
	running := map[string][]byte{} // as a killed process leaves it
	for _, suffix := range []string{"", "-wal", ".lock"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		running[suffix] = text
	}
	flipped := slices.Clone(running["-wal"])
	flipped[len(flipped)/2] ^= 1
	for name, wal := range map[string][]byte{"whole": running["-wal"], "missing": nil, "cut": running["-wal"][:len(running["-wal"])/2], "flipped": flipped} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			for suffix, text := range map[string][]byte{"": running[""], "-wal": wal, ".lock": running[".lock"]} {
				if err := os.WriteFile(path+suffix, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if name == "whole" {
				if ids, err := names(t.Context(), open(t, path)); err != nil || len(ids) != 3 {
					t.Error(ids, err)
				}
				return
			}
			for _, beside := range []bool{true, false} { // the first attempt must leave no trace that hides the problem from the second
				_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Beside: beside})
				if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "changes up to 1 have been acknowledged") || !strings.Contains(err.Error(), "gatehouse restore FILE") {
					t.Errorf("beside %t: %v", beside, err)
				}
				if text, err := os.ReadFile(path); err != nil || !slices.Equal(text, running[""]) {
					t.Errorf("beside %t: what was refused has been written to, %v", beside, err)
				}
			}
			if err := os.Remove(path + ".lock"); err != nil {
				t.Fatal(err)
			}
			open(t, path)
		})
	}
}

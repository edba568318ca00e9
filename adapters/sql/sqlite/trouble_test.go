package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// insert stores one large item.
func insert(t *testing.T, s store.Store, id string) error {
	t.Helper()
	_, err := s.Update(t.Context(), acme, func(w store.Writer) error {
		return items.Insert(t.Context(), w, item{ID: id, Org: "a", Name: id + strings.Repeat("x", 8000)})
	})
	return err
}

// TestFullDisk: a full disk is reported as such, acknowledged writes are kept, and writes
// succeed again once there is space.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s, err := sqlite.Open(t.Context(), sqlite.Limited(sqlite.Config{Path: path}, 200))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	stored := 0
	for err == nil {
		if err = insert(t, s, fmt.Sprintf("%03d", stored)); err == nil {
			stored++
		}
	}
	if !errors.Is(err, store.ErrFull) || stored < 5 {
		t.Fatalf("after %d: %v", stored, err)
	}
	if err := s.Trouble(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("trouble: %v", err)
	}
	if ids, err := names(t.Context(), s); err != nil || len(ids) != stored {
		t.Errorf("%d of %d are there, %v", len(ids), stored, err)
	}
	tamper(t, path, `delete from change_log where last < 5`) // makes room
	if err := s.Trouble(t.Context()); err != nil {
		t.Errorf("trouble that has passed: %v", err)
	}
	if err := insert(t, s, "again"); err != nil {
		t.Error(err)
	}
}

// TestConnectionsWriteNothing opens an existing file without a write: on a full disk, a killed
// service starts again, and serves gateways and readers.
func TestConnectionsWriteNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	if err := insert(t, s, "a"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path + "-wal")
	if err != nil || len(before) == 0 {
		t.Fatal(len(before), err)
	}
	beside, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Beside: true})
	if err != nil {
		t.Fatal(err)
	}
	if ids, err := names(t.Context(), beside); err != nil || len(ids) != 1 {
		t.Error(ids, err)
	}
	if findings, err := sqlite.Check(t.Context(), path, nil); err != nil || len(findings) > 0 {
		t.Error(findings, err)
	}
	if err := beside.Close(); err != nil {
		t.Error(err)
	}
	if after, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log had %d bytes, and has %d, %v", len(before), len(after), err)
	}
}

// TestLockedElsewhere: a file that another program keeps locked makes all waiting callers fail,
// before their patience ends, and not one after the other.
func TestLockedElsewhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	other := behind(t, path)
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "begin immediate"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	began := time.Now()
	for i := range 3 {
		all.Go(func() {
			if err := insert(t, s, fmt.Sprint(i)); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the answer took %v", took)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := insert(t, s, "after"); err != nil {
		t.Error(err)
	}
}

// TestTemporaryFiles checks that no write needs a folder for temporary files: a full one would
// be reported as a full disk of the store.
func TestTemporaryFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	closed(t, open(t, path))
	if where, err := sqlite.Temporary(t.Context(), path); err != nil || where != 2 {
		t.Errorf("temporary data is in place %d, not in memory: %v", where, err)
	}
}

// TestVanishedLock takes the lock again if its file was removed, and writes nothing while
// another process holds it.
func TestVanishedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	second := func() error {
		other, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
		if err == nil {
			t.Cleanup(func() { _ = other.Close() })
		}
		return err
	}
	if err := errors.Join(insert(t, s, "before"), os.Remove(path+".lock"), insert(t, s, "after")); err != nil {
		t.Fatal(err)
	}
	if err := second(); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
	if err := errors.Join(os.Remove(path+".lock"), second()); err != nil {
		t.Fatal(err)
	}
	if err := insert(t, s, "lost"); !errors.Is(err, sqlite.ErrInUse) || !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("write beside a second one: %v", err)
	}
}

// TestVanishedFile acknowledges no writes to a file that was deleted or replaced, and continues
// when it is back.
func TestVanishedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, path)
	if err := insert(t, s, "before"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	for _, in := range []struct {
		put    func() error
		reason string
	}{
		{func() error { return nil }, "moved or deleted"},
		{func() error { return os.Symlink(path, path) }, "cannot be looked at"},
		{func() error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte("x"), 0o600)) }, "another file is in the place"},
	} {
		if err := in.put(); err != nil {
			t.Fatal(err)
		}
		if err := s.Trouble(t.Context()); err == nil || !strings.Contains(err.Error(), in.reason) || strings.Count(err.Error(), "store: ") != 1 {
			t.Errorf("trouble: %v, not that it %s", err, in.reason)
		}
		if err := s.Trouble(t.Context()); !errors.Is(err, store.ErrGone) {
			t.Errorf("trouble: %v", err)
		}
		if err := insert(t, s, "lost"); !errors.Is(err, store.ErrGone) {
			t.Errorf("write: %v", err)
		}
		var all sync.WaitGroup
		for range 20 { // connections to the current file
			all.Go(func() { _, _ = names(t.Context(), s) })
		}
		all.Wait()
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Trouble(t.Context()), insert(t, s, "after")); err != nil {
		t.Error(err)
	}
	if ids, err := names(t.Context(), s); err != nil || fmt.Sprint(ids) != "[after before]" {
		t.Error(ids, err)
	}
}

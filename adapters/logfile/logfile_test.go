package logfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/logfile"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	l, err := logfile.Open(path, 10, 2)
	if err != nil {
		t.Fatal(err)
	}
	add := func(text string) func() error {
		t.Helper()
		undo, err := l.Append([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return undo
	}
	holds := func(want ...string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(want) {
			t.Fatal(entries, err)
		}
		for i, e := range entries {
			if text, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || e.Name()+" "+string(text) != want[i] {
				t.Errorf("%s: %q, want %q; %v", e.Name(), text, want[i], err)
			}
		}
	}
	first := add("one\n")
	add("two\n")
	if first() == nil {
		t.Error("what was appended before something else is taken back")
	}
	if err := add("three\n")(); err != nil { // in a new file
		t.Error(err)
	}
	holds("log ", "log.1 one\ntwo\n")
	add("four\n")
	add(strings.Repeat("x", 20)) // longer than a file's limit
	holds("log "+strings.Repeat("x", 20), "log.1 four\n", "log.2 one\ntwo\n")
	add("five\n")
	holds("log five\n", "log.1 "+strings.Repeat("x", 20), "log.2 four\n")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = logfile.Open(path, 10, 2); err != nil { // as another process would continue
		t.Fatal(err)
	}
	add("six\n")
	holds("log five\nsix\n", "log.1 "+strings.Repeat("x", 20), "log.2 four\n")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Append([]byte("x")); err == nil {
		t.Error("a closed file takes texts")
	}
	for _, bad := range []string{dir, filepath.Join(dir, "none", "log"), "/dev/null"} {
		if _, err := logfile.Open(bad, 10, 1); err == nil {
			t.Error(bad, "is opened")
		}
	}
}

// world is a folder with a file that is rotated at ten bytes, and three older files.
func world(t *testing.T, names ...string) (dir string, open func() *logfile.File) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("of "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func() *logfile.File {
		t.Helper()
		l, err := logfile.Open(filepath.Join(dir, "log"), 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestMovedAwayLater: a file that could not be rotated accepts texts again later.
func TestMovedAwayLater(t *testing.T) {
	dir, open := world(t, "log", "log.1", "log.2")
	l, taken := open(), filepath.Join(dir, "log.3")
	if err := os.MkdirAll(filepath.Join(taken, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := l.Append([]byte("later\n")); err == nil {
			t.Fatal("a folder in the way is no trouble")
		}
	}
	if err := os.RemoveAll(taken); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append([]byte("told\n")); err != nil {
		t.Fatal(err)
	}
	if now, old := read(t, dir, "log"), read(t, dir, "log.3"); now != "told\n" || old != "of log.2\n" {
		t.Errorf("%q, %q", now, old)
	}
}

// TestTorn: a text that a dying process has written partly does not spoil other texts.
func TestTorn(t *testing.T) {
	dir, open := world(t)
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte(`{"a"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Append([]byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	if text := read(t, dir, "log"); text != "{\"a\"\n{}\n" {
		t.Errorf("%q", text)
	}
}

// TestDiedBetweenRenames: the older files stay even if a process died during a rotation.
func TestDiedBetweenRenames(t *testing.T) {
	dir, open := world(t, "log", "log.2", "log.3") // log.1 was just renamed to log.2
	if _, err := open().Append([]byte("next\n")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"log": "next\n", "log.1": "of log\n", "log.2": "of log.2\n", "log.3": "of log.3\n"} {
		if text := read(t, dir, name); text != want {
			t.Errorf("%s: %q", name, text)
		}
	}
}

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
	if err := add("three\n")(); err != nil { // in a file of its own
		t.Error(err)
	}
	holds("log ", "log.1 one\ntwo\n")
	add("four\n")
	add(strings.Repeat("x", 20)) // longer than a file may be
	holds("log "+strings.Repeat("x", 20), "log.1 four\n", "log.2 one\ntwo\n")
	add("five\n")
	holds("log five\n", "log.1 "+strings.Repeat("x", 20), "log.2 four\n")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = logfile.Open(path, 10, 2); err != nil { // another process goes on
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

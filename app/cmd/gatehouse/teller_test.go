package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
)

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// onFullDisk runs a command whose output cannot be written, and returns its error
// output.
func (s shell) onFullDisk(args ...string) string {
	s.t.Helper()
	var errOut bytes.Buffer
	if code := run(s.t.Context(), args, fullDisk{}, &errOut); code == 0 {
		s.t.Errorf("%v: exit code 0", args)
	}
	return errOut.String()
}

// TestResultsThatCannotBePrinted: each command whose output cannot be written fails,
// and says what it has done.
func TestResultsThatCannotBePrinted(t *testing.T) {
	s := newShell(t)
	for _, c := range []struct {
		says string
		args []string
	}{
		{"the admin is there, but the access key could not be printed; the same command prints it again", []string{"bootstrap", "--email", "a@example.com"}},
		{"not all results could be printed", []string{"config", "check"}},
		{"not all results could be printed", []string{"migrate"}},
		{"not all results…no space left", []string{"--help"}},
		{"what the command did before is done: no space left", []string{"backup", filepath.Join(t.TempDir(), "copy.db")}},
	} {
		if text := s.onFullDisk(c.args...); !apptest.Matches(text, c.says) {
			t.Errorf("%v says\n%s\nand not %s", c.args, text, c.says)
		}
	}
}

// TestResetKeysOnFullDisk: no user gets a key that could not be printed.
func TestResetKeysOnFullDisk(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_ENCRYPTATREST", "false")
	s.run(0, "bootstrap", "--email", "a@example.com", "--org-id", "one")
	if err := os.Remove(filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), "gatehouse.key")); err != nil {
		t.Fatal(err)
	}
	if text := s.onFullDisk("keys", "reset", "--yes"); !strings.Contains(text, "keeps the old access key: no space left") {
		t.Error(text)
	}
	s.says(0, "one …a@example.com …users with a new access key: 1", "keys", "reset", "--yes")
}

// TestPortalTokenOnFullDisk: the error says that the token of the first admin will not
// be printed again.
func TestPortalTokenOnFullDisk(t *testing.T) {
	s := newShell(t)
	t.Setenv("SVC_DB_PORTAL_SERVE", "shared")
	t.Setenv("SVC_DB_LISTENPORT", "0")
	text := s.onFullDisk("serve", "--bootstrap", "--user", "a@example.com", "--pass", "Correct-Horse-9")
	if !strings.Contains(text, "could not be printed, and is not printed again") {
		t.Error(text)
	}
}

// TestDevicesAreNoBackups refuses devices and folders, and leaves no files behind.
func TestDevicesAreNoBackups(t *testing.T) {
	s := newShell(t)
	s.run(0, "bootstrap", "--email", "a@example.com")
	for _, from := range []string{os.DevNull, t.TempDir()} {
		s.says(1, "is no file: write the backup into one first", "restore", from, "--replace")
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("SVC_DB_HOMEDIR"), ".restore-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
	s.says(1, "is no folder", "import", os.DevNull)
}

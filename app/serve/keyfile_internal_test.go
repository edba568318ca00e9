package serve

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestKeyFileKept removes the key file while a service runs: it is written again, also
// if it is removed last of all. A file with another key is kept and logged, and no log
// has a key.
func TestKeyFileKept(t *testing.T) {
	home := t.TempDir()
	s, report := config.Load(nil, "", []string{"SVC_DB_HOMEDIR=" + home}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	log, path := slog.New(slog.NewTextHandler(&said, nil)), filepath.Join(home, "gatehouse.key")
	keep := func(change func() error) (before, after string) {
		t.Helper()
		stop, err := keepKeyFile(t.Context(), s, log)
		if err != nil {
			t.Fatal(err)
		}
		first, err := os.ReadFile(path)
		if err == nil {
			err = change()
		}
		stop()
		last, readErr := os.ReadFile(path)
		if err != nil || readErr != nil {
			t.Error(err, readErr)
		}
		return string(first), string(last)
	}
	if err := os.WriteFile(sqliteFile(s.SQLiteFile()), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, after := keep(func() error { return os.Remove(path) })
	if before != after || len(after) < 64 || !strings.Contains(said.String(), "has been put back") {
		t.Errorf("%d bytes, and %d then: %s", len(before), len(after), &said)
	}
	other := strings.Repeat("k", 64)
	if _, after = keep(func() error { return os.WriteFile(path, []byte(other), 0o600) }); after != other || !strings.Contains(said.String(), "holds another key") {
		t.Errorf("another key does not stay, or is not told of: %s", &said)
	}
	if strings.Contains(said.String(), other) || strings.Contains(said.String(), strings.TrimSpace(before)) {
		t.Error("the log has a key")
	}
}

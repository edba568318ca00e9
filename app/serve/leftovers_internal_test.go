package serve

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// TestSweepCopies removes copies that killed backups and restores have left, but none
// that may be in use.
func TestSweepCopies(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	s, report := config.Load(nil, "", []string{"SVC_DB_HOMEDIR=" + home, "SVC_DB_LISTENPORT=0"}, config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{".backup-1": true, ".restore-1": true, ".backup-2": false, "backup": true} // and old
	for name, old := range left {
		folder := filepath.Join(home, name)
		err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "copy.db"), nil, 0o600))
		if old {
			err = errors.Join(err, os.Chtimes(folder, now, now.Add(-25*time.Hour)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sweepCopies(s, now, slog.New(slog.DiscardHandler))
	for name, old := range left {
		_, err := os.Stat(filepath.Join(home, name, "copy.db"))
		if gone := err != nil; gone != (old && name[0] == '.') {
			t.Errorf("%s is gone: %v", name, gone)
		}
	}
}

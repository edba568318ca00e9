package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// leftoverAge is how old a copy of the store is that no process works on any more.
const leftoverAge = 24 * time.Hour

// sweepCopies removes copies of the store that backups and restores have left behind when they
// were killed: each is as large as the store.
func sweepCopies(s config.Settings, now time.Time, log *slog.Logger) {
	at := []string{filepath.Join(s.HomeDir, ".backup-*")}
	if s.Storage.Type == config.SQLite {
		at = append(at, filepath.Join(filepath.Dir(sqliteFile(s.SQLiteFile())), ".restore-*"))
	}
	for _, pattern := range at {
		folders, _ := filepath.Glob(pattern) // the pattern is well-formed, unless the path is odd
		for _, folder := range folders {
			info, err := os.Lstat(folder)
			if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < leftoverAge {
				continue
			}
			if err := os.RemoveAll(folder); err != nil {
				log.Warn("a copy of the store was left behind and cannot be removed", "folder", folder, "error", err)
			} else {
				log.Info("a copy of the store that was left behind has been removed", "folder", folder)
			}
		}
	}
}

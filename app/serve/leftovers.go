package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gatehouse-io/gatehouse/app/config"
)

// leftoverAge is the age from which a copy of the store cannot be in use any more.
const leftoverAge = 24 * time.Hour

// sweepCopies removes copies of the store, each as large as the store, that killed
// backups and restores have left behind.
func sweepCopies(s config.Settings, now time.Time, log *slog.Logger) {
	at := []string{filepath.Join(s.HomeDir, ".backup-*")}
	if s.Storage.Type == config.SQLite {
		at = append(at, filepath.Join(filepath.Dir(sqliteFile(s.SQLiteFile())), ".restore-*"))
	}
	for _, pattern := range at {
		folders, _ := filepath.Glob(pattern) // the pattern is well-formed, unless the path has special characters
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

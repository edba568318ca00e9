package sqlite

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
)

// private is the mode of every file with data: only its owner can read it.
const private fs.FileMode = 0o600

// guardFiles makes sure that only the owner can read the database. A new file gets its
// mode before SQLite opens it, and SQLite gives its other files the same mode. The mode
// of existing files is restricted. A file of another owner stays as it is, with a
// warning. guardFiles does not recreate a database that is gone.
func guardFiles(path string, log *slog.Logger) error {
	if err := present(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, private)
	switch {
	case err == nil:
		return f.Close()
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", lockSuffix} {
		info, err := os.Stat(path + suffix)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&^private == 0 {
			continue // not a regular file, so its mode stays; opening it reports that
		}
		if err := os.Chmod(path+suffix, private); err != nil {
			log.Warn("others may read a file of the database, and its mode cannot be changed", "file", path+suffix, "mode", info.Mode().String(), "error", err)
			continue
		}
		log.Info("a file of the database is no longer readable by others", "file", path+suffix, "was", info.Mode().String())
	}
	return nil
}

package sqlite

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
)

// private is the mode of everything that holds data: its owner's alone.
const private fs.FileMode = 0o600

// guardFiles makes sure that only the owner can read the database: a new
// file is made so before SQLite opens it, which gives its other files the same
// mode, and those that are there are tightened. A file of another owner stays as
// it is, with a warning. A database that has gone is not made anew.
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
			continue // what is no file is not ours to change: opening it says so
		}
		if err := os.Chmod(path+suffix, private); err != nil {
			log.Warn("others may read a file of the database, and its mode cannot be changed", "file", path+suffix, "mode", info.Mode().String(), "error", err)
			continue
		}
		log.Info("a file of the database is no longer readable by others", "file", path+suffix, "was", info.Mode().String())
	}
	return nil
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// source is a store that can be copied, in any database.
type source interface {
	CopyTo(ctx context.Context, to *sql.DB) (sqladapter.Content, error)
}

// Backup copies a store into a new SQLite file, which appears only when it is complete,
// verified and on disk. The store can be written to in the meantime.
func Backup(ctx context.Context, from source, path string) (c sqladapter.Content, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return c, errors.Join(fmt.Errorf("%s: %w", path, fs.ErrExist), err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".backup-*") // mode 0700
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	making := filepath.Join(folder, "new.db")
	if _, err := Migrate(ctx, making); err != nil {
		return c, err
	}
	db, err := connect(making, 1, "_pragma=synchronous(off)")
	if err != nil {
		return c, err
	}
	c, err = from.CopyTo(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil { // Close leaves one file without a log beside it
		return c, err
	}
	if err := verify(ctx, making, c); err != nil {
		return c, err
	}
	if err := settle(making); err != nil {
		return c, err
	}
	return c, errors.Join(os.Link(making, path), syncFolder(filepath.Dir(path)))
}

// verify reads a file back and checks its structure and its content.
func verify(ctx context.Context, path string, want sqladapter.Content) (err error) {
	findings, err := Check(ctx, path, nil)
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return damage(fmt.Sprintf("the backup is damaged: %s", findings[0]))
	}
	db, err := connect(path, 1, "_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	have, err := sqladapter.ContentOf(ctx, db)
	if err == nil && !have.Equal(want) {
		err = damage(fmt.Sprintf("the backup holds revision %d and rows %v, not revision %d and rows %v", have.Head, have.Rows, want.Head, want.Rows))
	}
	return err
}

// OpenBackup makes a private copy of a backup in a folder, updates its schema, checks
// it, and marks it as restored. The backup itself is not changed.
func OpenBackup(ctx context.Context, backup, folder string) (path string, c sqladapter.Content, err error) {
	path = filepath.Join(folder, "restored.db")
	if err := copyFile(backup, path); err != nil {
		return path, c, err
	}
	findings, err := Check(ctx, path, nil)
	if err == nil && len(findings) > 0 {
		err = damage(fmt.Sprintf("%s is damaged, or no backup: %s", backup, findings[0]))
	}
	if err != nil {
		return path, c, err
	}
	if holds, err := Holds(ctx, path, ""); err != nil || !holds {
		return path, c, errors.Join(fmt.Errorf("%s holds no records: it is no backup", backup), err)
	}
	if _, err := Migrate(ctx, path); err != nil {
		return path, c, err
	}
	db, err := connect(path, 1, "")
	if err != nil {
		return path, c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err = sqladapter.MarkRestored(ctx, db); err == nil {
		c, err = sqladapter.ContentOf(ctx, db)
	}
	return path, c, err
}

// Connect opens a file as the source of a copy.
func Connect(path string) (*sql.DB, error) { return connect(path, 1, "_pragma=query_only(1)") }

// Restore replaces a database that no process serves from by a backup. The old file is
// renamed to kept, which is "" if there was none. If the database has records, replace
// must be true.
func Restore(ctx context.Context, backup, path string, replace bool, now time.Time) (c sqladapter.Content, kept string, err error) {
	if path, err = resolve(path); err != nil {
		return c, "", err
	}
	held, err := lock(path)
	if err != nil {
		return c, "", err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	if info, err := os.Stat(path); err == nil && info.Size() > 0 && !replace {
		return c, "", fmt.Errorf("%s is there already: %w", path, store.ErrTaken)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".restore-*")
	if err != nil {
		return c, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	fresh, c, err := OpenBackup(ctx, backup, folder)
	if err == nil {
		err = errors.Join(verify(ctx, fresh, c), settle(fresh))
	}
	if err != nil {
		return c, "", err
	}
	// The database is moved away together with its log. That happens first: if Restore
	// is interrupted, the rest does not start.
	aside := path + ".before-restore-" + now.UTC().Format("20060102T150405.000000000Z")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		switch err := os.Rename(path+suffix, aside+suffix); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return c, kept, err
		default:
			kept = aside
		}
	}
	if err := os.Rename(fresh, path); err != nil {
		return c, kept, err
	}
	sign(held, c.Head)
	return c, kept, syncFolder(filepath.Dir(path))
}

// settle makes sure that a file needs no log and is on disk.
func settle(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if info, err := os.Stat(path + suffix); err == nil && info.Size() > 0 {
			return fmt.Errorf("%s has not been closed: %s is there", path, path+suffix)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		slog.Debug("a folder cannot be synced here", "folder", path, "error", err)
	}
	return d.Close()
}

// copyFile copies a regular file. Devices have no end, and pipes may have no writer.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file: write the backup into one first", from)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// ErrInUse means that another process serves from the file.
var ErrInUse = errors.New("another gatehouse process serves from this file")

// ErrTwoNames means that the file has a hard link, a second name.
var ErrTwoNames = errors.New("the database file has hard links")

// lockSuffix is the suffix of the lock file beside a database. It is a separate file: closing
// the database file would release the locks that SQLite holds on it.
const lockSuffix = ".lock"

// lock takes the lock of a database for this process. The operating system releases it when the
// process ends in any way. The empty file stays, since removing it would let two processes hold
// two locks.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	taken, err := tryLock(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	if !taken {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		who := ""
		if pid, _, signed := strings.Cut(string(holder), "\n"); signed {
			who = " (process " + pid + ")"
		}
		return nil, errors.Join(fmt.Errorf("%w%s: stop it first, or give this one a home_dir of its own; several processes on the same data need PostgreSQL", ErrInUse, who), f.Close())
	}
	return f, nil
}

// sign writes into the lock file the process that holds it, that a database exists, and its
// revision. The text only helps later readers, so an error, as on a full disk, is ignored.
func sign(f *os.File, head store.Revision) {
	if err := f.Truncate(0); err == nil {
		note(f, head)
	}
}

// note rewrites the text of sign with a new revision. The text never becomes shorter, since
// revisions grow.
func note(f *os.File, head store.Revision) {
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n%s\n%d\n", os.Getpid(), made, head), 0)
}

// noted returns the revision in the lock file of a database, 0 if there is none.
func noted(path string) store.Revision {
	text, err := os.ReadFile(path + lockSuffix)
	if err != nil {
		return 0
	}
	lines := strings.SplitN(string(text), "\n", 4)
	if len(lines) < 4 { // the last line is complete only if a line break follows it
		return 0
	}
	n, _ := strconv.ParseUint(lines[2], 10, 64)
	return store.Revision(n)
}

// tick is the coarsest resolution of file times in file systems of servers.
const tick = 20 * time.Millisecond

// leave adds to the lock file the size and time of the closed database file. A later write
// changes the file's time.
func leave(f *os.File, path string) {
	info, err := os.Stat(path)
	if err != nil {
		return
	}
	time.Sleep(min(tick, time.Until(info.ModTime().Add(tick))))
	if _, err := f.Seek(0, io.SeekEnd); err == nil {
		_, _ = fmt.Fprintln(f, likeness(info))
	}
}

// untouched reports whether a file is in the state in which the last serving process closed it.
func untouched(path string) bool {
	text, err := os.ReadFile(path + lockSuffix)
	info, missing := os.Stat(path)
	if _, wal := os.Stat(path + "-wal"); err != nil || missing != nil || !errors.Is(wal, fs.ErrNotExist) {
		return false
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) == 5 && lines[3] == likeness(info)
}

func likeness(info os.FileInfo) string {
	return fmt.Sprintf("closed at %d with %d bytes", info.ModTime().UnixNano(), info.Size())
}

// onlyName refuses a file that has a second hard link: SQLite keeps a log beside each name and
// Gatehouse a lock, so that two processes could write to the file without noticing each other.
func onlyName(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && named(info) > 1 {
		return fmt.Errorf("%w: it has %d names, and each name has a log and a lock of its own: "+
			"when no process uses it any more, remove the other names (find / -samefile FILE lists them), or put a copy that cp makes in its place", ErrTwoNames, named(info))
	}
	return nil // other problems are reported when it is opened
}

// resolve returns the path of the file itself, so that all symbolic links to it lead to the
// same lock.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return real, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// held is the lock of a database that this process serves from.
type held struct {
	path string // of the database

	mu   sync.Mutex
	file *os.File
}

// note calls the function note under the mutex.
func (h *held) note(head store.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	note(h.file, head)
}

// keep takes the lock again when the lock file has been removed, and returns an error if
// another process was faster: two processes that serve from one file do not see each other's
// deletions.
func (h *held) keep() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	mine, err := h.file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(h.path + lockSuffix); err == nil && os.SameFile(now, mine) {
		return nil
	}
	fresh, err := lock(h.path)
	if errors.Is(err, ErrInUse) {
		return fmt.Errorf("%w: %w", store.ErrElsewhere, err)
	}
	if err != nil {
		return nil //nolint:nilerr // no lock can be made, such as on a full disk: that is no reason to refuse the write, and the next one tries again
	}
	_, _ = io.Copy(fresh, io.NewSectionReader(h.file, 0, mine.Size())) // the text only helps readers, as in sign
	_ = h.file.Close()
	h.file = fresh
	return nil
}

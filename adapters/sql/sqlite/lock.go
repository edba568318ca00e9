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

// ErrTwoNames means that the file can be reached under a second name.
var ErrTwoNames = errors.New("the database file has hard links")

// lockSuffix names the lock beside a database. It is a file of its own: closing
// the database file would give up the locks that SQLite holds on it.
const lockSuffix = ".lock"

// lock takes the lock of a database for this process. The operating system gives
// it up when the process ends, however it ends; the empty file stays, since
// removing it would let two processes hold two locks.
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

// sign writes into the lock who holds it, that there is a database now, and the revision
// that it is at. It is help for those who look later: a full disk is no reason to refuse.
func sign(f *os.File, head store.Revision) {
	if err := f.Truncate(0); err == nil {
		note(f, head)
	}
}

// note writes anew what sign has written. The text does not become shorter, since
// revisions grow.
func note(f *os.File, head store.Revision) {
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n%s\n%d\n", os.Getpid(), made, head), 0)
}

// noted returns the revision that the lock of a database names, 0 if it names none.
func noted(path string) store.Revision {
	text, err := os.ReadFile(path + lockSuffix)
	if err != nil {
		return 0
	}
	lines := strings.SplitN(string(text), "\n", 4)
	if len(lines) < 4 { // the last line is whole when something follows it, if only nothing
		return 0
	}
	n, _ := strconv.ParseUint(lines[2], 10, 64)
	return store.Revision(n)
}

// tick is the coarsest step in which file systems of servers keep times.
const tick = 20 * time.Millisecond

// leave adds to the lock what the file is like now that it is closed. A write after
// this gives the file another time.
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

// untouched reports whether a file is what the last process that served from it has left.
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

// onlyName refuses a file that has a second name: SQLite keeps a log beside each name and we a
// lock, so that two processes would write to one file without seeing each other.
func onlyName(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && named(info) > 1 {
		return fmt.Errorf("%w: it has %d names, and each name has a log and a lock of its own: "+
			"when no process uses it any more, remove the other names (find / -samefile FILE lists them), or put a copy that cp makes in its place", ErrTwoNames, named(info))
	}
	return nil // what else is wrong with it, opening it says
}

// resolve returns the path of the file itself, so that all who name it, by
// whatever links, mean the same lock.
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

// note is the function of that name.
func (h *held) note(head store.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	note(h.file, head)
}

// keep takes the lock anew when its file has been removed, and reports that another process has
// been faster: of two that serve from one file, neither sees what the other one takes away.
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
	_, _ = io.Copy(fresh, io.NewSectionReader(h.file, 0, mine.Size())) // what it says is help, as in sign
	_ = h.file.Close()
	h.file = fresh
	return nil
}

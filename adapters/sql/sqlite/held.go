package sqlite

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

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
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // no lock can be made, such as on a full disk: that is no reason to refuse the write, and the next one tries again
	}
	_, _ = io.Copy(fresh, io.NewSectionReader(h.file, 0, mine.Size())) // what it says is help, as in sign
	_ = h.file.Close()
	h.file = fresh
	return nil
}

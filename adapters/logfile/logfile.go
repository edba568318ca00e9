// Package logfile appends to a file that is moved away when it is full.
package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// File is a file to which texts are appended. When it is full it becomes path.1, what was
// path.1 becomes path.2, and so on; the oldest one is removed. One process writes to it.
type File struct {
	path string
	max  int64
	keep int

	mu   sync.Mutex
	f    *os.File
	size int64
}

// Open opens a file, or makes one that only its owner can read. It has max bytes at most,
// unless a single text is longer, and keep older ones stand beside it.
func Open(path string, max int64, keep int) (*File, error) {
	l := &File{path: path, max: max, keep: keep}
	return l, l.open()
}

func (l *File) open() (err error) {
	if l.f, err = os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
		return err
	}
	info, err := l.f.Stat()
	if err != nil {
		return errors.Join(err, l.f.Close())
	}
	if !info.Mode().IsRegular() {
		return errors.Join(fmt.Errorf("%s is no regular file", l.path), l.f.Close())
	}
	l.size = info.Size()
	return nil
}

// Append adds a text as a whole and returns when it is on the disk. undo takes it back, as
// long as nothing was appended after it.
func (l *File) Append(text []byte) (undo func() error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(text)) > l.max {
		if err := l.f.Close(); err != nil {
			return nil, err
		}
		for i := l.keep - 1; i > 0; i-- {
			if err := os.Rename(l.numbered(i), l.numbered(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		if err := os.Rename(l.path, l.numbered(1)); err != nil {
			return nil, err
		}
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	before := l.size
	_, err = l.f.Write(text)
	if err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, l.f.Truncate(before))
	}
	l.size += int64(len(text))
	after := l.size
	return func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.size != after {
			return errors.New("logfile: more was appended since")
		}
		l.size = before
		return l.f.Truncate(before)
	}, nil
}

func (l *File) numbered(i int) string { return fmt.Sprintf("%s.%d", l.path, i) }

// Close closes the file.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

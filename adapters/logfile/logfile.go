// Package logfile appends to a log file and rotates it when it is full.
package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// File is a file to which texts are appended. When it is full it is renamed to path.1, path.1
// to path.2, and so on; the oldest file is removed. Only one process may write to it.
type File struct {
	path string
	max  int64
	keep int

	mu     sync.Mutex
	f      *os.File // nil: to be opened with the next text
	size   int64
	closed bool
}

// Open opens a file, or creates one that only its owner can read. The file has at most max
// bytes, unless a single text is longer. keep is the number of older files that are kept.
func Open(path string, max int64, keep int) (*File, error) {
	l := &File{path: path, max: max, keep: keep}
	return l, l.open()
}

func (l *File) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", l.path)
	}
	if err == nil {
		l.size, err = whole(f, info.Size())
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.f = f
	return nil
}

// whole ends the last line of a file. A process that died may have written only part of it: the
// next text would continue that line, and could not be read either.
func whole(f *os.File, size int64) (int64, error) {
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return size, err
		}
	}
	if last[0] == '\n' {
		return size, nil
	}
	n, err := f.WriteString("\n")
	return size + int64(n), err
}

// rotate moves the file away, and begins a new one. When it fails, the next text tries again.
func (l *File) rotate() error {
	f := l.f
	l.f = nil
	if err := f.Close(); err != nil {
		return err
	}
	free := 1 // a process that died between two renames has left a gap; filling it loses no file
	for ; free < l.keep; free++ {
		if _, err := os.Lstat(l.numbered(free)); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for i := free - 1; i > 0; i-- {
		if err := os.Rename(l.numbered(i), l.numbered(i+1)); err != nil {
			return err
		}
	}
	if err := os.Rename(l.path, l.numbered(1)); err != nil {
		return err
	}
	return l.open()
}

// Append adds a text as a whole and returns when it is on the disk. undo removes it again, as
// long as nothing was appended after it.
func (l *File) Append(text []byte) (undo func() error, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, os.ErrClosed
	}
	if l.f == nil {
		if err := l.open(); err != nil {
			return nil, err
		}
	}
	if l.size > 0 && l.size+int64(len(text)) > l.max {
		if err := l.rotate(); err != nil {
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
		if l.size != after || l.f == nil {
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
	if l.closed = true; l.f == nil {
		return nil
	}
	return l.f.Close()
}

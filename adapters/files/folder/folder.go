// Package folder stores contents as files in a folder.
package folder

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/ports/files"
)

// part is the suffix of a file that is being written.
const part = ".part"

// Storage is a folder. It is created when the first content is stored. Neither names
// nor symbolic links lead out of it.
type Storage struct{ path string }

// New returns the storage in a folder.
func New(path string) *Storage { return &Storage{path} }

// Apart implements files.Storage.
func (*Storage) Apart() bool { return true }

// Keep implements files.Storage. The file gets its name after all of its bytes are on
// the disk.
func (s *Storage) Keep(ctx context.Context, name string, content []byte) (file.Content, error) {
	if !file.Valid(name) {
		return file.Content{}, files.ErrName
	}
	if err := errors.Join(ctx.Err(), os.MkdirAll(s.path, 0o700)); err != nil {
		return file.Content{}, err
	}
	err := s.within(func(r *os.Root) error {
		if err := r.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := r.OpenFile(name+part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			_, err = f.Write(content)
			if err == nil {
				err = f.Sync()
			}
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return errors.Join(err, dropped(r.Remove(name+part)))
		}
		if err := r.Rename(name+part, name); err != nil {
			return err
		}
		for dir := path.Dir(name); ; dir = path.Dir(dir) { // syncs the directory entries of the file and of the folders above
			d, err := r.Open(dir)
			if err != nil {
				return err
			}
			if err := errors.Join(d.Sync(), d.Close()); err != nil || dir == "." {
				return err
			}
		}
	})
	return file.Content{Place: file.Place{Name: name, Size: int64(len(content))}}, err
}

// Open implements files.Storage.
func (s *Storage) Open(ctx context.Context, c file.Content) (out []byte, err error) {
	switch {
	case c.Place.Name == "":
		return c.Data, nil
	case !file.Valid(c.Place.Name):
		return nil, files.ErrName
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	err = s.within(func(r *os.Root) error {
		f, err := r.Open(c.Place.Name)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		switch {
		case err != nil:
		case !info.Mode().IsRegular():
			err = files.ErrAbsent
		case info.Size() != c.Place.Size:
			err = files.ErrDamaged
		default:
			out = make([]byte, c.Place.Size)
			_, err = io.ReadFull(f, out)
		}
		return errors.Join(err, f.Close())
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = files.ErrAbsent
	}
	return out, err
}

// Drop implements files.Storage.
func (s *Storage) Drop(_ context.Context, name string) error {
	if !file.Valid(name) {
		return files.ErrName
	}
	return dropped(s.within(func(r *os.Root) error { return errors.Join(dropped(r.Remove(name)), dropped(r.Remove(name+part))) }))
}

// dropped returns the error of a removal; a file that does not exist counts as removed.
func dropped(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Storage) within(fn func(*os.Root) error) error {
	r, err := os.OpenRoot(s.path)
	if err != nil {
		return err
	}
	err = fn(r)
	return errors.Join(err, r.Close())
}

package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/folder"
)

// Bundle is the content of a folder.
type Bundle = folder.Bundle

// Problem is one error in a file.
type Problem = folder.Problem

// maxFile is the size in bytes above which a file cannot be a definition.
const maxFile = 32 << 20

// ErrTooLarge says that a file is too large to be read, ErrNoFile that it is a pipe or
// a device, reading which may never end.
var (
	ErrTooLarge = errors.New("the file is too large")
	ErrNoFile   = errors.New("is no regular file")
)

// Read reads the JSON files of a folder and of its subfolders. The bundle has the names
// of other and of hidden files, which are not read. Problems are errors in the content
// of files; the error says that a file cannot be read at all.
func Read(fsys fs.FS) (Bundle, []Problem, error) {
	var files []folder.File
	var hidden []Problem
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return err
		case strings.HasPrefix(d.Name(), "."):
			hidden = append(hidden, Problem{File: name, Message: "is hidden, and is left out"})
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !strings.EqualFold(path.Ext(name), ".json"):
			files = append(files, folder.File{Name: name})
			return nil
		}
		f, err := file(fsys, name)
		files = append(files, f)
		return err
	})
	if err != nil {
		return Bundle{}, nil, err
	}
	b, problems := folder.Read(files)
	b.Ignored = append(b.Ignored, hidden...)
	slices.SortFunc(b.Ignored, func(x, y Problem) int { return strings.Compare(x.File, y.File) })
	return b, problems, nil
}

func file(fsys fs.FS, name string) (folder.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return folder.File{}, err
	}
	if !info.Mode().IsRegular() {
		return folder.File{}, fmt.Errorf("%s: %w", name, ErrNoFile)
	}
	if info.Size() > maxFile {
		return folder.File{}, fmt.Errorf("%s: %w: more than %d MiB", name, ErrTooLarge, maxFile>>20)
	}
	text, err := fs.ReadFile(fsys, name)
	return folder.File{Name: name, Text: text}, err
}

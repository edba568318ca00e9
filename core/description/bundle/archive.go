package bundle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// maxUnpacked is the maximum size of an archive's descriptions, in bytes and in values. It is
// the default limit of a request body: an archive may not contain more than an unpacked
// request.
const maxUnpacked = 32 << 20

// ErrArchive is the error of an unusable archive, wrapped with the reason.
var ErrArchive = errors.New("not a usable ZIP archive")

// Unpack returns the description in several files of a ZIP archive as one document. parse
// parses one file. The archive is read in memory, and nothing is written to disk. Files that
// are not JSON or YAML are ignored.
func Unpack(archive []byte, parse func([]byte) (*doc.Node, error)) (*doc.Node, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrArchive, err.Error())
	}
	u := unpacker{parse: parse, files: map[string]*doc.Node{}, bytes: maxUnpacked, values: MaxNodes}
	for _, f := range z.File {
		if err := u.add(f); err != nil {
			return nil, err
		}
	}
	main, err := Main(slices.Collect(maps.Keys(u.files)))
	if err != nil {
		return nil, err
	}
	return Join(u.files, main)
}

// unpacker reads the files of an archive, within limits.
type unpacker struct {
	parse  func([]byte) (*doc.Node, error)
	files  map[string]*doc.Node
	bytes  int64 // that may still be read
	values int   // that may still be read: aliases give a small YAML text many values
}

func (u *unpacker) add(f *zip.File) error {
	name := path.Clean(f.Name)
	ext := strings.ToLower(path.Ext(name))
	// Some systems pack copies of file attributes, which are not part of a description.
	described := (ext == ".json" || ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(name, "__MACOSX/") && !strings.HasPrefix(path.Base(name), "._")
	switch {
	case !fs.ValidPath(name) || strings.Contains(name, `\`):
		return fmt.Errorf("%w: the path %q leaves it", ErrArchive, f.Name)
	case f.FileInfo().IsDir() || !described:
		return nil
	case !f.Mode().IsRegular():
		return fmt.Errorf("%w: %s is not a plain file", ErrArchive, name)
	case u.files[name] != nil:
		return fmt.Errorf("%w: %s is there twice", ErrArchive, name)
	case len(u.files) == MaxFiles:
		return fmt.Errorf("%w: more than %d files", ErrArchive, MaxFiles)
	}
	var text []byte
	r, err := f.Open()
	if err == nil { // the size in the archive is not trusted
		text, err = io.ReadAll(io.LimitReader(r, u.bytes+1))
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %s", ErrArchive, name, err.Error())
	}
	if u.bytes -= int64(len(text)); u.bytes < 0 {
		return fmt.Errorf("%w: it unpacks to more than %d bytes", ErrArchive, maxUnpacked)
	}
	n, err := u.parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	values, err := measure(n, 1)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if u.values -= values; u.values < 0 {
		return fmt.Errorf("%w: more than %d values", ErrArchive, MaxNodes)
	}
	u.files[name] = n
	return nil
}

package theme

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of archives.
const (
	MaxFile     = 5 << 20 // bytes of one file
	MaxFiles    = 2000
	maxPath     = 255
	maxSources  = 4 << 20   // bytes of all templates together
	maxSource   = 256 << 10 // bytes of one template
	maxActions  = 20_000    // in all templates
	maxFileActs = 5_000     // in one template
)

// Read reads the archive of a theme. total is the maximum size of all its files together, in
// bytes. Read writes no files, and it unpacks no more than the bounds allow, also when the
// sizes in the archive are wrong.
func Read(data []byte, total int64) (Content, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return Content{}, invalid("the file is no ZIP archive")
	}
	if len(z.File) > MaxFiles {
		return Content{}, invalid("the archive has more than %d entries", MaxFiles)
	}
	files, folded := Files{}, map[string]bool{}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		switch mode := f.Mode(); {
		case !utf8.ValidString(name) || len(name) > maxPath || strings.ContainsAny(name, "\\\x00:") || !fs.ValidPath(name) || name == ".":
			return Content{}, invalid("an entry lies outside of the archive, or its path is invalid: %s", quote(name))
		case mode.IsDir() || name != f.Name:
			continue
		case !mode.IsRegular():
			return Content{}, invalid("%s is no file: links and devices are refused", quote(name))
		}
		if low := strings.ToLower(name); folded[low] {
			return Content{}, invalid("%s is in the archive twice", quote(name))
		} else {
			folded[low] = true
		}
		text, err := unpack(f, name, total)
		if err != nil {
			return Content{}, err
		}
		files[name] = text
		total -= int64(len(text))
	}
	return New(files)
}

// New makes a theme from its files, or returns what is missing or wrong.
func New(files Files) (Content, error) {
	c, err := Standard(files)
	if err == nil && strings.EqualFold(c.Name, Default) {
		err = invalid("theme.json: the name %q is taken by the theme that is always there; choose another one", Default)
	}
	return c, err
}

// Standard makes the default theme from its files.
func Standard(files Files) (c Content, err error) {
	text, ok := files[manifest]
	if !ok {
		for name := range files {
			if path.Base(name) == manifest {
				return c, invalid("theme.json is in the folder %s: pack what is in the folder, not the folder", quote(path.Dir(name)))
			}
		}
		return c, invalid("theme.json is missing at the root of the archive")
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%d %s %d ", len(name), name, len(files[name])) // a hash never returns an error
		_, _ = sum.Write(files[name])
	}
	c.Files, c.Digest = files, hex.EncodeToString(sum.Sum(nil))
	if c.Manifest, err = parseManifest(text); err != nil {
		return c, err
	}
	if err := c.complete(); err != nil {
		return c, err
	}
	return c, c.bounded()
}

// unpack returns the content of an entry. It refuses an entry with more than left bytes.
func unpack(f *zip.File, name string, left int64) ([]byte, error) {
	most := min(int64(MaxFile), left)
	large := invalid("%s is too large: a file has %d bytes at most, and all files together as many as MaxUploadSize says", quote(name), MaxFile)
	if f.UncompressedSize64 > uint64(max(most, 0)) {
		return nil, large
	}
	r, err := f.Open()
	if err != nil {
		return nil, invalid("%s cannot be unpacked", quote(name))
	}
	defer func() { _ = r.Close() }()
	text := bytes.Buffer{}
	text.Grow(int(f.UncompressedSize64) + bytes.MinRead) // the size in the archive: growing in steps copies several times
	_, err = text.ReadFrom(io.LimitReader(r, most+1))
	switch {
	case int64(text.Len()) > most:
		return nil, large
	case err != nil:
		return nil, invalid("%s cannot be unpacked", quote(name))
	}
	return text.Bytes(), nil
}

// bounded refuses templates that are too expensive to parse.
func (c Content) bounded() error {
	size, actions := 0, 0
	for name, text := range c.Files {
		if !isTemplate(name) {
			continue
		}
		n := bytes.Count(text, []byte("{{"))
		if len(text) > maxSource || n > maxFileActs {
			return invalid("%s is too large: a template has %d bytes and %d actions at most", quote(name), maxSource, maxFileActs)
		}
		if !utf8.Valid(text) {
			return invalid("%s is no UTF-8 text", quote(name))
		}
		size, actions = size+len(text), actions+n
	}
	if size > maxSources || actions > maxActions {
		return invalid("the templates are too large: together they have %d bytes and %d actions at most", maxSources, maxActions)
	}
	return nil
}

// quote returns the beginning of a path from an uploaded archive, for messages.
func quote(name string) string {
	const most = 80
	name = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name), "?")
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return `"` + name + `"`
}

// Pack makes an archive from files: a theme that was never uploaded has none.
func Pack(files Files) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

package themes

import (
	"embed"
	"io/fs"
	"strings"
	"sync"

	"github.com/gatehouse-io/gatehouse/core/portal/theme"
)

//go:embed all:default
var standardFiles embed.FS

// standardContent is the built-in theme. A test reads it, so it is valid.
var standardContent = sync.OnceValue(func() theme.Content {
	out := theme.Files{}
	err := fs.WalkDir(standardFiles, theme.Default, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		out[strings.TrimPrefix(path, theme.Default+"/")], err = standardFiles.ReadFile(path)
		return err
	})
	if err != nil {
		panic("themes: " + err.Error())
	}
	c, err := theme.Standard(out)
	if err != nil {
		panic("themes: the default theme: " + err.Error())
	}
	return c
})

// Standard returns the files of the built-in theme.
func Standard() theme.Content { return standardContent() }

// standard is the record of the built-in theme.
var standard = sync.OnceValue(func() theme.Theme {
	c := Standard()
	entries, err := c.Entries()
	if err != nil {
		panic("themes: the default theme: " + err.Error())
	}
	return theme.Theme{Name: c.Name, Version: c.Version, Author: c.Author, Templates: entries}
})

// standardArchive is the archive of its files.
var standardArchive = sync.OnceValues(func() ([]byte, error) { return theme.Pack(Standard().Files) })

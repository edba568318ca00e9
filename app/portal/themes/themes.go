// Package themes has the themes of the portal: they are uploaded, activated, downloaded
// and deleted, and one is built in (docs/wire/portal-content.md#themes).
package themes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/render"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// The kinds of themes.
var (
	kind = &store.Kind[theme.Theme]{
		Name: theme.Kind, Noun: "theme",
		ID:  func(t theme.Theme) string { return t.ID },
		Org: func(t theme.Theme) tenant.ID { return t.Portal },
	}
	archives = &store.Kind[theme.Archive]{
		Name: theme.ArchiveKind, Noun: "archive of a theme",
		ID:      func(a theme.Archive) string { return a.ID },
		Org:     func(a theme.Archive) tenant.ID { return a.Portal },
		Indexes: []store.Index[theme.Archive]{contents.Index(func(a theme.Archive) file.Place { return a.File })},
	}
	inUse = &store.Kind[theme.InUse]{
		Name: theme.CurrentKind, Noun: "current theme",
		ID:  func(theme.InUse) string { return current },
		Org: func(t theme.InUse) tenant.ID { return t.Portal },
	}
)

// Archives reports whether a theme has a file as its archive.
var Archives = contents.Of(archives)

// current is the key of the single record that says which theme is active.
const current = "current"

// Settings configure which themes a portal accepts.
type Settings struct {
	Engine        render.Engine // checks templates; nil: themes cannot be uploaded
	First         string        // the initial theme of a portal; "": the built-in one
	Path          string        // the path in answers about themes
	DisableUpload bool
	Shelf         contents.Shelf // where archives are
	MaxUpload     int64          // maximum size of a form, and of all files of a theme together, in bytes
}

// Service has the operations.
type Service struct {
	crud.Tools
	Settings
	Scope tenant.Scope // of the portal
	Off   bool         // there is no portal, and so there are no operations

	mu   sync.Mutex
	read *content // the theme that was read last
}

// Registrations returns the registrations of the kinds of themes.
func Registrations() []crud.Registrar {
	return []crud.Registrar{
		crud.Facts[theme.Theme]{Kind: kind, Sample: func(at crud.Stamp) (theme.Theme, error) {
			return theme.Theme{ID: at.ID, Portal: at.Org, Name: "Ocean", Version: "1.0.0", Author: "ada@example.com", CreatedAt: at.Now(), UpdatedAt: at.Now()}, nil
		}}.Registration(),
		crud.Facts[theme.Archive]{Kind: archives, Sample: func(at crud.Stamp) (theme.Archive, error) {
			return theme.Archive{ID: at.ID, Portal: at.Org, Data: []byte("PK")}, nil
		}}.Registration(),
		crud.Facts[theme.InUse]{Kind: inUse, Sample: func(at crud.Stamp) (theme.InUse, error) {
			return theme.InUse{Portal: at.Org, Name: theme.Default}, nil
		}}.Registration(),
	}
}

// idOf returns the ID of a theme in the store: theme names can be arbitrary texts.
func idOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Current returns the name of the current theme, or of the built-in one if that was
// deleted.
func (s Settings) Current(ctx context.Context, r store.Reader) (string, error) {
	name := s.First
	v, err := inUse.Get(ctx, r, current)
	switch {
	case err == nil:
		name = v.Value.Name
	case fault.KindOf(err) != fault.NotFound:
		return "", err
	}
	if _, err := find(ctx, r, name); fault.KindOf(err) == fault.NotFound {
		return theme.Default, nil
	} else if err != nil {
		return "", err
	}
	return name, nil
}

// find returns a theme by its name.
func find(ctx context.Context, r store.Reader, name string) (theme.Theme, error) {
	if name == theme.Default {
		return standard(), nil
	}
	v, err := kind.Get(ctx, r, idOf(name))
	if err == nil && !v.Value.DeletedAt.IsZero() {
		err = kind.Absent()
	}
	return v.Value, err
}

// Refers returns the blocks that a template of the current theme refers to, and false when
// the theme has no such template.
func (s Settings) Refers(ctx context.Context, r store.Reader, template string) ([]string, bool, error) {
	name, err := s.Current(ctx, r)
	if err != nil {
		return nil, false, err
	}
	t, err := find(ctx, r, name)
	if err != nil {
		return nil, false, err
	}
	entry, known := theme.Find(t.Templates, template)
	return entry.Blocks, known, nil
}

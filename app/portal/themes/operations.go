package themes

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-io/gatehouse/app/portal"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/load"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Codes of faults.
const (
	CodeDisabled  = "theme.upload_disabled"
	CodeUnchecked = "theme.unchecked"
	CodeActive    = "theme.active"
	CodeDefault   = "theme.default"
	CodeMany      = "theme.many"
)

// maxThemes is how many themes a portal may have, including deleted ones.
const maxThemes = 200

// maxForm is by how many bytes the form may be larger than the archive in it.
const maxForm = 64 << 10

// Shown is the representation of a theme.
type Shown struct {
	ID      string `json:"ID" doc:"Name of the theme."`
	Name    string `json:"Name"`
	Version string `json:"Version"`
	Author  string `json:"Author"`
	Path    string `json:"Path"`
	Status  string `json:"Status" doc:"Current or Not in use."`
}

func (s *Service) shown(t theme.Theme, current string) Shown {
	out := Shown{t.Name, t.Name, t.Version, t.Author, path.Join(s.Path, t.Name), theme.NotInUse}
	if t.Name == current {
		out.Status = theme.Current
	}
	return out
}

type (
	everything struct{ Scope tenant.Scope }
	address    struct {
		Scope tenant.Scope
		Name  string `path:"theme_id" doc:"Name of the theme."`
	}
	upload struct {
		Scope tenant.Scope
		Body  operation.Attachment `body:""`
	}
)

// Operations implements operation.Service.
func (s *Service) Operations() []operation.Operation {
	if s.Off {
		return nil
	}
	one := Shown{"Ocean", "Ocean", "1.0.0", "ada@example.com", "themes/Ocean", theme.Current}
	done := portal.Done{Status: "ok", Message: "File uploaded successfully"}
	return portal.Group("portal-themes", "/themes", "themes").Rows(
		operation.GET("list", "", "List themes", s.list, operation.Example(nil, []Shown{one}), operation.Notes("Ordered by name; the list is not paged.")),
		operation.POST("upload", "/upload", "Upload a theme", s.upload, operation.Limits(s.MaxUpload+maxForm, time.Minute), operation.Status(200),
			operation.Answers(map[string]operation.Answer{"invalid": {Status: 400}, "conflict": {Status: 400}}),
			operation.Faulting(theme.CodeArchive, CodeDisabled, CodeUnchecked, CodeMany, files.CodeAway), operation.Example(map[string]any{"file": "ocean.zip"}, done),
			operation.Notes("The file is a ZIP archive with theme.json at its root. A theme of the same name is replaced.")),
		operation.GET("get", "/{theme_id}", "Fetch a theme", s.get, operation.Example(nil, one)),
		operation.PUT("activate", "/{theme_id}/activate", "Activate a theme", s.activate, portal.Action(), portal.Unprocessable(), operation.Example(nil, portal.Executed("Activate")),
			operation.Notes("The portal uses the theme at once, for all visitors.")),
		operation.GET("download", "/{theme_id}/download", "Fetch the files of a theme", s.download, operation.Example(nil, Archive{name: "Ocean", data: []byte("PK")})),
		operation.DELETE("delete", "/{theme_id}", "Delete a theme", s.delete, operation.Answers(map[string]operation.Answer{"conflict": {Status: 422}}),
			operation.Faulting(CodeActive, CodeDefault), operation.Example(nil, portal.Status{Status: "ok"})),
	)
}

func (s *Service) list(ctx context.Context, in everything) (out []Shown, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		name, err := s.Current(ctx, r)
		if err != nil {
			return err
		}
		out = []Shown{s.shown(standard(), name)}
		for v, err := range kind.Find(ctx, r, store.Query{}) {
			if err != nil {
				return err
			}
			if v.Value.DeletedAt.IsZero() {
				out = append(out, s.shown(v.Value, name))
			}
		}
		slices.SortFunc(out, func(a, b Shown) int { return strings.Compare(a.Name, b.Name) })
		return nil
	})
	return out, err
}

func (s *Service) get(ctx context.Context, in address) (out Shown, err error) {
	err = s.Store.View(ctx, in.Scope, func(r store.Reader) error {
		name, err := s.Current(ctx, r)
		if err != nil {
			return err
		}
		t, err := find(ctx, r, in.Name)
		out = s.shown(t, name)
		return err
	})
	return out, err
}

// upload validates a theme and stores it. It runs no templates, and writes only to the
// store.
func (s *Service) upload(ctx context.Context, in upload) (portal.Done, error) {
	done := portal.Done{Status: "ok", Message: "File uploaded successfully"}
	switch {
	case s.DisableUpload:
		return done, fault.New(fault.Denied, CodeDisabled, "this portal takes no themes: Theming.DisableUpload is set")
	case s.Engine == nil:
		return done, fault.New(fault.Unavailable, CodeUnchecked, "this service cannot check themes")
	}
	if err := load.Of(ctx).All(ctx); err != nil {
		return done, err
	}
	c, err := theme.Read(in.Body.Content, s.MaxUpload)
	if err != nil {
		return done, err
	}
	if _, err := c.Parse(); err != nil {
		return done, err
	}
	if err := s.Engine.Check(c.Sources()); err != nil {
		return done, fault.New(fault.Invalid, theme.CodeArchive, "%s", err.Error()).At("file")
	}
	entries, err := c.Entries()
	if err != nil {
		return done, err
	}
	now := s.Now()
	fresh := theme.Theme{ID: idOf(c.Name), Portal: in.Scope.Org(), Name: c.Name, Version: c.Version, Author: c.Author, Templates: entries, CreatedAt: now, UpdatedAt: now}
	kept, err := s.Shelf.Keep(ctx, s.Tools, in.Scope, "themes", "zip", in.Body.Content)
	if err != nil {
		return done, err
	}
	_, err = s.Store.Update(ctx, in.Scope, func(w store.Writer) error { return keep(ctx, w, fresh, kept) })
	return done, err
}

// keep stores a theme, replacing one of the same name.
func keep(ctx context.Context, w store.Writer, fresh theme.Theme, c file.Content) error {
	_, err := kind.Edit(ctx, w, fresh.ID, nil, func(old theme.Theme) (theme.Theme, error) {
		fresh.CreatedAt = old.CreatedAt
		return fresh, nil
	})
	if fault.KindOf(err) == fault.NotFound {
		n, counted := w.Count(ctx, store.Query{Kind: theme.Kind})
		if counted != nil {
			return counted
		}
		if n >= maxThemes {
			return fault.New(fault.Conflict, CodeMany, "a portal has %d themes at most", maxThemes)
		}
		err = kind.Insert(ctx, w, fresh)
	}
	if err != nil {
		return err
	}
	a := theme.Archive{ID: fresh.ID, Portal: fresh.Portal, Data: c.Data, File: c.Place}
	_, err = archives.Edit(ctx, w, a.ID, nil, func(theme.Archive) (theme.Archive, error) { return a, nil })
	if fault.KindOf(err) == fault.NotFound {
		err = archives.Insert(ctx, w, a)
	}
	return err
}

func (s *Service) activate(ctx context.Context, in address) (portal.Done, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		t, err := find(ctx, w, in.Name)
		if err != nil {
			return err
		}
		fresh := theme.InUse{Portal: in.Scope.Org(), Name: t.Name}
		_, err = inUse.Edit(ctx, w, current, nil, func(theme.InUse) (theme.InUse, error) { return fresh, nil })
		if fault.KindOf(err) == fault.NotFound {
			err = inUse.Insert(ctx, w, fresh)
		}
		return err
	})
	return portal.Executed("Activate"), err
}

func (s *Service) delete(ctx context.Context, in address) (portal.Status, error) {
	_, err := s.Store.Update(ctx, in.Scope, func(w store.Writer) error {
		t, err := find(ctx, w, in.Name)
		if err != nil {
			return err
		}
		name, err := s.Current(ctx, w)
		switch {
		case err != nil:
			return err
		case t.Name == theme.Default:
			return fault.New(fault.Conflict, CodeDefault, "cannot delete the default theme")
		case t.Name == name:
			return fault.New(fault.Conflict, CodeActive, "cannot delete active theme")
		}
		if _, err := kind.Edit(ctx, w, t.ID, nil, func(t theme.Theme) (theme.Theme, error) {
			t.DeletedAt, t.Templates = s.Now(), nil
			return t, nil
		}); err != nil {
			return err
		}
		_, err = archives.Delete(ctx, w, t.ID, nil)
		return err
	})
	return portal.Status{Status: "ok"}, err
}

func (s *Service) download(ctx context.Context, in address) (out Archive, err error) {
	out.name = in.Name
	if in.Name == theme.Default {
		out.data, err = standardArchive()
		return out, err
	}
	out.data, err = s.open(ctx, in.Scope, func(r store.Reader) (string, error) {
		_, err := find(ctx, r, in.Name)
		return in.Name, err
	})
	return out, err
}

// Content returns the files of the current theme.
func (s *Service) Content(ctx context.Context, scope tenant.Scope) (c theme.Content, err error) {
	data, err := s.open(ctx, scope, func(r store.Reader) (string, error) { return s.Current(ctx, r) })
	switch {
	case err != nil:
		return c, err
	case data == nil:
		return Standard(), nil
	}
	if c, err = theme.Read(data, theme.MaxFile*theme.MaxFiles); err != nil { // the size was checked at the upload
		return c, errors.Join(errors.New("themes: the current theme cannot be read"), err)
	}
	return c, nil
}

// open returns the archive of the theme that choose names; nil: the built-in theme.
func (s *Service) open(ctx context.Context, scope tenant.Scope, choose func(store.Reader) (string, error)) ([]byte, error) {
	return s.Shelf.Open(ctx, func() (out file.Content, err error) {
		err = s.Store.View(ctx, scope, func(r store.Reader) error {
			name, err := choose(r)
			if err != nil || name == theme.Default {
				return err
			}
			a, err := archives.Get(ctx, r, idOf(name))
			out = file.Content{Place: a.Value.File, Data: a.Value.Data}
			return err
		})
		return out, err
	})
}

// Archive is the files of a theme as answer.
type Archive struct {
	name string
	data []byte
}

// Stream implements operation.Stream.
func (a Archive) Stream() (mediaType, tag string, plain, gzipped [][]byte) {
	return "application/zip", "", [][]byte{a.data}, nil
}

// Download implements operation.Download.
func (a Archive) Download() string { return a.name + ".zip" }

// Schema describes the answer.
func (Archive) Schema() map[string]any { return map[string]any{"type": "string", "format": "binary"} }

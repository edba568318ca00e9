// Package contents stores large contents of records in the configured storage, and deletes
// files that no record names any more (docs/wire/portal-content.md#files).
package contents

import (
	"context"
	"errors"
	"time"

	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/files"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Operation is the attribution of commits about files. They are not in audit trails, which
// record the changes of the records that name the files.
const Operation = "portal files"

var kind = &store.Kind[file.Kept]{
	Name: file.Kind, Noun: "file",
	ID:  func(k file.Kept) string { return k.ID },
	Org: func(k file.Kept) tenant.ID { return k.Portal },
}

// Registration returns the registration of the kind of files.
func Registration() crud.Registration {
	return crud.Facts[file.Kept]{Kind: kind, Sample: func(at crud.Stamp) (file.Kept, error) {
		return file.Kept{ID: at.ID, Portal: at.Org, Name: "default/products/" + at.ID + ".png", At: at.Now()}, nil
	}}.Registration()
}

// Shelf stores contents.
type Shelf struct{ Storage files.Storage }

// Keep stores a content and returns the reference for its record. The file is registered
// before it is written: if the unit of work that should name it fails, the file is deleted
// later.
func (s Shelf) Keep(ctx context.Context, t crud.Tools, in tenant.Scope, sort, extension string, content []byte) (file.Content, error) {
	var k file.Kept
	if s.Storage.Apart() {
		k = file.Kept{ID: t.NewID(), Portal: in.Org(), At: t.Now()}
		k.Name = file.Name(k.Portal, sort, k.ID, extension)
		if _, err := t.Store.Update(own(ctx), in, func(w store.Writer) error { return kind.Insert(ctx, w, k) }); err != nil {
			return file.Content{}, err
		}
	}
	c, err := s.Storage.Keep(ctx, k.Name, content)
	return c, told(err)
}

// linked is the lifetime of a link to a file.
const linked = 5 * time.Minute

// Origin returns the origin from which browsers fetch contents directly; "": they do not.
func (s Shelf) Origin() string {
	if l, ok := s.Storage.(files.Linker); ok {
		return l.Origin()
	}
	return ""
}

// Link returns an address from which a browser fetches a content directly; "": there is
// none, and the content must be opened.
func (s Shelf) Link(ctx context.Context, c file.Content, mediaType string) string {
	l, ok := s.Storage.(files.Linker)
	if !ok || c.Place.Name == "" {
		return ""
	}
	link, err := l.Link(ctx, c.Place, mediaType, linked)
	if err != nil { // opening the content will report the error
		return ""
	}
	return link
}

// own attributes units of work to Operation.
func own(ctx context.Context) context.Context {
	return store.Attribute(ctx, store.Attribution{Actor: Operation, Operation: Operation})
}

// Open returns the content of a record. If the file is gone it reads the record again,
// which may have got another file.
func (s Shelf) Open(ctx context.Context, find func() (file.Content, error)) ([]byte, error) {
	c, err := find()
	if err != nil {
		return nil, err
	}
	out, err := s.Storage.Open(ctx, c)
	if errors.Is(err, files.ErrAbsent) {
		again, lost := find()
		if lost != nil || again.Place == c.Place {
			return nil, errors.Join(lost, told(err))
		}
		out, err = s.Storage.Open(ctx, again)
	}
	return out, told(err)
}

// told converts an error of the storage for clients.
func told(err error) error {
	switch {
	case err == nil || fault.KindOf(err) != fault.Internal:
		return err
	case errors.Is(err, files.ErrAbsent), errors.Is(err, files.ErrDamaged):
		return fault.New(fault.Unavailable, files.CodeAway, "the file is not in the storage of files: upload it again").Because(err)
	}
	return files.Away(err)
}

package contents_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/files/folder"
	"github.com/gatehouse-io/gatehouse/adapters/files/record"
	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/crud"
	"github.com/gatehouse-io/gatehouse/app/portal/contents"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// note is a record with a content.
type note struct {
	ID   string     `json:"id"`
	Org  tenant.ID  `json:"org_id"`
	File file.Place `json:"file"`
}

var notes = &store.Kind[note]{
	Name: "note", Noun: "note",
	ID:      func(n note) string { return n.ID },
	Org:     func(n note) tenant.ID { return n.Org },
	Indexes: []store.Index[note]{contents.Index(func(n note) file.Place { return n.File })},
}

// world is a portal with notes, whose files are in a folder.
type world struct {
	*contents.Sweeper
	dir string
	now time.Time
}

func newWorld(t *testing.T, portal tenant.ID, dir string, db *memdb.DB) *world {
	t.Helper()
	scope, err := tenant.Of(portal)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{dir: dir, now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	w.Sweeper = &contents.Sweeper{
		Tools: crud.Tools{Store: db, NewID: apptest.Numbered("%024x"), Now: func() time.Time { return w.now }},
		Shelf: contents.Shelf{Storage: folder.New(dir)}, Scope: scope, Sources: []contents.Source{contents.Of(notes)},
	}
	return w
}

// keep stores a content and, unless id is "", names it in a note.
func (w *world) keep(t *testing.T, id, content string) file.Content {
	t.Helper()
	c, err := w.Keep(t.Context(), w.Tools, w.Scope, "notes", "txt", []byte(content))
	if err == nil && id != "" {
		_, err = w.Store.Update(t.Context(), w.Scope, func(s store.Writer) error {
			n := note{id, w.Scope.Org(), c.Place}
			_, err := notes.Edit(t.Context(), s, id, nil, func(note) (note, error) { return n, nil })
			if err != nil {
				err = notes.Insert(t.Context(), s, n)
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) sweep(t *testing.T, want int) {
	t.Helper()
	if n, err := w.Sweep(t.Context()); n != want || err != nil {
		t.Errorf("%d files removed, %v; want %d", n, err, want)
	}
}

func (w *world) there(c file.Content) bool {
	_, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(c.Place.Name)))
	return err == nil
}

// TestSweep states that files are deleted when no record names them and they are an hour
// old, but no others: neither those of another portal nor foreign files in the folder.
func TestSweep(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	w, other := newWorld(t, "portal:default", dir, db), newWorld(t, "portal:other", dir, db)
	replaced, lost := w.keep(t, "a", "one"), w.keep(t, "", "crashed before it was named")
	named, theirs := w.keep(t, "a", "two"), other.keep(t, "", "theirs")
	foreign := file.Content{Place: file.Place{Name: "default/notes/foreign.txt"}}
	if err := os.WriteFile(filepath.Join(dir, foreign.Place.Name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(59 * time.Minute)
	w.sweep(t, 0)
	w.now = w.now.Add(2 * time.Minute)
	young := w.keep(t, "", "of a request under way")
	w.sweep(t, 2)
	w.sweep(t, 0)
	for name, c := range map[string]struct {
		file.Content
		want bool
	}{"replaced": {replaced, false}, "lost": {lost, false}, "named": {named, true}, "another portal's": {theirs, true}, "foreign": {foreign, true}, "young": {young, true}} {
		if w.there(c.Content) != c.want {
			t.Errorf("%s: there is %v", name, !c.want)
		}
	}
}

// TestSweepStays states that a file that could not be deleted is deleted by the next run,
// and that a file that is already gone is no error.
func TestSweepStays(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "portal:default", t.TempDir(), db)
	for i := range 3 {
		w.keep(t, "", fmt.Sprint(i))
	}
	w.now = w.now.Add(2 * time.Hour)
	stuck := &stubborn{Storage: folder.New(w.dir), left: 1}
	w.Storage = stuck
	if n, err := w.Sweep(t.Context()); n != 1 || err == nil {
		t.Errorf("%d files, %v", n, err)
	}
	stuck.left = 10
	w.sweep(t, 2)
	w.sweep(t, 0)
}

// stubborn is a storage that deletes a limited number of files.
type stubborn struct {
	*folder.Storage
	left int
}

func (s *stubborn) Drop(ctx context.Context, name string) error {
	if s.left--; s.left < 0 {
		return errors.New("read-only file system")
	}
	return s.Storage.Drop(ctx, name)
}

// TestReplaced states that a reader whose file is deleted during the read gets its
// replacement.
func TestReplaced(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "portal:default", t.TempDir(), db)
	old, fresh := w.keep(t, "", "old"), w.keep(t, "", "new")
	if err := w.Storage.Drop(t.Context(), old.Place.Name); err != nil {
		t.Fatal(err)
	}
	turn := []file.Content{old, fresh}
	have, err := w.Open(t.Context(), func() (file.Content, error) {
		c := turn[0]
		turn = turn[1:]
		return c, nil
	})
	if err != nil || string(have) != "new" {
		t.Errorf("%q, %v", have, err)
	}
}

// TestInRecords states that contents in records cost no unit of work, and that there is
// nothing to sweep.
func TestInRecords(t *testing.T) {
	db, err := memdb.New(apptest.Clock())
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "portal:default", t.TempDir(), db)
	w.Storage = record.Storage{}
	if c := w.keep(t, "", "x"); string(c.Data) != "x" || c.Place != (file.Place{}) {
		t.Errorf("%+v", c)
	}
	if head, err := db.Head(t.Context()); head != 0 || err != nil {
		t.Errorf("revision %d, %v", head, err)
	}
	w.now = w.now.Add(2 * time.Hour)
	w.sweep(t, 0)
}

package sql

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Errors of a database are classified for readers and writers: no reader is told of a
// full disk, and a race that is lost repeatedly is not an internal error.
func TestWhatErrorsAre(t *testing.T) {
	full, lost, busy, odd := errors.New("full"), errors.New("lost"), errors.New("busy"), errors.New("odd")
	is := func(what error) func(error) bool { return func(err error) bool { return errors.Is(err, what) } }
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s := New(Config{Readers: db, Writers: db, Dialect: Dialect{Full: is(full), Lost: is(lost), Again: is(busy), Broken: is(nil)}})
	defer func() { _ = s.Close() }()
	for _, c := range []struct{ err, writing, reading error }{
		{full, store.ErrFull, store.ErrUnavailable}, {lost, store.ErrUnavailable, store.ErrUnavailable},
		{busy, store.ErrUnavailable, store.ErrUnavailable}, {odd, odd, odd}, {nil, nil, nil},
	} {
		if got := s.explain(c.err); !errors.Is(got, c.writing) || !errors.Is(got, c.err) {
			t.Errorf("writing, %v: %v", c.err, got)
		}
		got := s.View(t.Context(), tenant.Everyone("test"), func(store.Reader) error { return c.err })
		if !errors.Is(got, c.reading) || !errors.Is(got, c.err) || errors.Is(got, store.ErrFull) {
			t.Errorf("reading, %v: %v", c.err, got)
		}
	}
}

package themes

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/portal/file"
	"github.com/gatehouse-io/gatehouse/core/portal/theme"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestParts: an archive in the store is in records of a bounded size, whatever took its place
// before, and none of them stays when it is replaced, moves or goes.
func TestParts(t *testing.T) {
	p := apptest.NewPortal(t)
	s := &Service{Tools: p.Tools, Scope: p.Scope}
	fresh := theme.Theme{ID: idOf("Ocean"), Portal: p.Scope.Org(), Name: "Ocean"}
	bytesOf := func(n int) []byte {
		out := make([]byte, n)
		_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(out)
		return out
	}
	whole := bytesOf(3 * partSize)
	if _, err := p.DB.Update(t.Context(), p.Scope, func(w store.Writer) error { // as older versions wrote it
		if err := kind.Insert(t.Context(), w, fresh); err != nil {
			return err
		}
		return archives.Insert(t.Context(), w, theme.Archive{ID: fresh.ID, Portal: fresh.Portal, Data: whole})
	}); err != nil {
		t.Fatal(err)
	}
	check := func(want []byte, records int) {
		t.Helper()
		if err := p.DB.View(t.Context(), p.Scope, func(r store.Reader) error {
			a, err := archives.Get(t.Context(), r, fresh.ID)
			if err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
			have, err := joined(t.Context(), r, a.Value)
			if !bytes.Equal(have, want) {
				t.Errorf("%d bytes, and not %d", len(have), len(want))
			}
			n := 0
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: theme.PartKind}) {
				if err != nil {
					return err
				}
				if n++; len(rec.Doc) > 1<<20 {
					t.Errorf("a record of %d bytes", len(rec.Doc))
				}
			}
			if n != records {
				t.Errorf("%d records, and not %d", n, records)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	check(whole, 0)
	for _, c := range []struct {
		c       file.Content
		records int
	}{
		{file.Content{Data: bytesOf(4*partSize + 7)}, 5}, {file.Content{Data: bytesOf(partSize)}, 1}, {file.Content{Data: bytesOf(2 * partSize)}, 2},
		{file.Content{Place: file.Place{Name: "default/themes/x.zip"}}, 0}, {file.Content{Data: bytesOf(9)}, 1},
	} {
		if err := s.keep(t.Context(), p.Scope, fresh, c.c); err != nil {
			t.Fatal(err)
		}
		check(c.c.Data, c.records)
	}
	// What an upload has left that did not come to its end goes with a later one.
	if _, err := s.cut(t.Context(), p.Scope, theme.Archive{Portal: p.Scope.Org(), Data: bytesOf(2 * partSize)}); err != nil {
		t.Fatal(err)
	}
	s.Now = func() time.Time { return p.Tools.Now().Add(2 * orphaned) }
	if err := s.keep(t.Context(), p.Scope, fresh, file.Content{Data: bytesOf(5)}); err != nil {
		t.Fatal(err)
	}
	check(bytesOf(5), 1)
	if _, err := s.delete(t.Context(), address{Scope: p.Scope, Name: "Ocean"}); err != nil {
		t.Fatal(err)
	}
	check(nil, 0)
}

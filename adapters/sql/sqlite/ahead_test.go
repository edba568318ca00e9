package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	sqladapter "github.com/gatehouse-io/gatehouse/adapters/sql"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/secret"
	"github.com/gatehouse-io/gatehouse/ports/store"
	"github.com/gatehouse-io/gatehouse/ports/store/storetest"
)

// watched calls seen before it seals a long text.
type watched struct {
	secret.Documents
	seen func()
}

func (w watched) Seal(dst, plain, place []byte) ([]byte, error) {
	if len(plain) > 64<<10 {
		w.seen()
	}
	return w.Documents.Seal(dst, plain, place)
}

// TestLongTextsAreMadeAhead checks that a long document, and the text of a long change,
// are escaped and encrypted outside the writer: meanwhile another organisation writes.
func TestLongTextsAreMadeAhead(t *testing.T) {
	other, err := tenant.Of("b")
	if err != nil {
		t.Fatal(err)
	}
	var s *sqlite.Store
	sealed, want := sealing(t, "secret"), errors.New("not asked")
	parts := 0
	sealed.Documents = watched{sealed.Documents, func() {
		parts++
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if _, want = s.Update(ctx, other, func(w store.Writer) error {
			return w.Put(ctx, store.Record{Org: "b", Kind: "k", ID: string(rune('a' + parts)), Doc: []byte(`{}`)})
		}); want != nil {
			t.Error(parts, want)
		}
	}}
	s = openWith(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db"), Sealing: sqladapter.Sealing{Documents: sealed.Documents}})
	first, second := long(t, s, "x")
	if parts < 10 || want != nil { // 2 and 3 of the documents; 2 and 4 of the changes
		t.Errorf("%d parts, %v", parts, want)
	}
	holdsRecord(t, s, "x", second)
	var doc []byte
	for _, d := range []store.Revision{0, 1} { // as followers of the log get it
		for c, err := range s.Follow(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Changes[0].Kind != "long" {
				continue
			}
			after, err := c.Changes[0].After(store.Record{Doc: doc}, c.Rev)
			if err != nil {
				t.Fatal(err)
			}
			if doc = after.Doc; bytes.Equal(doc, second) {
				break
			}
			if !bytes.Equal(doc, first) {
				t.Errorf("%d: %d bytes", d, len(doc))
			}
		}
		doc = nil
	}
}

// holdsRecord checks a long document, read from the file.
func holdsRecord(tb testing.TB, s *sqlite.Store, id string, want []byte) {
	tb.Helper()
	if err := s.View(tb.Context(), acme, func(r store.Reader) error {
		rec, err := r.Get(tb.Context(), "long", id)
		if err == nil && (rec.Damage != nil || !bytes.Equal(rec.Doc, want)) {
			tb.Errorf("%d bytes, not %d: %v", len(rec.Doc), len(want), rec.Damage)
		}
		return err
	}); err != nil {
		tb.Error(err)
	}
}

// TestSeveralLongTexts stores several long documents with short ones in one unit of work,
// more than are stored ahead at once, and others around it.
func TestSeveralLongTexts(t *testing.T) {
	for name, sealed := range map[string]sqladapter.Sealing{"clear": {}, "encrypted": sealing(t, "secret")} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "gatehouse.db")
			s := openSealed(t, path, sealed)
			texts := map[string][]byte{"1": storetest.Long("one", 1_500_000), "2": storetest.Long("two", 3_000_000), "3": []byte(`"short"`)}
			for range 2 {
				for _, rounds := range [][]string{{"3"}, {"1", "2", "3"}, {"2"}, {"3", "1"}} {
					if _, err := s.Update(t.Context(), acme, func(w store.Writer) error {
						for _, id := range rounds {
							r := store.Record{Org: "a", Kind: "long", ID: id, Doc: texts[id]}
							if err := put(t.Context(), w, r); err != nil {
								return err
							}
						}
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					texts["1"], texts["2"] = texts["2"], texts["1"]
					texts["3"] = append([]byte(" "), texts["3"]...)
				}
			}
			closed(t, s)
			s = openSealed(t, path, sealed)
			if err := s.Examine(t.Context(), func(rec store.Record) {
				if rec.Damage != nil {
					t.Error(rec.ID, rec.Damage)
				}
			}, func(d *store.Damage) {
				if d != nil {
					t.Error(d)
				}
			}); err != nil {
				t.Fatal(err)
			}
			head, err := s.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			docs, last := map[string][]byte{}, store.Revision(0)
			for c, err := range s.Follow(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Rev != last+1 {
					t.Errorf("%d follows %d", c.Rev, last)
				}
				last = c.Rev
				for _, ch := range c.Changes {
					after, err := ch.After(store.Record{Doc: docs[ch.ID]}, c.Rev)
					if err != nil {
						t.Fatal(err)
					}
					docs[ch.ID] = after.Doc
				}
				if c.Rev == head {
					break
				}
			}
			for id, want := range docs {
				holdsRecord(t, s, id, want)
			}
		})
	}
}

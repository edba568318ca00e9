package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func rec(id string, keys ...store.Key) store.Record {
	return store.Record{Org: "a", Kind: "k", ID: id, Doc: []byte(`{}`), Keys: keys}
}

func count(seq iter.Seq2[store.Record, error]) (n int, err error) {
	for _, err := range seq {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestPreparedIsComparedWithWhatCameBetween changes something while a unit of work is
// prepared. If the unit has read it, the unit runs again and sees the change; else the
// unit is stored as prepared.
func TestPreparedIsComparedWithWhatCameBetween(t *testing.T) {
	tag := store.Key{Index: "tag", Value: "x"}
	sorted := store.Key{Index: "list", Value: "f\x00b", Sorted: true}
	unique := store.Key{Index: "name", Value: "n", Unique: true}
	across := store.Key{Index: "wide", Value: "n", Unique: true, Across: true}
	target := integrity.Target{Kind: "k", ID: "1"}
	put := func(r store.Record) func(store.Writer) error {
		return func(w store.Writer) error { return w.Put(t.Context(), r) }
	}
	referring := rec("9")
	referring.Refs = []integrity.Ref{{Target: target}}
	elsewhere := rec("9", tag, sorted)
	elsewhere.Org = "b"
	foreign := rec("9", across)
	foreign.Org = "b"
	leave := func(w store.Writer) error {
		for old, err := range w.Scan(t.Context(), store.Query{Kind: "k", ID: "1"}) {
			if err != nil {
				return err
			}
			old.Keys = nil
			return w.Put(t.Context(), old)
		}
		return store.ErrNotFound
	}
	find := func(q store.Query) func(store.Writer) (int, error) {
		q.Kind = "k"
		return func(w store.Writer) (int, error) { return count(w.Scan(t.Context(), q)) }
	}
	for name, c := range map[string]struct {
		look    func(store.Writer) (int, error)
		between func(store.Writer) error
		again   bool
	}{
		"a record":              {find(store.Query{ID: "9"}), put(rec("9")), true},
		"another record":        {find(store.Query{ID: "8"}), put(rec("9")), false},
		"a key":                 {find(store.Query{Index: "tag", Value: "x"}), put(rec("9", tag)), true},
		"another key":           {find(store.Query{Index: "tag", Value: "y"}), put(rec("9", tag)), false},
		"another organisation":  {find(store.Query{Index: "tag", Value: "x"}), put(elsewhere), false},
		"all":                   {find(store.Query{}), put(rec("9")), true},
		"all of another":        {find(store.Query{}), put(elsewhere), false},
		"sorted":                {find(store.Query{Index: "list", Sorted: true, Prefix: "f\x00"}), put(rec("9", sorted)), true},
		"sorted beside":         {find(store.Query{Index: "list", Sorted: true, Prefix: "g\x00"}), put(rec("9", sorted)), false},
		"one that goes":         {find(store.Query{Index: "name", Value: "n"}), leave, true},
		"unique across":         {func(w store.Writer) (int, error) { return 0, w.Put(t.Context(), rec("7", across)) }, put(foreign), true},
		"a number of records":   {func(w store.Writer) (int, error) { return w.Count(t.Context(), store.Query{Kind: "k"}) }, put(rec("9")), true},
		"those that refer":      {func(w store.Writer) (int, error) { return count(w.Referrers(t.Context(), target)) }, put(referring), true},
		"those that refer, not": {func(w store.Writer) (int, error) { return count(w.Referrers(t.Context(), target)) }, put(rec("9")), false},
		"when a kind changed":   {func(w store.Writer) (int, error) { _, err := w.Touched(t.Context(), "k"); return 0, err }, put(elsewhere), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, sqlite.Prepared(sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")}))
			update := func(org tenant.ID, fn func(store.Writer) error) error {
				sc, err := tenant.Of(org)
				if err == nil {
					_, err = s.Update(t.Context(), sc, fn)
				}
				return err
			}
			if err := update("a", put(rec("1", unique))); err != nil {
				t.Fatal(err)
			}
			runs, looked := 0, make(chan struct{})
			written := make(chan error)
			go func() {
				<-looked
				_, err := s.Update(t.Context(), tenant.Everyone("units of this scope have a turn of their own"), c.between)
				written <- err
			}()
			err := update("a", func(w store.Writer) error {
				runs++
				n, err := c.look(w)
				if runs == 1 {
					close(looked)
					if err := <-written; err != nil {
						t.Error(err)
					}
				}
				if err != nil {
					return err
				}
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "seen", ID: "1", Doc: fmt.Append(nil, n)})
			})
			if again := runs > 1; again != c.again || err != nil && name != "unique across" || name == "unique across" && !errors.Is(err, store.ErrTaken) {
				t.Errorf("the unit ran %d times: %v", runs, err)
			}
		})
	}
}

// blob is a value whose document is large.
type blob struct {
	ID, Org, Text string
}

// TestLargeDocumentsAreDecodedOnce edits a large document again and again: each edit starts
// from the value that the edit before it has stored.
func TestLargeDocumentsAreDecodedOnce(t *testing.T) {
	for name, open := range map[string]func(testing.TB, string) *sqlite.Store{
		"plain":  open,
		"sealed": func(tb testing.TB, path string) *sqlite.Store { return openSealed(tb, path, sealing(tb, "secret")) },
	} {
		for _, size := range []int{300 << 10, 3 << 20} { // in its row, and in parts
			t.Run(fmt.Sprintf("%s, %d bytes", name, size), func(t *testing.T) {
				loads := 0
				kind := &store.Kind[blob]{
					Name: "blob", Shared: true,
					ID: func(b blob) string { return b.ID }, Org: func(b blob) tenant.ID { return tenant.ID(b.Org) },
					Load: func(text []byte) (b blob, err error) {
						loads++
						return b, json.Unmarshal(text, &b)
					},
				}
				s := open(t, filepath.Join(t.TempDir(), "gatehouse.db"))
				org, err := tenant.Of("a")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Update(t.Context(), org, func(w store.Writer) error {
					return kind.Insert(t.Context(), w, blob{"1", "a", strings.Repeat("x", size)})
				}); err != nil {
					t.Fatal(err)
				}
				for i := range 5 {
					if _, err := s.Update(t.Context(), org, func(w store.Writer) error {
						_, err := kind.Edit(t.Context(), w, "1", nil, func(b blob) (blob, error) {
							b.Text = fmt.Sprint(i) + b.Text
							return b, nil
						})
						return err
					}); err != nil {
						t.Fatal(err)
					}
				}
				if loads > 0 {
					t.Errorf("the document was decoded %d times", loads)
				}
				if err := s.View(t.Context(), org, func(r store.Reader) error {
					b, err := kind.Get(t.Context(), r, "1")
					if want := "43210" + strings.Repeat("x", size); err == nil && b.Value.Text != want {
						t.Errorf("%d bytes are stored, not %d, or other ones", len(b.Value.Text), len(want))
					}
					return err
				}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// Package storetest holds the tests every store back end passes. A back end's
// own test file is a constructor and a call of Run.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Backend is a store under test.
type Backend interface {
	store.Store
	store.ChangeLog
	store.Snapshotter
	store.Historian
	store.Leases
}

// New returns a fresh, empty back end that is closed when the test ends.
type New func(testing.TB) Backend

// across makes a unique index one of all organisations.
func across(ix store.Index[thing]) store.Index[thing] {
	ix.Across = true
	return ix
}

// thing is the resource of the suite: four indexes, one unique, one unique across
// organisations and one sorted, and references.
type thing struct {
	ID    string    `json:"id"`
	Org   tenant.ID `json:"org"`
	Name  string    `json:"name"`
	Owner string    `json:"owner"`
	Rank  string    `json:"rank,omitempty"`
	N     int       `json:"n"`
	Text  string    `json:"text,omitempty"`
	World string    `json:"world,omitempty"`
}

var things = &store.Kind[thing]{
	Name: "thing", Noun: "thing", Alias: "name",
	ID:  func(t thing) string { return t.ID },
	Org: func(t thing) tenant.ID { return t.Org },
	Indexes: []store.Index[thing]{
		store.Unique("name", "name", func(t thing) string { return t.Name }),
		store.Lookup("owner", func(t thing) string { return t.Owner }),
		store.Sorted("rank", func(t thing) string { return t.Rank }),
		across(store.Unique("world", "world", func(t thing) string { return t.World })),
	},
	Refs: func(t thing) []integrity.Ref {
		if t.Owner == "" {
			return nil
		}
		return []integrity.Ref{{Target: integrity.Target{Kind: "person", ID: t.Owner}, Field: "owner", OnDelete: integrity.Tolerate}}
	},
}

// Run exercises a back end, each test on a fresh one.
func Run(t *testing.T, newBackend New) {
	for _, group := range [][]test{resourceTests, serialTests, isolationTests, unitTests, scanTests, sortedTests, rehearsalTests, changeLogTests, historyTests, longTests, concurrencyTests, leaseTests} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.run(t, newBackend(t)) })
		}
	}
}

type test struct {
	name string
	run  func(*testing.T, Backend)
}

// rehearsal returns a context in which units of work store nothing.
func rehearsal(t *testing.T) context.Context {
	ctx, _ := store.Rehearse(t.Context(), store.Onlooker{})
	return ctx
}

var resourceTests = []test{
	{"round trip", func(t *testing.T, b Backend) {
		want := thing{ID: "1", Org: "a", Name: "x", Owner: "o", N: 3, Text: "é \" \\ \u2028 <&>"}
		rev := insert(t, b, want)
		for _, name := range []string{"1", "x"} {
			if got, err := get(t, b, "a", name); err != nil || got.Value != want || got.Rev != rev {
				t.Fatalf("get %s: %+v, %v; want %+v at %d", name, got, err, want, rev)
			}
		}
		rev = remove(t, b, "a", "x")
		if _, err := get(t, b, "a", "1"); fault.KindOf(err) != fault.NotFound || !errors.Is(err, store.ErrNotFound) {
			t.Fatalf("after delete: %v", err)
		}
		if head, err := b.Head(t.Context()); err != nil || head != rev || rev != 2 {
			t.Fatalf("head %d, %v; want %d", head, err, rev)
		}
	}},
	{"look-ups", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", Owner: "o"})
		insert(t, b, thing{ID: "2", Org: "b", Name: "x", Owner: "o"})
		look := func(ctx context.Context, sc tenant.Scope, r store.Reader) error {
			for _, c := range []struct{ org, index, value, id string }{
				{"a", "name", "x", "1"}, {"b", "name", "x", "2"}, {"a", "owner", "o", "1"}, {"b", "owner", "o", "2"}, {"", "owner", "o", "1"},
				{"a", "", "1", "1"}, {"b", "", "1", ""}, {"", "", "2", "2"}, {"", "name", "y", ""}, {"a", "owner", "x", ""}, {"", "", "3", ""},
			} {
				if c.org != string(sc.Org()) {
					continue
				}
				v, err := things.Locate(ctx, r, c.value)
				if c.index != "" {
					v, err = things.ByKey(ctx, r, c.index, c.value)
				}
				if v.Value.ID != c.id || (c.id == "") != (fault.KindOf(err) == fault.NotFound) || c.id != "" && err != nil {
					t.Errorf("%+v: %+v, %v", c, v.Value, err)
				}
			}
			return nil
		}
		for _, sc := range []tenant.Scope{scope(t, "a"), scope(t, "b"), tenant.Everyone("test")} {
			for _, ctx := range []context.Context{t.Context(), rehearsal(t)} {
				_, updated := b.Update(ctx, sc, func(w store.Writer) error { return look(ctx, sc, w) })
				viewed := b.View(ctx, sc, func(r store.Reader) error { return look(ctx, sc, r) })
				if err := errors.Join(updated, viewed); err != nil {
					t.Error(err)
				}
			}
		}
	}},
	{"documents come back as they went in", func(t *testing.T, b Backend) {
		text := `{"z": 1.50 ,"a":1e3,"unknown":{"k":[1, 2]},"big":12345678901234567890,"u":"\u00e9é"}`
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			return w.Put(ctx, store.Record{Org: "a", Kind: "raw", ID: "1", Doc: []byte(text)})
		})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			rec, err := r.Get(ctx, "raw", "1")
			if err != nil || string(rec.Doc) != text {
				t.Errorf("got %s, %v", rec.Doc, err)
			}
			return nil
		})
	}},
	{"unique keys", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		insert(t, b, thing{ID: "1", Org: "b", Name: "x"}) // another tenant may use both
		insert(t, b, thing{ID: "3", Org: "a", Name: "z"})
		for _, dup := range []thing{{ID: "2", Org: "a", Name: "x"}, {ID: "1", Org: "a", Name: "y"}} {
			_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error { return things.Insert(t.Context(), w, dup) })
			if fault.KindOf(err) != fault.Conflict || !errors.Is(err, store.ErrTaken) {
				t.Errorf("insert %v: %v", dup, err)
			}
		}
		_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
			return editIn(t.Context(), w, "3", func(v *thing) { v.Name = "x" })
		})
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("rename: %v", err)
		}
		same(t, "things of a", ids(t, b, scope(t, "a"), store.Query{}), []string{"a/1", "a/3"})
	}},
	{"unique across organisations", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", World: "w"})
		refused := func(name string, sc tenant.Scope, fn func(ctx context.Context, w store.Writer) error) {
			t.Helper()
			_, err := b.Update(t.Context(), sc, func(w store.Writer) error { return fn(t.Context(), w) })
			if fault.KindOf(err) != fault.Conflict || !errors.Is(err, store.ErrTaken) {
				t.Errorf("%s: %v", name, err)
			}
		}
		put := func(v thing) func(context.Context, store.Writer) error {
			return func(ctx context.Context, w store.Writer) error { return things.Insert(ctx, w, v) }
		}
		refused("another organisation", scope(t, "b"), put(thing{ID: "2", Org: "b", Name: "x", World: "w"}))
		refused("the same ID in another organisation", scope(t, "b"), put(thing{ID: "1", Org: "b", Name: "x", World: "w"}))
		refused("a unit of work for everyone", tenant.Everyone("test"), put(thing{ID: "2", Org: "b", Name: "x", World: "w"}))
		insert(t, b, thing{ID: "2", Org: "b", Name: "x"})
		refused("an edit", scope(t, "b"), func(ctx context.Context, w store.Writer) error {
			return editIn(ctx, w, "x", func(v *thing) { v.World = "w" })
		})
		refused("in one unit of work", tenant.Everyone("test"), func(ctx context.Context, w store.Writer) error {
			if err := things.Insert(ctx, w, thing{ID: "3", Org: "a", Name: "y", World: "v"}); err != nil {
				return err
			}
			return things.Insert(ctx, w, thing{ID: "4", Org: "b", Name: "y", World: "v"})
		})
		update(t, b, "a", func(ctx context.Context, w store.Writer) error { // what has it may be changed
			return editIn(ctx, w, "x", func(v *thing) { v.N++ })
		})
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			return editIn(ctx, w, "x", func(v *thing) { v.World = "" })
		})
		update(t, b, "b", func(ctx context.Context, w store.Writer) error { // free again
			return editIn(ctx, w, "x", func(v *thing) { v.World = "w" })
		})
	}},
	{"a unique value moves within one unit", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		insert(t, b, thing{ID: "2", Org: "a", Name: "y"})
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			if err := editIn(ctx, w, "1", func(v *thing) { v.Name = "free" }); err != nil {
				return err
			}
			if err := editIn(ctx, w, "2", func(v *thing) { v.Name = "x" }); err != nil {
				return err
			}
			if v, err := things.Get(ctx, w, "x"); err != nil || v.Value.ID != "2" {
				t.Errorf("inside: %+v, %v", v, err)
			}
			return nil
		})
		if v, err := get(t, b, "a", "x"); err != nil || v.Value.ID != "2" {
			t.Errorf("after: %+v, %v", v, err)
		}
		if _, err := get(t, b, "a", "y"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the old name still works: %v", err)
		}
	}},
	{"stale writes", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		var old store.Record
		view(t, b, "a", func(ctx context.Context, r store.Reader) (err error) {
			old, err = r.Get(ctx, "thing", "1")
			return err
		})
		edit(t, b, "a", "1", func(v *thing) { v.N++ })
		put := func() error {
			_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error { return w.Put(t.Context(), old) })
			return err
		}
		if err := put(); !errors.Is(err, store.ErrStale) {
			t.Errorf("of a changed record: %v", err)
		}
		remove(t, b, "a", "1")
		if err := put(); !errors.Is(err, store.ErrStale) {
			t.Errorf("of a deleted record: %v", err)
		}
	}},
	{"touched moves with its kind", func(t *testing.T, b Backend) {
		touched := func() (rev store.Revision) {
			view(t, b, "a", func(ctx context.Context, r store.Reader) (err error) {
				rev, err = r.Touched(ctx, "thing")
				return err
			})
			return rev
		}
		seen := map[store.Revision]string{touched(): "empty"}
		for name, do := range map[string]func(){
			"insert": func() { insert(t, b, thing{ID: "1", Org: "a", Name: "x"}) },
			"other":  func() { insert(t, b, thing{ID: "1", Org: "b", Name: "x"}) },
		} {
			do()
			if before, ok := seen[touched()]; ok {
				t.Errorf("%s: as after %s", name, before)
			}
			seen[touched()] = name
		}
		edit(t, b, "a", "x", func(v *thing) { v.N++ })
		was := touched()
		remove(t, b, "a", "x")
		if _, ok := seen[was]; ok || touched() == was {
			t.Errorf("edit or delete did not move it")
		}
	}},
	{"conditions", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		stored, err := get(t, b, "a", "1")
		if err != nil {
			t.Fatal(err)
		}
		boom := errors.New("no")
		when := func(s store.Serial) error {
			if s != stored.Serial {
				t.Errorf("condition asked about %d, want %d", s, stored.Serial)
			}
			return boom
		}
		_, err = b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
			_, err := things.Edit(t.Context(), w, "x", when, func(v thing) (thing, error) { v.N = 9; return v, nil })
			_, err2 := things.Delete(t.Context(), w, "x", when)
			return errors.Join(err, err2)
		})
		if !errors.Is(err, boom) {
			t.Error(err)
		}
		if v, err := get(t, b, "a", "1"); err != nil || v.Value.N != 0 {
			t.Errorf("%+v, %v", v, err)
		}
	}},
	{"a reference may name anything", func(t *testing.T, b Backend) {
		loose := *things
		loose.Name, loose.Indexes = "loose", nil
		loose.Refs = func(v thing) []integrity.Ref {
			return []integrity.Ref{{Target: integrity.Target{Kind: "thing", ID: v.Owner}, Field: "owner." + v.Owner, OnDelete: integrity.Tolerate}}
		}
		var long strings.Builder // that no back end can compress
		for i := range 2000 {
			fmt.Fprintf(&long, "%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))
		}
		for i, owner := range []string{long.String(), "a\x00b"} {
			_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
				return loose.Insert(t.Context(), w, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint(i), Owner: owner})
			})
			if err != nil {
				t.Errorf("%.10q: %v", owner, err)
			}
		}
	}},
	{"what others rely on stays", func(t *testing.T, b Backend) {
		strict := *things
		strict.Name = "strict"
		strict.Refs = func(v thing) []integrity.Ref {
			return []integrity.Ref{{Target: integrity.Target{Kind: "thing", ID: v.Owner}, Field: "owner"}}
		}
		put := func(owner string) error {
			_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
				return strict.Insert(t.Context(), w, thing{ID: "s", Org: "a", Name: "s", Owner: owner})
			})
			return err
		}
		if err := put("1"); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a reference to nothing: %v", err)
		}
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		if err := put("1"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
			_, err := things.Delete(t.Context(), w, "x", nil)
			return err
		}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("deleted under a reference: %v", err)
		}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			_, err := strict.Delete(ctx, w, "s", nil)
			return err
		})
		remove(t, b, "a", "x")
	}},
	{"texts that no client should send", func(t *testing.T, b Backend) {
		odd := "a\x00b\x01c"
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", Owner: odd})
		insert(t, b, thing{ID: "2", Org: "a", Name: odd})
		one := scope(t, "a")
		same(t, "by owner", ids(t, b, one, store.Query{Index: "owner", Value: odd}), []string{"a/1"})
		if v, err := get(t, b, "a", odd); err != nil || v.Value.ID != "2" {
			t.Errorf("by name: %+v, %v", v, err)
		}
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			for rec, err := range r.Referrers(ctx, integrity.Target{Kind: "person", ID: odd}) {
				if err != nil || rec.ID != "1" {
					t.Error(rec.ID, err)
				}
			}
			return nil
		})
		for _, name := range []string{"1\x00", "\x00", "1\xff", "a\x00b\x01", "a\x01\x01b\x01\x02c"} {
			if _, err := get(t, b, "a", name); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%q: %v", name, err)
			}
			same(t, "by ID", ids(t, b, one, store.Query{ID: name}), []string(nil))
			if _, err := b.Update(t.Context(), one, func(w store.Writer) error { return w.Delete(t.Context(), "thing", name) }); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}},
	{"referrers", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", Owner: "o"})
		insert(t, b, thing{ID: "2", Org: "a", Name: "y", Owner: "p"})
		insert(t, b, thing{ID: "3", Org: "b", Name: "y", Owner: "o"})
		holders := func(ctx context.Context, r store.Reader, owner string) (out []string) {
			for rec, err := range r.Referrers(ctx, integrity.Target{Kind: "person", ID: owner}) {
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, rec.ID)
			}
			return out
		}
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			same(t, "of o", holders(ctx, r, "o"), []string{"1"})
			return nil
		})
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			if err := editIn(ctx, w, "2", func(v *thing) { v.Owner = "o" }); err != nil {
				return err
			}
			if err := editIn(ctx, w, "1", func(v *thing) { v.Owner = "" }); err != nil {
				return err
			}
			same(t, "of o inside the unit", holders(ctx, w, "o"), []string{"2"})
			return nil
		})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			same(t, "of o after", holders(ctx, r, "o"), []string{"2"})
			same(t, "of p after", holders(ctx, r, "p"), []string(nil))
			return nil
		})
	}},
}

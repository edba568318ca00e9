package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

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
}

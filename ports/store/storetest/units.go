package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var isolationTests = []test{
	{"no method reads across tenants", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", Owner: "o"})
		insert(t, b, thing{ID: "2", Org: "b", Name: "other", Owner: "o"})
		check := func(ctx context.Context, r store.Reader) error {
			if _, err := r.Get(ctx, "thing", "1"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("get: %v", err)
			}
			for _, q := range []store.Query{{}, {Index: "owner", Value: "o"}, {Index: "name", Value: "x"}, {ID: "1"}, {Offset: 1}} {
				for v := range things.Find(ctx, r, q) {
					if v.Value.Org != "b" {
						t.Errorf("%+v found %v", q, v)
					}
				}
				q.Kind = "thing"
				if n, err := r.Count(ctx, q); err != nil || n > 1 {
					t.Errorf("%+v counts %d, %v", q, n, err)
				}
			}
			for rec := range r.Referrers(ctx, integrity.Target{Kind: "person", ID: "o"}) {
				if rec.Org != "b" {
					t.Errorf("referrer %v", rec)
				}
			}
			return nil
		}
		view(t, b, "b", check)
		update(t, b, "b", func(ctx context.Context, w store.Writer) error { return check(ctx, w) })
		for range b.History(t.Context(), scope(t, "b"), "thing", "1") {
			t.Error("history across tenants")
		}
	}},
	{"no method writes across tenants", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		for name, do := range map[string]func(store.Writer) error{
			"insert": func(w store.Writer) error { return things.Insert(t.Context(), w, thing{ID: "9", Org: "a", Name: "z"}) },
			"delete": func(w store.Writer) error { _, err := things.Delete(t.Context(), w, "1", nil); return err },
			"edit":   func(w store.Writer) error { return editIn(t.Context(), w, "1", func(*thing) {}) },
			"put": func(w store.Writer) error {
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "thing", ID: "1", Rev: 1, Doc: []byte("{}")})
			},
		} {
			if _, err := b.Update(t.Context(), scope(t, "b"), do); err == nil {
				t.Errorf("%s across tenants succeeded", name)
			}
		}
		if v, err := get(t, b, "a", "1"); err != nil || v.Value.Name != "x" {
			t.Errorf("%+v, %v", v, err)
		}
	}},
	{"the zero scope touches nothing", func(t *testing.T, b Backend) {
		if err := b.View(t.Context(), tenant.Scope{}, func(store.Reader) error { return nil }); !errors.Is(err, store.ErrScope) {
			t.Error(err)
		}
		if _, err := b.Update(t.Context(), tenant.Scope{}, func(store.Writer) error { return nil }); !errors.Is(err, store.ErrScope) {
			t.Error(err)
		}
	}},
	{"everyone scans and does not get", func(t *testing.T, b Backend) {
		everyone := tenant.Everyone("test")
		for _, org := range []tenant.ID{"b", "a"} {
			for i := range 3 {
				insert(t, b, thing{ID: fmt.Sprint(i), Org: org, Name: fmt.Sprint("n", i), Owner: "o"})
			}
		}
		same(t, "all", ids(t, b, everyone, store.Query{}), []string{"a/0", "a/1", "a/2", "b/0", "b/1", "b/2"})
		same(t, "by ID", ids(t, b, everyone, store.Query{ID: "1"}), []string{"a/1", "b/1"})
		same(t, "by key", ids(t, b, everyone, store.Query{Index: "owner", Value: "o", Offset: 2, Limit: 2}), []string{"a/2", "b/0"})
		if _, err := b.Update(t.Context(), everyone, func(w store.Writer) error {
			if _, err := w.Get(t.Context(), "thing", "1"); !errors.Is(err, store.ErrScope) {
				t.Errorf("get: %v", err)
			}
			if err := w.Delete(t.Context(), "thing", "1"); !errors.Is(err, store.ErrScope) {
				t.Errorf("delete: %v", err)
			}
			return things.Insert(t.Context(), w, thing{ID: "new", Org: "c", Name: "n"})
		}); err != nil {
			t.Error(err)
		}
		same(t, "what everyone wrote", ids(t, b, scope(t, "c"), store.Query{}), []string{"c/new"})
	}},
}

var unitTests = []test{
	{"an error undoes everything", func(t *testing.T, b Backend) {
		before := insert(t, b, thing{ID: "0", Org: "a", Name: "old"})
		boom := errors.New("boom")
		_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error { return mess(t, w, boom) })
		if !errors.Is(err, boom) {
			t.Fatal(err)
		}
		untouched(t, b, before)
	}},
	{"a panic undoes everything", func(t *testing.T, b Backend) {
		before := insert(t, b, thing{ID: "0", Org: "a", Name: "old"})
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("recovered %v", r)
				}
			}()
			_, _ = b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
				_ = mess(t, w, nil)
				panic("boom")
			})
		}()
		untouched(t, b, before)
		insert(t, b, thing{ID: "1", Org: "a", Name: "after"}) // and the writer is free again
	}},
	{"a closure that runs twice counts once", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		boom := errors.New("lost the race")
		bump := func(w store.Writer) error { return editIn(t.Context(), w, "1", func(v *thing) { v.N++ }) }
		if _, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error { return errors.Join(bump(w), boom) }); !errors.Is(err, boom) {
			t.Fatal(err)
		}
		if _, err := b.Update(t.Context(), scope(t, "a"), bump); err != nil {
			t.Fatal(err)
		}
		if v, err := get(t, b, "a", "1"); err != nil || v.Value.N != 1 {
			t.Errorf("%+v, %v", v, err)
		}
	}},
	{"several kinds commit together", func(t *testing.T, b Backend) {
		rev := update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			if err := things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "x"}); err != nil {
				return err
			}
			if w.Scope().Org() != "a" {
				t.Error("scope of the unit")
			}
			return w.Put(ctx, store.Record{Org: "a", Kind: "other", ID: "1", Doc: []byte(`{}`)})
		})
		view(t, b, "a", func(ctx context.Context, r store.Reader) error {
			x, err1 := r.Get(ctx, "thing", "1")
			y, err2 := r.Get(ctx, "other", "1")
			if x.Rev != rev || y.Rev != rev {
				t.Errorf("revisions %d and %d, want %d", x.Rev, y.Rev, rev)
			}
			return errors.Join(err1, err2)
		})
	}},
	{"a unit sees its own writes", func(t *testing.T, b Backend) {
		for i := range 4 {
			insert(t, b, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i), Owner: "o"})
		}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			_, err := things.Delete(ctx, w, "1", nil)
			err = errors.Join(err, things.Insert(ctx, w, thing{ID: "15", Org: "a", Name: "new", Owner: "o"}),
				editIn(ctx, w, "3", func(v *thing) { v.Owner = "p" }), editIn(ctx, w, "15", func(v *thing) { v.N = 2 }))
			var seen []string
			for v, err := range things.Find(ctx, w, store.Query{Index: "owner", Value: "o", Offset: 1, Limit: 2}) {
				if err != nil {
					return err
				}
				seen = append(seen, v.Value.ID)
			}
			same(t, "owner o", seen, []string{"15", "2"})
			n, err2 := w.Count(ctx, store.Query{Kind: "thing"})
			same(t, "count", n, 4)
			return errors.Join(err, err2)
		})
		same(t, "after", ids(t, b, scope(t, "a"), store.Query{}), []string{"a/0", "a/15", "a/2", "a/3"})
	}},
	{"nothing written, no revision", func(t *testing.T, b Backend) {
		rev := insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		same(t, "reading", update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			_, err := things.Get(ctx, w, "x")
			return err
		}), rev)
		same(t, "coming and going", update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			err := things.Insert(ctx, w, thing{ID: "2", Org: "a", Name: "y"})
			_, err2 := things.Delete(ctx, w, "2", nil)
			return errors.Join(err, err2)
		}), rev)
		same(t, "next", insert(t, b, thing{ID: "3", Org: "a", Name: "z"}), rev+1)
	}},
	{"cancellation", func(t *testing.T, b Backend) {
		before := insert(t, b, thing{ID: "0", Org: "a", Name: "old"})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := b.Update(ctx, scope(t, "a"), func(w store.Writer) error {
			cancel()
			return things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "x"})
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("during: %v", err)
		}
		if _, err := b.Update(ctx, scope(t, "a"), func(store.Writer) error { t.Error("ran"); return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("before: %v", err)
		}
		if err := b.View(ctx, scope(t, "a"), func(r store.Reader) error {
			_, err := things.Get(ctx, r, "0")
			return errors.Join(err, ctx.Err())
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("view: %v", err)
		}
		untouched(t, b, before)
	}},
	{"a delete and a create of one ID in one unit", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x", N: 1})
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			_, err := things.Delete(ctx, w, "1", nil)
			return errors.Join(err, things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "y", N: 2}))
		})
		if v, err := get(t, b, "a", "y"); err != nil || v.Value.N != 2 {
			t.Errorf("%+v, %v", v, err)
		}
		if _, err := get(t, b, "a", "x"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("old name: %v", err)
		}
	}},
}

// mess makes every kind of write and returns err.
func mess(t *testing.T, w store.Writer, err error) error {
	ctx := t.Context()
	return errors.Join(
		things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "x"}),
		editIn(ctx, w, "0", func(v *thing) { v.Name = "changed" }),
		func() error { _, err := things.Delete(ctx, w, "changed", nil); return err }(), err)
}

func untouched(t *testing.T, b Backend, rev store.Revision) {
	t.Helper()
	if v, err := get(t, b, "a", "old"); err != nil || v.Rev != rev {
		t.Errorf("%+v, %v; want revision %d", v, err, rev)
	}
	same(t, "things", ids(t, b, scope(t, "a"), store.Query{}), []string{"a/0"})
	if head, err := b.Head(t.Context()); err != nil || head != rev {
		t.Errorf("head %d, %v; want %d", head, err, rev)
	}
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// rehearse runs a unit of work in a context in which it stores nothing.
func rehearse(t *testing.T, b Backend, s tenant.Scope, fn func(context.Context, store.Writer) error) (*store.Rehearsal, error) {
	t.Helper()
	ctx, r := store.Rehearse(t.Context(), store.Onlooker{Aftermath: func(ctx context.Context, r store.Reader, before, after *store.Record) iter.Seq2[store.Reference, error] {
		return func(yield func(store.Reference, error) bool) {
			n, err := r.Count(ctx, store.Query{Kind: "thing"})
			where := fmt.Sprintf("%v %v", before != nil, after != nil)
			yield(store.Reference{Kind: "thing", ID: fmt.Sprint(n), Where: where}, err)
		}
	}})
	if !store.Rehearsing(ctx) || store.Rehearsing(t.Context()) {
		t.Error("which of the two is a rehearsal?")
	}
	_, err := b.Update(ctx, s, func(w store.Writer) error { return fn(ctx, w) })
	return r, err
}

var rehearsalTests = []test{
	{"a rehearsal says what it would do and does nothing", func(t *testing.T, b Backend) {
		before := insert(t, b, thing{ID: "0", Org: "a", Name: "old"})
		r, err := rehearse(t, b, scope(t, "a"), func(ctx context.Context, w store.Writer) error {
			err := errors.Join(things.Insert(ctx, w, thing{ID: "2", Org: "a", Name: "y", Rank: "r"}),
				things.Insert(ctx, w, thing{ID: "3", Org: "a", Name: "comes and goes"}),
				editIn(ctx, w, "0", func(v *thing) { v.N, v.Text = 7, "secret" }),
				editIn(ctx, w, "0", func(v *thing) { v.Owner = "p" }))
			_, err2 := things.Delete(ctx, w, "3", nil)
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "changes", r.Changes, "[{created thing 2 a []} {updated thing 0 a [owner n text]}]")
		same(t, "references", r.References, "[{thing 2  false true <nil>} {thing 2  true true <nil>}]")
		untouched(t, b, before)
		same(t, "the next revision", insert(t, b, thing{ID: "2", Org: "a", Name: "y"}), before+1)

		r, err = rehearse(t, b, scope(t, "a"), func(ctx context.Context, w store.Writer) error {
			_, err := things.Delete(ctx, w, "y", nil)
			return err
		})
		same(t, "changes of a deletion", r.Changes, "[{deleted thing 2 a []}]")
		same(t, "references of a deletion", r.References, "[{thing 1  true false <nil>}]")
		if _, missing := get(t, b, "a", "y"); err != nil || missing != nil {
			t.Error(err, missing)
		}
	}},
	{"a rehearsal fails as the real thing would", func(t *testing.T, b Backend) {
		before := insert(t, b, thing{ID: "0", Org: "a", Name: "old"})
		for name, fn := range map[string]func(context.Context, store.Writer) error{
			"taken": func(ctx context.Context, w store.Writer) error {
				return things.Insert(ctx, w, thing{ID: "1", Org: "a", Name: "old"})
			},
			"missing": func(ctx context.Context, w store.Writer) error { return w.Delete(ctx, "thing", "9") },
			"stale": func(ctx context.Context, w store.Writer) error {
				return w.Put(ctx, store.Record{Org: "a", Kind: "thing", ID: "0", Rev: 99, Doc: []byte(`{}`)})
			},
			"scope": func(ctx context.Context, w store.Writer) error {
				return w.Put(ctx, store.Record{Org: "b", Kind: "thing", ID: "0", Doc: []byte(`{}`)})
			},
		} {
			r, err := rehearse(t, b, scope(t, "a"), fn)
			_, want := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error { return fn(t.Context(), w) })
			if err == nil || want == nil || err.Error() != want.Error() {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
			same(t, name, r.Changes, "[]")
		}
		untouched(t, b, before)
	}},
	{"everyone can rehearse", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		insert(t, b, thing{ID: "1", Org: "b", Name: "x"})
		r, err := rehearse(t, b, tenant.Everyone("test"), func(ctx context.Context, w store.Writer) error {
			return things.Insert(ctx, w, thing{ID: "1", Org: "c", Name: "x"})
		})
		same(t, "changes", r.Changes, "[{created thing 1 c []}]")
		same(t, "things of c", ids(t, b, scope(t, "c"), store.Query{}), []string(nil))
		if err != nil {
			t.Error(err)
		}
	}},
	{"rehearsals beside real work", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		done := make(chan error, 40)
		for i := range 40 {
			go func() {
				bump := func(w store.Writer) error { return editIn(t.Context(), w, "1", func(v *thing) { v.N++ }) }
				ctx := t.Context()
				if i%2 == 0 {
					ctx, _ = store.Rehearse(ctx, store.Onlooker{})
				}
				_, err := b.Update(ctx, scope(t, "a"), bump)
				done <- err
			}()
		}
		for range 40 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if v, err := get(t, b, "a", "1"); err != nil || v.Value.N != 20 || v.Rev != 21 {
			t.Errorf("%+v, %v", v, err)
		}
	}},
}

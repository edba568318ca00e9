package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var uniqueTests = []test{
	{"unique keys", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		insert(t, b, thing{ID: "1", Org: "b", Name: "x"}) // another organisation may use both
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
		update(t, b, "a", func(ctx context.Context, w store.Writer) error { // the record with the value may be changed
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
}

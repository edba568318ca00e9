package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func scope(t testing.TB, org tenant.ID) tenant.Scope {
	t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func update(t testing.TB, b Backend, org tenant.ID, fn func(context.Context, store.Writer) error) store.Revision {
	t.Helper()
	r, err := b.Update(t.Context(), scope(t, org), func(w store.Writer) error { return fn(t.Context(), w) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func view(t testing.TB, b Backend, org tenant.ID, fn func(context.Context, store.Reader) error) {
	t.Helper()
	if err := b.View(t.Context(), scope(t, org), func(r store.Reader) error { return fn(t.Context(), r) }); err != nil {
		t.Fatal(err)
	}
}

func insert(t testing.TB, b Backend, v thing) store.Revision {
	t.Helper()
	return update(t, b, v.Org, func(ctx context.Context, w store.Writer) error { return things.Insert(ctx, w, v) })
}

func edit(t testing.TB, b Backend, org tenant.ID, name string, fn func(*thing)) store.Revision {
	t.Helper()
	return update(t, b, org, func(ctx context.Context, w store.Writer) error { return editIn(ctx, w, name, fn) })
}

func editIn(ctx context.Context, w store.Writer, name string, fn func(*thing)) error {
	_, err := things.Edit(ctx, w, name, nil, func(v thing) (thing, error) { fn(&v); return v, nil })
	return err
}

func remove(t testing.TB, b Backend, org tenant.ID, name string) store.Revision {
	t.Helper()
	return update(t, b, org, func(ctx context.Context, w store.Writer) error {
		_, err := things.Delete(ctx, w, name, nil)
		return err
	})
}

func get(t testing.TB, b Backend, org tenant.ID, name string) (got store.Stored[thing], err error) {
	t.Helper()
	err = b.View(t.Context(), scope(t, org), func(r store.Reader) (err error) {
		got, err = things.Get(t.Context(), r, name)
		return err
	})
	return got, err
}

// ids returns the IDs of the records that match a query.
func ids(t testing.TB, b Backend, s tenant.Scope, q store.Query) (out []string) {
	t.Helper()
	if err := b.View(t.Context(), s, func(r store.Reader) error {
		out = nil
		for v, err := range things.Find(t.Context(), r, q) {
			if err != nil {
				return err
			}
			out = append(out, string(v.Value.Org)+"/"+v.Value.ID)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// eventually waits until ok returns true, because a change log may lag.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within ten seconds", what)
		}
	}
}

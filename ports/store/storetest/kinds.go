package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// RunKinds tests a back end with a value of every kind: that it is stored, read, listed, found
// by each index and each reference, unique, encoded and decoded.
func RunKinds(t *testing.T, newBackend New, samples []store.Sample) {
	b := newBackend(t)
	for _, s := range samples {
		t.Run(s.Kind.Name, func(t *testing.T) {
			k := kindTest{b, s}
			v := k.make(t, "5f1a0c5d8e3b2a1f0000000a", "a")
			k.insert(t, v)
			k.found(t, v)
			k.rewritten(t, v)
			if k.Kind.Org(v) == "" {
				return // no unit of work may delete a record without an organisation
			}
			k.outcome(t, "the same ID again", v, true)
			other := k.make(t, "5f1a0c5d8e3b2a1f0000000b", "a")
			here, _ := k.exclusive(v, other)
			k.outcome(t, "the same with another ID", other, here || k.Kind.ID(other) == k.Kind.ID(v))
			// In another organisation nothing conflicts, unless an index is unique across
			// organisations.
			other = k.make(t, "5f1a0c5d8e3b2a1f0000000a", "b")
			if _, anywhere := k.exclusive(v, other); anywhere {
				k.outcome(t, "the same in another organisation", other, true)
			} else {
				k.insert(t, other)
				k.found(t, other)
				k.found(t, v)
				k.delete(t, other)
			}
			// A deleted value is gone, and can be stored again.
			k.found(t, v)
			k.delete(t, v)
			k.view(t, v, func(ctx context.Context, r store.Reader) error {
				if _, err := k.Kind.Get(ctx, r, k.Kind.ID(v)); fault.KindOf(err) != fault.NotFound {
					t.Errorf("after deletion: %v", err)
				}
				return nil
			})
			k.insert(t, v)
			k.found(t, v)
		})
	}
}

type kindTest struct {
	b Backend
	store.Sample
}

func (k kindTest) make(t *testing.T, id string, org tenant.ID) any {
	t.Helper()
	v, err := k.Make(id, org)
	if err != nil {
		t.Fatalf("the sample is refused: %v", err)
	}
	return v
}

// home is the scope of a value: its organisation or, without one, all organisations.
func (k kindTest) home(t *testing.T, v any) tenant.Scope {
	if org := k.Kind.Org(v); org != "" {
		return scope(t, org)
	}
	return tenant.Everyone("test")
}

func (k kindTest) try(t *testing.T, v any) error {
	_, err := k.b.Update(t.Context(), k.home(t, v), func(w store.Writer) error { return k.Kind.Insert(t.Context(), w, v) })
	return err
}

func (k kindTest) insert(t *testing.T, v any) {
	t.Helper()
	if err := k.try(t, v); err != nil {
		t.Fatalf("insert: %v", err)
	}
}

func (k kindTest) view(t *testing.T, v any, fn func(ctx context.Context, r store.Reader) error) {
	t.Helper()
	if err := k.b.View(t.Context(), k.home(t, v), func(r store.Reader) error { return fn(t.Context(), r) }); err != nil {
		t.Fatal(err)
	}
}

// only fails unless a query selects the value and nothing else.
func (k kindTest) only(ctx context.Context, t *testing.T, r store.Reader, v any, what string, q store.Query) {
	t.Helper()
	var ids []string
	for found, err := range k.Kind.Find(ctx, r, q) {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		ids = append(ids, k.Kind.ID(found.Value))
	}
	if !slices.Equal(ids, []string{k.Kind.ID(v)}) {
		t.Errorf("%s finds %q", what, ids)
	}
}

// found looks for a value in each possible way.
func (k kindTest) found(t *testing.T, v any) {
	k.view(t, v, func(ctx context.Context, r store.Reader) error {
		for _, name := range k.Kind.Names(v) {
			if got, err := k.Kind.Get(ctx, r, name); err != nil || k.Kind.ID(got.Value) != k.Kind.ID(v) || got.Serial == 0 {
				t.Errorf("get %q: %+v, %v", name, got, err)
			}
		}
		k.only(ctx, t, r, v, "the list", store.Query{})
		if _, others, err := k.Kind.Rederived(k.record(t, v)); err != nil || others {
			t.Errorf("a start would store it anew for its keys: %v, %v", others, err)
		}
		if page, total, err := k.Kind.Page(ctx, r, store.Query{Limit: 1}); err != nil || total != 1 || len(page) != 1 {
			t.Errorf("a page of %d, in all %d, %v", len(page), total, err)
		}
		for _, ix := range k.Kind.Indexes {
			for _, value := range ix.Values(v) {
				k.only(ctx, t, r, v, "the index "+ix.Name, store.Query{Index: ix.Name, Value: value})
			}
		}
		if k.Kind.Refs == nil {
			return nil
		}
		for _, ref := range k.Kind.Refs(v) {
			var ids []string
			for rec, err := range r.Referrers(ctx, ref.Target) {
				if err != nil {
					return err
				}
				ids = append(ids, rec.ID)
			}
			if !slices.Contains(ids, k.Kind.ID(v)) {
				t.Errorf("%s %s is referred to by %q", ref.Kind, ref.ID, ids)
			}
		}
		return nil
	})
}

func (k kindTest) record(t *testing.T, v any) (found store.Record) {
	t.Helper()
	k.view(t, v, func(ctx context.Context, r store.Reader) error {
		for rec, err := range r.Scan(ctx, store.Query{Kind: k.Kind.Name, ID: k.Kind.ID(v)}) {
			found = rec
			return err
		}
		return store.ErrNotFound
	})
	return found
}

// rewritten decodes the stored document and stores the result.
func (k kindTest) rewritten(t *testing.T, v any) {
	before := k.record(t, v)
	decoded, err := k.Kind.Decode(store.Record{Org: before.Org, Kind: before.Kind, ID: before.ID, Doc: before.Doc})
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	if k.Kind.ID(decoded) != before.ID || k.Kind.Org(decoded) != before.Org {
		t.Errorf("decoded as %q of %q", k.Kind.ID(decoded), k.Kind.Org(decoded))
	}
	_, err = k.b.Update(t.Context(), k.home(t, v), func(w store.Writer) error {
		_, err := k.Kind.Edit(t.Context(), w, before.ID, nil, func(any) (any, error) { return decoded, nil })
		return err
	})
	after := k.record(t, v)
	if err != nil || string(after.Doc) != string(before.Doc) || after.Serial <= before.Serial || !slices.Equal(after.Keys, before.Keys) || !slices.Equal(after.Refs, before.Refs) {
		t.Errorf("%v; stored as\n%s, and then as\n%s", err, before.Doc, after.Doc)
	}
	k.found(t, v)
}

// exclusive reports whether two values have a unique value in common, in one organisation or
// across.
func (k kindTest) exclusive(v, other any) (here, anywhere bool) {
	for _, ix := range k.Kind.Indexes {
		values := ix.Values(other)
		shared := slices.ContainsFunc(ix.Values(v), func(value string) bool { return slices.Contains(values, value) })
		if ix.Unique && shared {
			here, anywhere = true, anywhere || ix.Across
		}
	}
	return here, anywhere
}

// outcome fails unless storing a value conflicts as expected.
func (k kindTest) outcome(t *testing.T, what string, v any, conflict bool) {
	t.Helper()
	err := k.try(t, v)
	if conflict && (fault.KindOf(err) != fault.Conflict || !errors.Is(err, store.ErrTaken)) || !conflict && err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if err == nil {
		k.delete(t, v)
	}
}

func (k kindTest) delete(t *testing.T, v any) {
	t.Helper()
	if _, err := k.b.Update(t.Context(), k.home(t, v), func(w store.Writer) error {
		_, err := k.Kind.Delete(t.Context(), w, k.Kind.ID(v), nil)
		return err
	}); err != nil {
		t.Errorf("delete: %v", err)
	}
}

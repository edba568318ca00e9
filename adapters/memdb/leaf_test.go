package memdb_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// world is a DB and its expected content.
type world struct {
	*testing.T
	db    *memdb.DB
	scope tenant.Scope
	ids   []string // sorted
}

func newWorld(t *testing.T) *world {
	t.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	scope, err := tenant.Of("org")
	if err != nil {
		t.Fatal(err)
	}
	return &world{T: t, db: db, scope: scope}
}

// toggle creates missing records, and deletes existing ones.
func (w *world) toggle(ids ...string) {
	w.Helper()
	_, err := w.db.Update(w.Context(), w.scope, func(tx store.Writer) error {
		for _, id := range ids {
			at, there := slices.BinarySearch(w.ids, id)
			if there {
				w.ids = slices.Delete(w.ids, at, at+1)
				if err := tx.Delete(w.Context(), "thing", id); err != nil {
					return err
				}
				continue
			}
			w.ids = slices.Insert(w.ids, at, id)
			if err := tx.Put(w.Context(), store.Record{Org: "org", Kind: "thing", ID: id, Doc: []byte(`{}`)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// view calls fn with a reader of the organisation, or of all.
func (w *world) view(s tenant.Scope, fn func(store.Reader)) {
	w.Helper()
	if err := w.db.View(w.Context(), s, func(r store.Reader) error { fn(r); return nil }); err != nil {
		w.Fatal(err)
	}
}

// want returns what a query should select.
func (w *world) want(q store.Query) (out []string) {
	for _, id := range w.ids {
		if q.After == "" || q.Desc && id < q.After || !q.Desc && id > q.After {
			out = append(out, id)
		}
	}
	if q.Desc {
		slices.Reverse(out)
	}
	out = out[min(q.Offset, len(out)):]
	if q.Limit > 0 {
		out = out[:min(q.Limit, len(out))]
	}
	return out
}

func (w *world) check(q store.Query) {
	w.Helper()
	q.Kind = "thing"
	w.view(w.scope, func(r store.Reader) {
		var got []string
		for rec, err := range r.Scan(w.Context(), q) {
			if err != nil {
				w.Fatal(err)
			}
			got = append(got, rec.ID)
		}
		if want := w.want(q); !slices.Equal(got, want) {
			w.Fatalf("%+v: %d records %v; want %d %v", q, len(got), got, len(want), want)
		}
		bare := q
		bare.Offset, bare.Limit = 0, 0
		if n, err := r.Count(w.Context(), q); err != nil || n != len(w.want(bare)) {
			w.Fatalf("%+v: count %d, %v; want %d", q, n, err, len(w.want(bare)))
		}
	})
}

// leaves returns the leaves of a reader.
func leaves(ctx context.Context, t *testing.T, r store.Reader) (out []*store.Leaf) {
	t.Helper()
	for l, err := range store.Leaves(ctx, r, "thing") {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

// TestLeaves checks that records stay in order through splits and joins, and pages of
// them.
func TestLeaves(t *testing.T) {
	w := newWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	id := func() string { return fmt.Sprintf("%03x", random.IntN(0x700)) }
	for round := range 60 {
		batch := make([]string, 1+random.IntN(200))
		for i := range batch {
			batch[i] = id()
		}
		if round > 40 && round%2 == 0 { // deletes most of them
			batch = slices.DeleteFunc(slices.Clone(w.ids), func(string) bool { return random.IntN(4) == 0 })
		}
		w.toggle(batch...)
		for range 20 {
			q := store.Query{Desc: random.IntN(2) == 0, Offset: random.IntN(3) * random.IntN(600), Limit: random.IntN(3) * random.IntN(300)}
			if random.IntN(2) == 0 {
				q.After = id()
			}
			w.check(q)
		}
		w.view(w.scope, func(r store.Reader) {
			all := leaves(t.Context(), t, r)
			if len(all) > 4+len(w.ids)/16 {
				t.Fatalf("%d leaves of %d records", len(all), len(w.ids))
			}
		})
	}
}

// TestLeavesShared checks that a change replaces one leaf, and that the other
// organisation and an older snapshot keep theirs.
func TestLeavesShared(t *testing.T) {
	w := newWorld(t)
	var batch []string
	for i := range 1000 {
		batch = append(batch, fmt.Sprintf("%03x", i))
	}
	w.toggle(batch...)
	w.view(w.scope, func(before store.Reader) {
		was := leaves(t.Context(), t, before)
		w.toggle("123")
		w.view(w.scope, func(r store.Reader) {
			now, fresh := leaves(t.Context(), t, r), 0
			for _, l := range now {
				if !slices.Contains(was, l) {
					fresh++
				}
			}
			if len(was) < 7 || fresh != 1 || len(now) != len(was) {
				t.Errorf("%d of %d leaves are new; there were %d", fresh, len(now), len(was))
			}
		})
		if again := leaves(t.Context(), t, before); !slices.Equal(again, was) {
			t.Error("a snapshot changed")
		}
	})
}

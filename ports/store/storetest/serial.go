package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/ports/store"
)

// at returns the serial of thing 1 of organisation a.
func at(t *testing.T, b Backend) store.Serial {
	t.Helper()
	v, err := get(t, b, "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	return v.Serial
}

var serialTests = []test{
	{"a serial tells of its own record only", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		first := at(t, b)
		for i := range 20 {
			insert(t, b, thing{ID: fmt.Sprint("o", i), Org: "b", Name: fmt.Sprint("o", i)})
			insert(t, b, thing{ID: fmt.Sprint("o", i), Org: "a", Name: fmt.Sprint("o", i)})
		}
		if now := at(t, b); now != first {
			t.Errorf("serial %d became %d by writes of other records", first, now)
		}
		edit(t, b, "a", "1", func(v *thing) { v.N++ })
		if now := at(t, b); now != first+1 {
			t.Errorf("serial %d became %d by one write", first, now)
		}
		update(t, b, "a", func(ctx context.Context, w store.Writer) error {
			for range 3 {
				if err := editIn(ctx, w, "1", func(v *thing) { v.N++ }); err != nil {
					return err
				}
			}
			return nil
		})
		if now := at(t, b); now != first+2 {
			t.Errorf("serial %d became %d by one unit of work", first+1, now)
		}
	}},
	{"those who write learn the serial", func(t *testing.T, b Backend) {
		for name, fn := range map[string]func(context.Context, store.Writer) (store.Serial, error){
			"create": func(ctx context.Context, w store.Writer) (store.Serial, error) {
				return things.Create(ctx, w, thing{ID: "1", Org: "a", Name: "x"})
			},
			"revise": func(ctx context.Context, w store.Writer) (store.Serial, error) {
				v, err := things.Revise(ctx, w, "1", nil, func(v thing) (thing, error) { v.N++; return v, nil })
				return v.Serial, err
			},
		} {
			if name == "revise" {
				if _, err := get(t, b, "a", "1"); err != nil {
					insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
				}
			} else if _, err := get(t, b, "a", "1"); err == nil {
				remove(t, b, "a", "1")
			}
			told, err := store.Write(t.Context(), b, scope(t, "a"), func(w store.Writer) (store.Serial, error) { return fn(t.Context(), w) })
			if now := at(t, b); err != nil || told != now {
				t.Errorf("%s: told %d, %v; stored %d", name, told, err, now)
			}
		}
	}},
	{"a record that comes again has another serial", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		seen := map[store.Serial]bool{}
		for range 5 {
			for range 3 {
				if s := at(t, b); seen[s] {
					t.Fatalf("serial %d twice", s)
				}
				seen[at(t, b)] = true
				edit(t, b, "a", "1", func(v *thing) { v.N++ })
			}
			remove(t, b, "a", "1")
			insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		}
	}},
	{"snapshots and commits carry serials", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		edit(t, b, "a", "1", func(v *thing) { v.N++ })
		want := at(t, b)
		if err := b.Snapshot(t.Context(), func(s store.State) error {
			for rec, err := range s.Records {
				if err != nil || rec.Serial != want {
					t.Errorf("in the snapshot: %d, %v; want %d", rec.Serial, err, want)
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		var rec store.Record
		for _, c := range follow(t, b, 0, 2) {
			var err error
			if rec, err = c.Changes[0].After(rec, c.Rev); err != nil {
				t.Fatal(err)
			}
		}
		if rec.Serial != want {
			t.Errorf("from the commits: %d, want %d", rec.Serial, want)
		}
	}},
}

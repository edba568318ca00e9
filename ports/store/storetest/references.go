package storetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var referenceTests = []test{
	{"a reference may name anything", func(t *testing.T, b Backend) {
		loose := *things
		loose.Name, loose.Indexes = "loose", nil
		loose.Refs = func(v thing) []integrity.Ref {
			return []integrity.Ref{{Target: integrity.Target{Kind: "thing", ID: v.Owner}, Field: "owner." + v.Owner, OnDelete: integrity.Tolerate}}
		}
		var long strings.Builder // no back end can compress it
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

package memdb_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type named struct{ ID, Name string }

type shown struct{ id, name string }

func (s *shown) Sought() *string { return &s.name }

// TestContaining searches texts in the names of records, which are stored one after the
// other: a text that spans two names does not match.
func TestContaining(t *testing.T) {
	w := newWorld(t)
	kind := &store.Kind[named]{Name: "named", Noun: "named", ID: func(v named) string { return v.ID }, Org: func(named) tenant.ID { return "org" }}
	random := rand.New(rand.NewPCG(1, 2))
	text := func(most int) string {
		b := make([]byte, random.IntN(most))
		for i := range b {
			b[i] = "ab"[random.IntN(2)]
		}
		return string(b)
	}
	var all []named
	for i := range 600 {
		all = append(all, named{fmt.Sprintf("%03d", i), text(5)})
	}
	if _, err := w.db.Update(t.Context(), w.scope, func(tx store.Writer) error {
		for _, v := range all {
			if err := kind.Insert(t.Context(), tx, v); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	column := store.Column[named, shown]{Kind: kind, Of: func(v named) shown { return shown{v.ID, v.Name} }}
	for range 200 {
		sought := text(7)
		var want, got []shown
		for _, v := range all {
			if strings.Contains(v.Name, sought) {
				want = append(want, shown{v.ID, v.Name})
			}
		}
		w.view(w.scope, func(r store.Reader) {
			for row, err := range column.Containing(t.Context(), r, sought) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, row.Value)
			}
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v; want %v", sought, got, want)
		}
	}
}

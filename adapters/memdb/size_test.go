package memdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestSize compares the size of each organisation with the stored records, through commits, failed
// units, deletions, a replica that follows, and one that is loaded.
func TestSize(t *testing.T) {
	ctx := context.Background()
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	replica, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	const beside = 2 << 10 // of each record
	want := map[tenant.ID]int64{}
	check := func(what string, d *memdb.DB) {
		t.Helper()
		for _, org := range []tenant.ID{"one", "two"} {
			if n := d.Size(org); n != want[org] {
				t.Errorf("%s: %s has %d bytes, want %d", what, org, n, want[org])
			}
		}
	}
	broken := errors.New("broken")
	put := func(org tenant.ID, id string, size int, fails error) {
		t.Helper()
		scope, err := tenant.Of(org)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Update(ctx, scope, func(w store.Writer) error {
			rec, err := w.Get(ctx, "kind", id)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			rec.Org, rec.Kind, rec.ID, rec.Doc = org, "kind", id, slices.Repeat([]byte("x"), size)
			return errors.Join(w.Put(ctx, rec), fails)
		})
		if !errors.Is(err, fails) {
			t.Fatal(err)
		}
	}
	put("one", "a", 1000, nil)
	put("one", "b", 50, nil)
	put("two", "a", 7, nil)
	put("one", "a", 30, nil)
	put("one", "c", 5000, broken)
	want = map[tenant.ID]int64{"one": 80 + 2*beside, "two": 7 + beside}
	check("commits", db)
	for i := range 20 {
		put("two", fmt.Sprint(i), 10, nil)
	}
	scope, _ := tenant.Of("one")
	if _, err := db.Update(ctx, scope, func(w store.Writer) error { return w.Delete(ctx, "kind", "b") }); err != nil {
		t.Fatal(err)
	}
	want = map[tenant.ID]int64{"one": 30 + beside, "two": 207 + 21*beside}
	check("a deletion", db)

	if err := db.Snapshot(ctx, replica.Load); err != nil {
		t.Fatal(err)
	}
	check("a copy", replica)
	at, _ := db.Head(ctx)
	put("two", "a", 1, nil)
	following, cancel := context.WithCancel(ctx)
	defer cancel()
	for c, err := range db.Follow(following, at) {
		if err != nil {
			t.Fatal(err)
		}
		if err := replica.Apply(c); err != nil {
			t.Fatal(err)
		}
		break
	}
	want["two"] -= 6
	check("a copy that follows", replica)
}

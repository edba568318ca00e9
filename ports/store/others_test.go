package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestHeldByOthers: records of the own organisation never count, even those that the asking
// unit of work has just deleted and that other units still see.
func TestHeldByOthers(t *testing.T) {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	everyone := tenant.Everyone("a test")
	put := func(org tenant.ID, id string) {
		if _, err := db.Update(t.Context(), scoped(t, org), func(w store.Writer) error {
			return w.Put(t.Context(), store.Record{Org: org, Kind: "k", ID: id, Doc: []byte(`{}`), Keys: []store.Key{{Index: "name", Value: id}}})
		}); err != nil {
			t.Fatal(err)
		}
	}
	put("a", "mine")
	put("b", "theirs")
	held := func(ctx context.Context, values ...string) bool {
		t.Helper()
		yes, err := store.HeldByOthers(ctx, db, "a", everyone, "k", "name", values...)
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	_, err = db.Update(t.Context(), scoped(t, "a"), func(w store.Writer) error {
		if err := w.Delete(t.Context(), "k", "mine"); err != nil {
			return err
		}
		if held(t.Context(), "mine", "nothing", "\x00") {
			t.Error("a record of the own organisation counts while its deletion is not committed")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !held(t.Context(), "nothing", "theirs") || held(t.Context()) {
		t.Error("only records of others count")
	}
}

// scoped returns the scope of an organisation.
func scoped(t *testing.T, org tenant.ID) tenant.Scope {
	t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package store_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// busy is a store in which another writer commits just before history is read.
type busy struct {
	*memdb.DB
	write func()
}

func (b busy) History(ctx context.Context, s tenant.Scope, kind, id string) iter.Seq2[store.Commit, error] {
	b.write()
	return b.DB.History(ctx, s, kind, id)
}

// TestAtWhileOthersWrite: a past document does not depend on commits that happen during the
// lookup.
func TestAtWhileOthersWrite(t *testing.T) {
	db, err := memdb.New(time.Now)
	scope, more := tenant.Of("acme")
	if err = errors.Join(err, more); err != nil {
		t.Fatal(err)
	}
	put := func(text string) store.Revision {
		rev, err := db.Update(t.Context(), scope, func(w store.Writer) error {
			old, err := w.Get(t.Context(), "note", "1")
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			return w.Put(t.Context(), store.Record{Org: "acme", Kind: "note", ID: "1", Rev: old.Rev, Doc: []byte(text)})
		})
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	first := put(`{"text":"one"}`)
	put(`{"text":"another one"}`)
	st := busy{db, func() { put(`{"text":"written meanwhile, and longer"}`) }}
	if text, err := store.At(t.Context(), st, scope, "note", "1", first); err != nil || string(text) != `{"text":"one"}` {
		t.Errorf("%s, %v", text, err)
	}
}

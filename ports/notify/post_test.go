package notify_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func clock() time.Time { return time.Unix(1_800_000_000, 0) }

// db is a store.
type db interface {
	store.Store
	store.ChangeLog
}

func memory(t *testing.T) db {
	t.Helper()
	d, err := memdb.New(clock)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// everywhere runs a test on one back end of each family.
func everywhere(t *testing.T, test func(t *testing.T, db db)) {
	t.Run("memory", func(t *testing.T) { test(t, memory(t)) })
	t.Run("sql", func(t *testing.T) {
		d, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "db"), Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		test(t, d)
	})
}

func scope(t *testing.T, org tenant.ID) tenant.Scope {
	t.Helper()
	s, err := tenant.Of(org)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// told returns the announcements of a store's commits, as the relay reads them.
func told(t *testing.T, db db) (out []string) {
	t.Helper()
	head, err := db.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if head == 0 {
		return nil
	}
	for c, err := range db.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		var changes []signal.Change
		for _, ch := range c.Changes {
			changes = append(changes, signal.Change{Op: signal.Op(ch.Op), Kind: ch.Kind, ID: ch.ID, Key: ch.Key})
		}
		for _, s := range table.Of(changes) {
			out = append(out, fmt.Sprintf("%d %s %s", c.Rev, s.Command, s.Payload))
		}
		if c.Rev == head {
			break
		}
	}
	return out
}

func update(t *testing.T, db db, s tenant.Scope, fn func(ctx context.Context, w store.Writer) error) {
	t.Helper()
	if _, err := db.Update(t.Context(), s, func(w store.Writer) error { return fn(t.Context(), w) }); err != nil {
		t.Fatal(err)
	}
}

func TestPost(t *testing.T) { everywhere(t, testPost) }

func testPost(t *testing.T, db db) {
	acme, other := scope(t, "acme"), scope(t, "other")
	flush := signal.Signal{Command: signal.DeleteAPICache, Payload: "orders"}
	post := func(signals ...signal.Signal) func(context.Context, store.Writer) error {
		return func(ctx context.Context, w store.Writer) error { return notify.Post(ctx, w, signals...) }
	}
	update(t, db, acme, post(flush))
	update(t, db, acme, post(flush)) // the same signal is announced again
	update(t, db, other, post(flush))
	update(t, db, tenant.Everyone("test"), post(signal.Signal{Command: signal.GroupReload}))
	update(t, db, tenant.Everyone("test"), post(signal.Signal{Command: signal.GroupReload}))
	update(t, db, acme, func(ctx context.Context, w store.Writer) error {
		return errors.Join(notify.Post(ctx, w, flush), notify.Post(ctx, w, flush, signal.Signal{Command: signal.DeleteAPICache, Payload: "b"}))
	})
	update(t, db, acme, post())
	undone := errors.New("undone")
	if _, err := db.Update(t.Context(), acme, func(w store.Writer) error {
		return errors.Join(notify.Post(t.Context(), w, flush), undone)
	}); !errors.Is(err, undone) {
		t.Error(err)
	}
	want := []string{"1 DeleteAPICache orders", "2 DeleteAPICache orders", "3 DeleteAPICache orders", "4 GroupReload ", "5 GroupReload ",
		"6 DeleteAPICache orders", "6 DeleteAPICache b"}
	if have := told(t, db); !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
	n := 0
	if err := db.View(t.Context(), tenant.Everyone("test"), func(r store.Reader) (err error) {
		n, err = r.Count(t.Context(), store.Query{Kind: signal.NoticeKind})
		return err
	}); err != nil || n != 4 {
		t.Errorf("%d notices are kept, %v", n, err)
	}
}

// table says what changes of APIs announce.
var table = signal.Table{"api": {Created: signal.ApiAdded, Updated: signal.ApiUpdated, Deleted: signal.ApiRemoved, Alias: "api_id"}}

func TestPostReferrers(t *testing.T) { everywhere(t, testPostReferrers) }

func testPostReferrers(t *testing.T, db db) {
	acme := scope(t, "acme")
	hook := integrity.Target{Kind: "webhook", ID: "h1"}
	api := func(id string, to string, quiet string) store.Record {
		r := store.Record{Org: "acme", Kind: "api", ID: id, Doc: []byte("{}"), Keys: []store.Key{{Index: "api_id", Value: "api-" + id}},
			Refs: []integrity.Ref{{Target: integrity.Target{Kind: "webhook", ID: to}, OnDelete: integrity.Tolerate}}}
		if quiet != "" {
			r.Keys = append(r.Keys, store.Key{Index: signal.Quiet, Value: quiet})
		}
		return r
	}
	update(t, db, acme, func(ctx context.Context, w store.Writer) error {
		return errors.Join(w.Put(ctx, api("1", "h1", "")), w.Put(ctx, api("2", "h2", "")), w.Put(ctx, api("3", "h1", "owners")))
	})
	before := len(told(t, db))
	update(t, db, acme, func(ctx context.Context, w store.Writer) error { return notify.PostReferrers(ctx, w, table, hook) })
	if have := told(t, db)[before:]; !slices.Equal(have, []string{"2 ApiUpdated api-1", "2 ApiUpdated api-3"}) {
		t.Errorf("have %q", have)
	}
	update(t, db, acme, func(ctx context.Context, w store.Writer) error {
		for i := range signal.Many {
			if err := w.Put(ctx, api(fmt.Sprintf("m%d", i), "h1", "")); err != nil {
				return err
			}
		}
		return nil
	})
	before = len(told(t, db))
	update(t, db, acme, func(ctx context.Context, w store.Writer) error { return notify.PostReferrers(ctx, w, table, hook) })
	if have := told(t, db)[before:]; !slices.Equal(have, []string{"4 GroupReload "}) {
		t.Errorf("have %q", have)
	}
	if _, err := db.Update(t.Context(), tenant.Everyone("test"), func(w store.Writer) error {
		return notify.PostReferrers(t.Context(), w, table, hook)
	}); !errors.Is(err, store.ErrScope) {
		t.Error(err)
	}
}

// A secret payload is stored sealed, once per subject, and is announced as it is stored.
func TestPostSealed(t *testing.T) { everywhere(t, testPostSealed) }

func testPostSealed(t *testing.T, db db) {
	acme, n := scope(t, "acme"), 0
	reset := signal.KeyReset("old", "new")
	seal := func(plain string) (string, error) {
		n++
		if plain != "old.new:UserKeyReset" {
			t.Error(plain)
		}
		return fmt.Sprint("sealed-", n), nil
	}
	for _, user := range []string{"ada", "ada", "bob"} {
		update(t, db, acme, func(ctx context.Context, w store.Writer) error { return notify.PostSealed(ctx, w, seal, user, reset) })
	}
	want := []string{"1 UserKeyReset sealed-1", "2 UserKeyReset sealed-2", "3 UserKeyReset sealed-3"}
	if have := told(t, db); !slices.Equal(have, want) {
		t.Errorf("have %q\nwant %q", have, want)
	}
	kept := 0
	update(t, db, acme, func(ctx context.Context, w store.Writer) error {
		for rec, err := range w.Scan(ctx, store.Query{Kind: signal.NoticeKind}) {
			if err != nil {
				return err
			}
			if kept++; strings.Contains(string(rec.Doc), "new") {
				t.Errorf("%s", rec.Doc)
			}
		}
		if notify.Post(ctx, w, reset) == nil {
			t.Error("a secret is kept in the clear")
		}
		return nil
	})
	if kept != 2 {
		t.Error(kept, "notices are kept")
	}
}

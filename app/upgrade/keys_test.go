package upgrade_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/app/upgrade"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// thing is a resource whose kind gets indexes later.
type thing struct {
	ID, Owner, Name string
	Org             tenant.ID
}

func things(indexes ...store.Index[thing]) *store.Kind[thing] {
	return &store.Kind[thing]{Name: "thing", ID: func(v thing) string { return v.ID }, Org: func(v thing) tenant.ID { return v.Org }, Indexes: indexes}
}

// A record that an earlier version stored, before its kind had an index, is found by it
// after a start. What it says stays as it is, and a start later writes nothing.
func TestKeys(t *testing.T) {
	file, err := sqlite.Open(t.Context(), sqlite.Config{Path: t.TempDir() + "/gatehouse.db"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	for name, d := range map[string]db{"memory": memory(t), "sqlite": file} {
		t.Run(name, func(t *testing.T) { testKeys(t, newWorld(t, d)) })
	}
}

func testKeys(t *testing.T, w *world) {
	old := things(store.Lookup("gone", func(v thing) string { return v.ID }), store.Lookup("changed", func(thing) string { return "old" }))
	now := things(store.Unique("name", "name", func(v thing) string { return v.Name }), store.Lookup("changed", func(v thing) string { return v.Owner }),
		store.Lookup(signal.Quiet, func(thing) string { return "" }))
	now.Refs = func(v thing) []integrity.Ref {
		return []integrity.Ref{{Target: integrity.Target{Kind: "owner", ID: v.Owner}, Field: "owner"}}
	}
	for _, v := range []thing{{"1", "ada", "one", "a"}, {"2", "ada", "two", "a"}, {"3", "ada", "two", "a"}, {"4", "bob", "two", "b"}} {
		w.update(v.Org, func(wr store.Writer) error { return old.Insert(t.Context(), wr, v) })
	}
	texts := func() (out []string) {
		w.view(func(r store.Reader) error {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: "thing"}) {
				if err != nil {
					return err
				}
				out = append(out, string(rec.Doc))
			}
			return nil
		})
		return out
	}
	before := texts()
	s := &upgrade.Service{Store: w.db, APIs: w.service(w.db).APIs, Kinds: []*store.Kind[any]{now.Untyped()}, Log: slog.New(slog.NewTextHandler(w.log, nil)), Batch: 2}
	if c, err := s.Run(t.Context()); err != nil || c != (upgrade.Counts{Others: 3}) {
		t.Fatal(c, err, w.log)
	}
	if after := texts(); !slices.Equal(before, after) {
		t.Errorf("the documents are %q, not %q", after, before)
	}
	w.view(func(r store.Reader) error {
		for _, c := range []struct {
			q    store.Query
			want []string
		}{
			{store.Query{Index: "name", Value: "one"}, []string{"1"}},
			{store.Query{Index: "name", Value: "two"}, []string{"2", "4"}}, // 3 has the name of another one, and stays as it is
			{store.Query{Index: "changed", Value: "old"}, []string{"3"}},
			{store.Query{Index: "changed", Value: "ada"}, []string{"1", "2"}},
			{store.Query{Index: "gone", Value: "1"}, []string{"1"}},
		} {
			var ids []string
			for v, err := range now.Find(t.Context(), r, c.q) {
				if err != nil {
					return err
				}
				ids = append(ids, v.Value.ID)
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("%s %s: %q", c.q.Index, c.q.Value, ids)
			}
		}
		return nil
	})
	refers := 0
	sc, err := tenant.Of("a")
	if err == nil {
		err = w.db.View(t.Context(), sc, func(r store.Reader) error {
			for _, err := range r.Referrers(t.Context(), integrity.Target{Kind: "owner", ID: "ada"}) {
				if err != nil {
					return err
				}
				refers++
			}
			return nil
		})
	}
	if err != nil || refers != 2 {
		t.Errorf("%d records refer to their owner, %v", refers, err)
	}
	if c, err := s.Run(t.Context()); err != nil || c != (upgrade.Counts{}) {
		t.Error("a second start writes", c, err)
	}
}

// A start with many records notes for which of them the keys are up to date. Later starts decode
// only those that were stored since, perhaps by an earlier version that still ran beside this one,
// until this version has other indexes.
func TestMarker(t *testing.T) {
	w := newWorld(t, memory(t))
	old := things()
	insert := func(ids ...string) {
		w.update("a", func(wr store.Writer) error {
			for _, id := range ids {
				if err := old.Insert(t.Context(), wr, thing{ID: id, Name: id, Org: "a"}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	many := make([]string, 1_000)
	for i := range many {
		many[i] = fmt.Sprintf("%04d", i)
	}
	insert(many...)
	run := func(want, mostDecoded int, indexes ...store.Index[thing]) {
		t.Helper()
		decoded := 0
		k := things(indexes...)
		k.Load = func(text []byte) (v thing, err error) {
			decoded++
			return v, json.Unmarshal(text, &v)
		}
		s := &upgrade.Service{Store: w.db, APIs: w.service(w.db).APIs, Kinds: []*store.Kind[any]{k.Untyped()}, Log: slog.New(slog.NewTextHandler(w.log, nil))}
		if c, err := s.Run(t.Context()); err != nil || c != (upgrade.Counts{Others: want}) || decoded > mostDecoded {
			t.Fatalf("%v %v, not %d; %d decoded, not %d\n%s", c, err, want, decoded, mostDecoded, w.log)
		}
	}
	name := store.Lookup("name", func(v thing) string { return v.Name })
	run(1_000, 2_000, name) // found, and stored
	run(0, 1_000, name)     // those that were stored meanwhile are checked once more
	run(0, 0, name)
	insert("late")
	run(1, 2, name)
	run(1_001, 3_000, name, store.Lookup("owner", func(thing) string { return "ada" }))
}

func (w *world) view(fn func(store.Reader) error) {
	w.t.Helper()
	if err := w.db.View(w.t.Context(), tenant.Everyone("test"), fn); err != nil {
		w.t.Fatal(err)
	}
}

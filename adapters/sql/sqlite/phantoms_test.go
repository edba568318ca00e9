package sqlite_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/sqlite"
	"github.com/gatehouse-io/gatehouse/core/integrity"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPreparedSeesNoPhantoms prepares units of work that store the result of a query,
// while others insert, change and delete records: however often it had to run, the
// stored result is the query's result at the time when the unit is stored.
func TestPreparedSeesNoPhantoms(t *testing.T) {
	s := openWith(t, sqlite.Prepared(sqlite.Config{Path: filepath.Join(t.TempDir(), "gatehouse.db")}))
	rnd := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // a test that repeats
	everyone := tenant.Everyone("test")
	again := 0
	for round := range 200 {
		sc, between := acme, everyone
		if rnd.IntN(2) == 0 { // only units of one organisation delete
			sc, between = everyone, acme
		}
		look := someLook(t.Context(), sc, rnd)
		changes := someChanges(t.Context(), rnd, between)
		runs, looked, written := 0, make(chan struct{}), make(chan error)
		go func() {
			<-looked
			var err error
			for _, change := range changes { // each in a unit of its own
				if err == nil {
					_, err = s.Update(t.Context(), between, change)
				}
			}
			written <- err
		}()
		_, err := s.Update(t.Context(), sc, func(w store.Writer) error {
			runs++
			noted, err := look(w)
			if runs == 1 {
				close(looked)
				if err := <-written; err != nil {
					t.Error(err)
				}
			}
			if err != nil {
				return err
			}
			return put(t.Context(), w, store.Record{Org: "a", Kind: "noted", ID: "1", Doc: fmt.Appendf(nil, "%q", fmt.Sprint(round, noted))})
		})
		if err != nil {
			t.Fatal(err)
		}
		var noted []byte
		var now string
		if err := s.View(t.Context(), sc, func(r store.Reader) error {
			for rec, err := range r.Scan(t.Context(), store.Query{Kind: "noted", ID: "1"}) {
				if err != nil {
					return err
				}
				noted = rec.Doc
			}
			now, err = look(r)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%q", fmt.Sprint(round, now)); string(noted) != want {
			t.Errorf("round %d, after %d runs: the unit has seen %s, and there is %s", round, runs, noted, want)
		}
		if runs > 1 {
			again++
		}
	}
	if again < 20 || again > 180 {
		t.Errorf("the test shows little: %d of 200 units ran again", again)
	}
}

// someLook is a random query, whose result is a text.
func someLook(ctx context.Context, sc tenant.Scope, rnd *rand.Rand) func(store.Reader) (string, error) {
	q := store.Query{Kind: "k"}
	most := 6
	if sc.All() { // without order and references
		most = 3
	}
	switch rnd.IntN(most) {
	case 0:
		q.ID = some(rnd, "r", 12)
	case 1:
		q.Index, q.Value = "tag", some(rnd, "t", 4)
	case 3, 5:
		q.Index, q.Sorted, q.Prefix = "list", true, some(rnd, "l", 3)
	case 4:
		to := integrity.Target{Kind: "k", ID: some(rnd, "r", 4)}
		return func(r store.Reader) (string, error) { return ids(r.Referrers(ctx, to)) }
	}
	if q.ID == "" {
		q.Limit, q.Offset, q.Desc = rnd.IntN(4), rnd.IntN(3), rnd.IntN(2) == 0
		if q.Limit == 0 {
			q.Offset = 0
		}
		if !q.Sorted && rnd.IntN(3) == 0 {
			q.After = some(rnd, "r", 12)
		}
	}
	if rnd.IntN(5) == 0 {
		q.Limit, q.Offset = 0, 0
		return func(r store.Reader) (string, error) {
			n, err := r.Count(ctx, q)
			return fmt.Sprint(n), err
		}
	}
	return func(r store.Reader) (string, error) { return ids(r.Scan(ctx, q)) }
}

// someChanges are a few units of work on the queried records.
func someChanges(ctx context.Context, rnd *rand.Rand, sc tenant.Scope) (out []func(store.Writer) error) {
	for range rnd.IntN(3) {
		rec := store.Record{Org: "a", Kind: "k", ID: some(rnd, "r", 12), Doc: fmt.Append(nil, rnd.IntN(100))}
		for range rnd.IntN(3) {
			rec.Keys = append(rec.Keys, store.Key{Index: "tag", Value: some(rnd, "t", 4)}, store.Key{Index: "list", Value: some(rnd, "l", 3) + "/" + rec.ID, Sorted: true})
		}
		slices.SortFunc(rec.Keys, func(a, b store.Key) int { return strings.Compare(a.Index+a.Value, b.Index+b.Value) })
		rec.Keys = slices.Compact(rec.Keys)
		if rnd.IntN(3) == 0 {
			rec.Refs = []integrity.Ref{{Target: integrity.Target{Kind: "k", ID: some(rnd, "r", 4)}}}
		}
		remove := !sc.All() && rnd.IntN(2) == 0
		out = append(out, func(w store.Writer) error {
			if _, err := w.Get(ctx, "k", rec.ID); remove && err == nil {
				return w.Delete(ctx, "k", rec.ID)
			}
			return put(ctx, w, rec)
		})
	}
	return out
}

// put creates or replaces a record.
func put(ctx context.Context, w store.Writer, rec store.Record) error {
	for old, err := range w.Scan(ctx, store.Query{Kind: rec.Kind, ID: rec.ID}) {
		if err != nil {
			return err
		}
		rec.Rev = old.Rev
	}
	return w.Put(ctx, rec)
}

func some(rnd *rand.Rand, of string, n int) string { return fmt.Sprint(of, rnd.IntN(n)) }

// ids returns the result of a query as text: the records, in order, and their content.
func ids(seq iter.Seq2[store.Record, error]) (string, error) {
	out := ""
	for rec, err := range seq {
		if err != nil {
			return "", err
		}
		out += rec.ID + "=" + string(rec.Doc) + " "
	}
	return out, nil
}

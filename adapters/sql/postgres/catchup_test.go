package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/sql/postgres"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestPlanBesideAnotherProcess prepares a unit of work while another process commits. The
// unit runs again if and only if the commit changes what it has read.
func TestPlanBesideAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		changes map[int]string // the organisation whose record has a number
		n, runs int
	}{
		"a few commits":                    {nil, 3, 1},
		"many commits":                     {nil, 40, 1},
		"one of a few is what it looks at": {map[int]string{1: "a"}, 3, 2},
		"one of many is what it looks at":  {map[int]string{5: "a"}, 40, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := harness.Database(t)
			ours, theirs := openWith(t, postgres.Prepared(postgres.Config{DSN: dsn, Conns: 4})), open(t, dsn)
			runs := 0
			_, err := ours.Update(t.Context(), orgOf(t, "a"), func(w store.Writer) error {
				n, err := w.Count(t.Context(), store.Query{Kind: "k"})
				for i := range c.n {
					if org := c.changes[i]; runs == 0 && org != "" {
						putOne(t, theirs, org, i)
					} else if runs == 0 {
						putOne(t, theirs, "b", i)
					}
				}
				if runs++; err != nil {
					return err
				}
				return w.Put(t.Context(), store.Record{Org: "a", Kind: "seen", ID: "1", Doc: fmt.Append(nil, n)})
			})
			if err != nil || runs != c.runs {
				t.Errorf("the unit ran %d times, not %d: %v", runs, c.runs, err)
			}
		})
	}
}

// TestManyRowsAtOnce stores, changes and deletes more records than a statement takes rows,
// and texts too long to share a statement.
func TestManyRowsAtOnce(t *testing.T) {
	s := open(t, harness.Database(t))
	const n = 5000
	for round := range 3 {
		rev, err := s.Update(t.Context(), orgOf(t, "a"), func(w store.Writer) error {
			for i := range n {
				id := fmt.Sprint(i)
				if round == 2 && i%2 == 0 {
					if err := w.Delete(t.Context(), "k", id); err != nil {
						return err
					}
					continue
				}
				text := fmt.Sprintf(`"%0*d"`, 1+i%7*(1+i%1000/999*400_000), round)
				old, err := w.Get(t.Context(), "k", id)
				if err != nil && round > 0 {
					return err
				}
				if err := w.Put(t.Context(), store.Record{Org: "a", Kind: "k", ID: id, Rev: old.Rev, Doc: []byte(text),
					Keys: []store.Key{{Index: "round", Value: fmt.Sprint(round, i%10)}, {Index: "name", Value: id, Unique: true}}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := look(t.Context(), s, orgOf(t, "a"), round, rev); err != nil || got != n/10 {
			t.Errorf("round %d: %d records: %v", round, got, err)
		}
	}
}

// look counts the records of a round that have a revision and numbers ending in 7.
func look(ctx context.Context, s store.Store, sc tenant.Scope, round int, at store.Revision) (n int, err error) {
	err = s.View(ctx, sc, func(r store.Reader) error {
		for rec, err := range r.Scan(ctx, store.Query{Kind: "k", Index: "round", Value: fmt.Sprint(round, 7)}) {
			if err != nil {
				return err
			}
			if n++; rec.Rev != at {
				return fmt.Errorf("record %s is of revision %d, not %d", rec.ID, rec.Rev, at)
			}
		}
		return nil
	})
	return n, err
}

func orgOf(t *testing.T, id string) tenant.Scope {
	t.Helper()
	sc, err := tenant.Of(tenant.ID(id))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func putOne(t *testing.T, s store.Store, org string, n int) {
	t.Helper()
	if _, err := s.Update(t.Context(), orgOf(t, org), func(w store.Writer) error {
		return w.Put(t.Context(), store.Record{Org: tenant.ID(org), Kind: "k", ID: fmt.Sprint(n), Doc: []byte(`{}`)})
	}); err != nil {
		t.Error(err)
	}
}

package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// BenchmarkKeys replaces all keys of one record: the time for each key must not grow
// with their number.
func BenchmarkKeys(b *testing.B) {
	scope, err := tenant.Of("a")
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{50, 500, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "gatehouse.db"))
			round := 0
			for b.Loop() {
				round++
				if _, err := s.Update(b.Context(), scope, func(w store.Writer) error {
					r := store.Record{Org: "a", Kind: "k", ID: "1", Doc: fmt.Append(nil, round)}
					if old, err := w.Get(b.Context(), "k", "1"); err == nil {
						r.Rev = old.Rev
					}
					for i := range n {
						r.Keys = append(r.Keys, store.Key{Index: "api_id", Value: fmt.Sprintf("api-%d-%d", round, i)})
					}
					return w.Put(b.Context(), r)
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/key")
		})
	}
}

package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type item struct {
	ID   string    `json:"id"`
	Org  tenant.ID `json:"org"`
	Name string    `json:"name"`
}

var items = &store.Kind[item]{
	Name: "item", ID: func(i item) string { return i.ID }, Org: func(i item) tenant.ID { return i.Org },
	Indexes: []store.Index[item]{store.Unique("name", "name", func(i item) string { return i.Name })},
}

// BenchmarkImport stores many records in one unit of work: the time per record
// must not grow with their number.
func BenchmarkImport(b *testing.B) {
	scope, err := tenant.Of("a")
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "gatehouse.db"))
			round := 0
			for b.Loop() {
				round++
				if _, err := s.Update(b.Context(), scope, func(w store.Writer) error {
					for i := range n {
						id := fmt.Sprintf("%d-%d", round, i)
						if err := items.Insert(b.Context(), w, item{ID: id, Org: "a", Name: id}); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/record")
		})
	}
}

package memdb_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

type item struct {
	ID   string `json:"id"`
	Rank string `json:"rank"`
}

var items = &store.Kind[item]{
	Name: "item", ID: func(i item) string { return i.ID }, Org: func(item) tenant.ID { return "a" },
	Indexes: []store.Index[item]{store.Sorted("rank", func(i item) string { return i.Rank })},
}

// filled returns a database with n items, half of them in each of two families.
func filled(tb testing.TB, n int) (*memdb.DB, tenant.Scope) {
	tb.Helper()
	db, err := memdb.New(time.Now)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := tenant.Of("a")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := db.Update(tb.Context(), a, func(w store.Writer) error {
		for i := range n {
			v := item{ID: fmt.Sprintf("%06d", i), Rank: fmt.Sprintf("f%d\x00%06d", i%2, n-i)}
			if err := items.Insert(tb.Context(), w, v); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return db, a
}

// BenchmarkPage reads the first and the last page of ten in every order. The cost of a
// page does not depend on the number of records.
func BenchmarkPage(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		db, a := filled(b, n)
		for _, q := range []store.Query{{}, {Index: "rank", Sorted: true, Prefix: "f1\x00", Desc: true}} {
			for _, last := range []bool{false, true} {
				q.Limit, q.Offset = 10, 0
				if last {
					q.Offset = n - 10
					if q.Sorted {
						q.Offset = n/2 - 10
					}
				}
				b.Run(fmt.Sprintf("%d/sorted=%t/last=%t", n, q.Sorted, last), func(b *testing.B) {
					for b.Loop() {
						err := db.View(b.Context(), a, func(r store.Reader) error {
							page, _, err := items.Page(b.Context(), r, q)
							if err == nil && len(page) != 10 {
								b.Fatalf("%d items", len(page))
							}
							return err
						})
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkWrite measures the cost of the counts.
func BenchmarkWrite(b *testing.B) {
	for b.Loop() {
		filled(b, 1_000)
	}
}

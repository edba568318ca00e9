package oas_test

import (
	"fmt"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// large returns a document of n operations with some settings each.
func large(tb testing.TB, n int) *doc.Node {
	tb.Helper()
	d, err := doc.ParseNode([]byte(shop))
	if err != nil {
		tb.Fatal(err)
	}
	settings := d.Get(oas.ExtensionKey, "middleware", "operations", "readItem")
	for i := range n {
		id := fmt.Sprintf("op%d", i)
		d.Put(doc.NewString(id), "paths", fmt.Sprintf("/group%d/{g}/item%d", i%20, i), "get", "operationId")
		d.Put(settings.Clone(), oas.ExtensionKey, "middleware", "operations", id)
	}
	return d
}

func BenchmarkExtract(b *testing.B) {
	for _, n := range []int{0, 200} {
		d := large(b, n)
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				oas.Extract(d, nil, oas.Options{})
			}
		})
	}
}

func BenchmarkFill(b *testing.B) {
	for _, n := range []int{0, 200} {
		d := large(b, n)
		c := oas.Extract(d, nil, oas.Options{})
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				oas.Fill(d, c)
			}
		})
	}
}

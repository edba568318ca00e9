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

// BenchmarkLists fills a list with another order than in the document: the time per entry
// stays the same as lists grow.
func BenchmarkLists(b *testing.B) {
	for _, n := range []int{500, 5000} {
		d, list, turned := large(b, 0), doc.NewArray(), doc.NewArray()
		for i := range n {
			e := doc.NewObject()
			e.Set("url", doc.NewString(fmt.Sprintf("http://%d.example", i)))
			list.Append(e)
		}
		d.Put(list, oas.ExtensionKey, "upstream", "uptimeTests", "tests")
		c := oas.Extract(d, nil, oas.Options{})
		tests := c.Get("uptime_tests", "check_list")
		for i := range tests.Len() {
			turned.Append(tests.Items()[tests.Len()-1-i])
		}
		c.Put(turned, "uptime_tests", "check_list")
		b.Run(fmt.Sprintf("entries=%d", n), func(b *testing.B) {
			if turned.Len() != n {
				b.Fatalf("%d entries", turned.Len())
			}
			for b.Loop() {
				oas.Fill(d.Clone(), c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
		})
	}
}

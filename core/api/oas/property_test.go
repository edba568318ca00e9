package oas_test

import (
	"sync"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/classic"
	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
)

// TestRandomDocuments: the classic form of any document is complete and correctly typed, and
// filling and extracting it again changes nothing.
func TestRandomDocuments(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, seed%2 == 0)
		d := g.document([]int{5, 30, 90}[seed%3])
		before := string(d.JSON())
		c := oas.Extract(d, nil, oas.Options{MCP: seed%5 == 0})
		wantTyped(t, c)
		wantComplete(t, c)
		wantStable(t, d, c)
		wantTyped(t, oas.Extract(g.document(30), c, oas.Options{}))
		oas.Normalise(g.document(90))
		if string(d.JSON()) != before {
			t.Error("the document was changed")
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, d.JSON())
		}
	}
}

// TestConcurrent: conversions of different documents do not affect each other.
func TestConcurrent(t *testing.T) {
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			d := doctest.Node(t, shop)
			wantTyped(t, oas.Extract(oas.Fill(d, oas.Extract(d, nil, oas.Options{})), classic.Zero(), oas.Options{}))
		})
	}
	group.Wait()
}

// wantComplete fails unless a definition has every member that the zero form has.
func wantComplete(t *testing.T, c *doc.Node) {
	t.Helper()
	var missing func(path string, want, got *doc.Node)
	missing = func(path string, want, got *doc.Node) {
		for name, v := range want.Members() {
			at := path + "." + name
			switch {
			case at == ".domain_disabled", at == ".tags_disabled", at == ".upstream_certificates_disabled", at == ".certificate_pinning_disabled":
			case got.Get(name) == nil:
				t.Errorf("%s is missing", at)
			default:
				missing(at, v, got.Get(name))
			}
		}
	}
	missing("", classic.Zero(), c)
}

// wantStable: after a fill, a document and its classic form are consistent.
func wantStable(t *testing.T, d, c *doc.Node) {
	t.Helper()
	d1 := oas.Fill(d, c)
	c1 := oas.Extract(d1, nil, oas.Options{})
	d2 := oas.Fill(d1, c1)
	c2 := oas.Extract(d2, nil, oas.Options{})
	for _, x := range differences("classic", prune(c1), prune(c2)) {
		t.Error(x)
	}
	for _, x := range differences("document", d2, oas.Fill(d2, c2)) {
		t.Error(x)
	}
}

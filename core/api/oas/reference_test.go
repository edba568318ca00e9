package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestLongReferences: a reference is parsed at each use, so its length is limited. A reference
// to the longest path, with each character escaped, is short enough.
func TestLongReferences(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		ok   bool
	}{"the longest path": {"/" + strings.Repeat("~", 4_095), true}, "a megabyte": {"/" + strings.Repeat("x", 1<<20), false}} {
		d := doc.NewObject()
		d.Put(doc.NewString("here"), "paths", c.path)
		ref := "#/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(c.path)
		if found := oas.Follow(d, ref).Text(); (found == "here") != c.ok {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// TestSegments: a segment with an expression that is expensive to compile counts as text,
// because an API has many.
func TestSegments(t *testing.T) {
	for path, literal := range map[string]bool{"/a/[a-z]+": false, "/(?i)[à-ý]/{id}": false, `/(?i)[B-\x{1e942}]`: true, "/(?i)[B-\U0001e942]": true, "/*": true} {
		if oas.Literal(path) != literal {
			t.Errorf("%s: %v", path, !literal)
		}
	}
}

// TestLongTargets: a target is repeated according to its weight, unless it is long.
func TestLongTargets(t *testing.T) {
	definition := func(url string, weights ...int64) *doc.Node {
		d, list := doc.NewObject(), doc.NewArray()
		for _, w := range weights {
			target := doc.NewObject()
			target.Set("url", doc.NewString(url))
			target.Set("weight", doc.NewInt(w))
			list.Append(target)
		}
		d.Put(list, oas.ExtensionKey, "upstream", "loadBalancing", "targets")
		return oas.Extract(d, nil, oas.Options{}).Get("proxy", "target_list")
	}
	if n := definition("http://a.example", 3, 0, 1).Len(); n != 4 {
		t.Error(n)
	}
	if n := definition("http://a.example", 9_000_000, 1_000_000, 1).Len(); n != 9_999 {
		t.Error(n)
	}
	if list := definition(strings.Repeat("x", 1<<20), 3_000, 1_000, 0); list.Len() != 4 {
		t.Error(list.Len())
	}
}

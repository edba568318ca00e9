package oas_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestLongReferences: a reference is read with each use of what it stands in, so that it must
// not be long. The longest path, each character escaped, is short enough.
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

// TestSegments: a segment whose expression takes long to read counts as text, since an API has many.
func TestSegments(t *testing.T) {
	for path, literal := range map[string]bool{"/a/[a-z]+": false, "/(?i)[à-ý]/{id}": false, `/(?i)[B-\x{1e942}]`: true, "/(?i)[B-\U0001e942]": true, "/*": true} {
		if oas.Literal(path) != literal {
			t.Errorf("%s: %v", path, !literal)
		}
	}
}

package openapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
	port "github.com/gatehouse-io/gatehouse/ports/openapi"
)

// withPatterns returns the document of an API with n schemas that have a pattern.
func withPatterns(t testing.TB, n int, pattern string) *doc.Node {
	t.Helper()
	d, err := doc.ParseNode([]byte(harbour))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		d.Put(doc.NewString(pattern), "components", "schemas", fmt.Sprintf("s%d", i), "pattern")
	}
	return d
}

// TestPatterns: the cost of patterns is counted over all of them, and repetitions are not
// expanded.
func TestPatterns(t *testing.T) {
	v := New()
	if found := v.Validate(withPatterns(t, 5_000, `(?i)[B-\x{1e942}]`), port.Options{}); len(found) != 1 || !strings.Contains(found[0].Message, "classes") {
		t.Error(found)
	}
	if found := v.Validate(withPatterns(t, 1, "("), port.Options{}); len(found) == 0 {
		t.Error(found)
	}
	took := func(pattern string) int64 {
		d := withPatterns(t, 1, pattern)
		return testing.Benchmark(func(b *testing.B) {
			for range b.N {
				if found := v.Validate(d, port.Options{}); len(found) > 0 {
					b.Fatal(found)
				}
			}
		}).AllocedBytesPerOp()
	}
	if one, many := took(strings.Repeat("a{1}", 1_000)), took(strings.Repeat("a{1000}", 1_000)); many > 4*one {
		t.Errorf("%d bytes, and %d without repetitions", many, one)
	}
}

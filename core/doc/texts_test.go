package doc_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/doc"
)

// TestTexts: lists keep their texts, and are equal if their texts are.
func TestTexts(t *testing.T) {
	lists := [][]string{nil, {""}, {"", ""}, {"a"}, {"a", "b"}, {"ab"}, {"b", "a"}, {"\x01a"}, {"a", "\x00", "b"}, {strings.Repeat("x", 200), "y"}}
	for i, list := range lists {
		texts := doc.Intern(list)
		if got := slices.Collect(texts.All()); !slices.Equal(got, list) {
			t.Errorf("%q became %q", list, got)
		}
		for j, other := range lists {
			if same := doc.Intern(slices.Clone(other)) == texts; same != (i == j) {
				t.Errorf("%q and %q: equal is %v", list, other, same)
			}
		}
		for range texts.All() {
			break // an iterator that stops gets no more
		}
	}
}

// TestOverlap: the result for a list does not depend on the order of calls.
func TestOverlap(t *testing.T) {
	none, a, ab, c := doc.Intern(nil), doc.Intern([]string{"a"}), doc.Intern([]string{"a", "b"}), doc.Intern([]string{"c"})
	any, b, ac := doc.Overlap(nil), doc.Overlap([]string{"b"}), doc.Overlap([]string{"c", "a"})
	for range 2 {
		for _, l := range []struct {
			texts     doc.Texts
			any, b, c bool
		}{{none, true, false, false}, {a, true, false, true}, {a, true, false, true}, {ab, true, true, true}, {none, true, false, false}, {c, true, false, true}} {
			if any(l.texts) != l.any || b(l.texts) != l.b || ac(l.texts) != l.c {
				t.Errorf("%q: %v, %v, %v", slices.Collect(l.texts.All()), any(l.texts), b(l.texts), ac(l.texts))
			}
		}
	}
}

// TestOverlapOfKnownLists: a list whose result is known costs no memory. A list of 100,000
// records asks once for each.
func TestOverlapOfKnownLists(t *testing.T) {
	wanted, texts := doc.Overlap([]string{"b"}), doc.Intern([]string{"a", "b"})
	if n := testing.AllocsPerRun(100, func() { wanted(texts) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

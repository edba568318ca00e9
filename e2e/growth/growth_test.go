package growth_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// recorder is a testing.TB that may fail.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(string, ...any) { r.failed = true }

// TestLinear accepts a set, and refuses a list in which each entry is searched.
func TestLinear(t *testing.T) {
	for name, c := range map[string]struct {
		add    func(all []int, n int)
		failed bool
	}{
		"a set": {func(all []int, n int) {
			seen := map[int]bool{}
			for i := range n {
				seen[all[i]] = true
			}
		}, false},
		"a list": {func(all []int, n int) {
			var seen []int
			for i := range n {
				if !slices.Contains(seen, all[i]) {
					seen = append(seen, all[i])
				}
			}
		}, true},
	} {
		r := &recorder{TB: t}
		growth.Linear(r, 1_000, func(size int) func() {
			all := make([]int, size)
			for i := range all {
				all[i] = i
			}
			return func() { c.add(all, size) }
		})
		if r.failed != c.failed {
			t.Errorf("%s fails: %t", name, r.failed)
		}
	}
}

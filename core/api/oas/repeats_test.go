package oas_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// TestRepeatsInPaths: the time for paths grows with their length, and not with the repetitions
// in their expressions.
func TestRepeatsInPaths(t *testing.T) {
	growth.Linear(t, 60, func(size int) func() { // an expression repeats 1,000 times at most
		path := strings.Repeat("/(?:.?){"+strconv.Itoa(size)+"}", 10*size)
		return func() {
			if oas.Literal(path) {
				t.Error("an expression is taken as text")
			}
		}
	})
}

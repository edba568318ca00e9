package main

import (
	"math"
	"testing"
)

// The cases can be computed by hand: U is the number of pairs whose greater value is in
// the second sample, its mean is half of the pairs, and its spread follows from the
// number of values.
func TestMannWhitney(t *testing.T) {
	row := func(from, to, by float64) (out []float64) {
		for v := from; v < to; v += by {
			out = append(out, v)
		}
		return out
	}
	for name, c := range map[string]struct {
		first, second []float64
		p, greater    float64
	}{
		"apart":             {[]float64{1, 2, 3}, []float64{4, 5, 6}, 0.0809, 1},
		"the other way":     {[]float64{4, 5, 6}, []float64{1, 2, 3}, 0.0809, 0},
		"in turn":           {[]float64{1, 4}, []float64{2, 3}, 1, 0.5},
		"all equal":         {[]float64{7, 7}, []float64{7, 7, 7}, 1, 0.5},
		"ties":              {[]float64{1, 2, 2}, []float64{2, 3, 3}, 0.1573, 8.0 / 9},
		"alike":             {row(0, 2000, 1), row(0.5, 2000, 1), 0.98, 0.5},
		"later by 2 of 100": {row(0, 2000, 1), row(40, 2040, 1), 0.03, 0.52},
		"later by 10":       {row(0, 2000, 1), row(200, 2200, 1), 0, 0.595},
	} {
		p, greater := mannWhitney(c.first, c.second)
		if math.Abs(p-c.p) > 0.01 || math.Abs(greater-c.greater) > 0.001 {
			t.Errorf("%s: p = %.4f, greater in %.4f; want %v and %v", name, p, greater, c.p, c.greater)
		}
	}
}

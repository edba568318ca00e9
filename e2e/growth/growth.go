// Package growth tells work that grows as its input does from work that grows faster. It compares
// two sizes in the same run, so that it says the same on a slow machine and on a busy one.
package growth

import (
	"testing"
	"time"
)

// times is how much larger the second input is, runs how often both are worked on at most, and
// most how much longer the second may take than as much work on the first: linear work takes as
// long, a few times that where the second no longer fits into a cache, and quadratic work takes
// 16 times as long.
const (
	times = 16
	runs  = 8
	most  = 5
)

// Linear fails the test when work on an input that is 16 times as large takes far longer than
// doing that on the small one 16 times, which other work on the machine slows down as much.
// prepare returns the work on an input of a size, which is done several times; the fastest counts.
// small is a size on which it takes a tenth of a millisecond or more.
func Linear(tb testing.TB, small int, prepare func(size int) (work func())) {
	tb.Helper()
	one, more := prepare(small), prepare(times*small)
	few, many := took(times, one), took(1, more)
	for range runs {
		if many <= most*few {
			return
		}
		few, many = min(few, took(times, one)), min(many, took(1, more))
	}
	tb.Errorf("%d times %d take %s, and %d take %s", times, small, few, times*small, many)
}

func took(n int, work func()) time.Duration {
	began := time.Now()
	for range n {
		work()
	}
	return time.Since(began)
}

// Package growth tests that work is linear in the size of its input. It compares two sizes in the
// same run, so that slow and busy machines give the same result.
package growth

import (
	"testing"
	"time"
)

// times is the ratio of the input sizes, and runs the maximum number of measurements of each. first
// is how often the small one is measured again before it is believed: a pause of the process would hide
// that the larger one takes too long. most is the maximum ratio of the time for the larger input to
// the time for the same amount of work on the smaller one. For linear work that ratio is one, or a
// few times that when the larger input no longer fits into a cache; for quadratic work it is 16.
const (
	times = 16
	runs  = 8
	first = 3
	most  = 5
)

// Linear fails the test when work on an input of 16 times the size takes far longer than doing the
// work on the small one 16 times; other load slows down both alike. prepare returns the work on an
// input of a size, which runs several times; the fastest run counts. small is a size on which the
// work takes a tenth of a millisecond or more.
func Linear(tb testing.TB, small int, prepare func(size int) (work func())) {
	tb.Helper()
	one, more := prepare(small), prepare(times*small)
	few, many := took(times, one), took(1, more)
	for range first {
		few = min(few, took(times, one))
	}
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

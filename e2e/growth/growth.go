// Package growth tells work that grows as its input does from work that grows faster. It compares
// two sizes in the same run, so that it says the same on a slow machine and on a busy one.
package growth

import (
	"testing"
	"time"
)

// times is how much larger the second input is, runs how often each is worked on, and most how
// much longer the second may take: linear work takes as many times as long as it is larger, and
// quadratic work takes 64 times as long.
const (
	times = 8
	runs  = 5
	most  = 3 * times
)

// Linear fails the test when work on an input that is eight times as large takes far more than
// eight times as long. prepare returns the work on an input of a size, which is done several
// times; the fastest counts. small is a size on which it takes a millisecond or more.
func Linear(tb testing.TB, small int, prepare func(size int) (work func())) {
	tb.Helper()
	one, more := fastest(prepare(small)), fastest(prepare(times*small))
	if more > most*one {
		tb.Errorf("%d take %s, and %d take %s", small, one, times*small, more)
	}
}

func fastest(work func()) time.Duration {
	var best time.Duration
	for i := range runs {
		began := time.Now()
		work()
		if took := time.Since(began); i == 0 || took < best {
			best = took
		}
	}
	return best
}

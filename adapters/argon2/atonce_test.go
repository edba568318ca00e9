package argon2

import (
	"runtime"
	"testing"
)

// TestAtOnce: hashes leave a processor to everything else, unless there is only one.
func TestAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors, want := range map[int]int{1: 1, 2: 1, 3: 2, 5: 4, 64: 4} {
		runtime.GOMAXPROCS(processors)
		if got := cap(New(nil).slots); got != want {
			t.Errorf("%d processors: %d hashes at a time, want %d", processors, got, want)
		}
	}
}

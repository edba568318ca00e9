//go:build unix

package serve

import (
	"math"
	"syscall"
)

// openFiles returns how many files the process may open; 0: no limit is known.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return 0
	}
	return int(limit.Cur)
}

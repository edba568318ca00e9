//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// named returns how many hard links a file has.
func named(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // it has another type on other systems
	}
	return 1
}

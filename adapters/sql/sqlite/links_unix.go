//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// named reports under how many names a file is reached, links of the file system that are
// names of their own.
func named(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink) //nolint:unconvert // it has another type on other systems
	}
	return 1
}

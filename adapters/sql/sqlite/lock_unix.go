//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// tryLock reports whether the lock was free; this process then holds it until f is
// closed.
func tryLock(f *os.File) (bool, error) {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return err == nil, err
		}
	}
}

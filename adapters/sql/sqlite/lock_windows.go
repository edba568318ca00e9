package sqlite

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

// Flags of LockFileEx, and its error when another process has the lock.
const (
	exclusiveAtOnce = 0x2 | 0x1
	lockViolation   = syscall.Errno(33)
)

// tryLock reports whether the lock was free; this process then holds it until f is
// closed. The locked byte lies far behind the text of the file, which other processes
// may read.
func tryLock(f *os.File) (bool, error) {
	at := syscall.Overlapped{Offset: 1 << 30}
	ok, _, err := lockFileEx.Call(f.Fd(), exclusiveAtOnce, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return true, nil
	case errors.Is(err, lockViolation):
		return false, nil
	}
	return false, err
}

package apptest

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Leaping is the clock of a machine that somebody sets: the time of day leaps, and the
// monotonic clock goes on.
type Leaping struct {
	// Base tells the time before anything is set, with a monotonic reading; nil: time.Now.
	Base func() time.Time
	off  atomic.Int64 // seconds
}

// Set sets the clock ahead of the time, or behind it.
func (l *Leaping) Set(ahead time.Duration) { l.off.Store(int64(ahead / time.Second)) }

// Now tells the time.
func (l *Leaping) Now() time.Time {
	base := time.Now
	if l.Base != nil {
		base = l.Base
	}
	is := base()
	leapt, by := is, l.off.Load()
	// With a monotonic reading the seconds stand above the 30 bits of the nanoseconds. No
	// function of the library moves them alone.
	*(*uint64)(unsafe.Pointer(&leapt)) += uint64(by) << 30 //nolint:gosec // see above
	if leapt.Sub(is) != 0 || leapt.Round(0).Sub(is.Round(0)) != time.Duration(by)*time.Second {
		panic("apptest: the time has no monotonic reading, or the library keeps it in another way")
	}
	return leapt
}

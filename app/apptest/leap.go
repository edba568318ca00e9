package apptest

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Leaping is the clock of a machine whose time of day is changed: the time of day
// leaps, and the monotonic clock does not.
type Leaping struct {
	// Base returns the time without leaps, with a monotonic reading; nil: time.Now.
	Base func() time.Time
	off  atomic.Int64 // seconds
}

// Set sets the time of day ahead of Base, or behind it.
func (l *Leaping) Set(ahead time.Duration) { l.off.Store(int64(ahead / time.Second)) }

// Now returns the time.
func (l *Leaping) Now() time.Time {
	base := time.Now
	if l.Base != nil {
		base = l.Base
	}
	is := base()
	leapt, by := is, l.off.Load()
	// With a monotonic reading, the seconds are above the 30 bits of the nanoseconds.
	// No function of the standard library changes only them.
	*(*uint64)(unsafe.Pointer(&leapt)) += uint64(by) << 30 //nolint:gosec // see above
	if leapt.Sub(is) != 0 || leapt.Round(0).Sub(is.Round(0)) != time.Duration(by)*time.Second {
		panic("apptest: the time has no monotonic reading, or the library keeps it in another way")
	}
	return leapt
}

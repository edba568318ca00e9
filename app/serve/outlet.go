package serve

import (
	"io"
	"sync"
	"time"
)

// outletRoom is how many bytes of lines may wait in an outlet.
const outletRoom = 1 << 20

// Outlet passes lines to a writer that may block, such as a pipe whose reader is
// stopped, without blocking the code that logs. Lines for which there is no room are
// dropped, and a line says how many.
type Outlet struct {
	w    io.Writer
	lost func(lines int) []byte // makes the line with the number of dropped lines; nil: there is no such line

	mu      sync.Mutex
	changed sync.Cond
	lines   []byte // not written yet
	missing int    // lines dropped since the last one that was accepted
	writing bool
	closed  bool
}

// NewOutlet returns an outlet to w. It must be closed.
func NewOutlet(w io.Writer) *Outlet {
	o := &Outlet{w: w}
	o.changed.L = &o.mu
	go o.drain()
	return o
}

// announce sets the function that makes the line about dropped lines.
func (o *Outlet) announce(lost func(lines int) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lost = lost
}

// Write implements io.Writer. It takes whole lines and never fails.
func (o *Outlet) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.lines) > 0 && len(o.lines)+len(p) > outletRoom {
		o.missing++
		return len(p), nil
	}
	o.tell()
	o.lines = append(o.lines, p...)
	o.changed.Broadcast()
	return len(p), nil
}

// tell appends the line about dropped lines, if there are any. The caller holds the
// lock.
func (o *Outlet) tell() {
	if o.missing > 0 && o.lost != nil {
		o.lines = append(o.lines, o.lost(o.missing)...)
	}
	o.missing = 0
}

// drain writes the waiting lines, until the outlet is closed.
func (o *Outlet) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for len(o.lines) == 0 {
			if o.closed {
				return
			}
			o.changed.Wait()
		}
		lines := o.lines
		o.lines, o.writing = nil, true
		o.mu.Unlock()
		_, _ = o.w.Write(lines) // there is nowhere to report the error
		o.mu.Lock()
		o.writing = false
		o.changed.Broadcast()
	}
}

// Close closes the outlet. It waits until all lines are written, but not longer than
// most.
func (o *Outlet) Close(most time.Duration) {
	end := time.Now().Add(most)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tell()
	o.closed = true
	o.changed.Broadcast()
	defer time.AfterFunc(most, o.changed.Broadcast).Stop()
	for (len(o.lines) > 0 || o.writing) && time.Now().Before(end) {
		o.changed.Wait()
	}
}

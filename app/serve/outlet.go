package serve

import (
	"io"
	"sync"
	"time"
)

// outletRoom is how many bytes of lines wait for an outlet.
const outletRoom = 1 << 20

// Outlet hands lines on to a writer that may stop taking them, such as a pipe whose reader is
// halted: nothing that logs waits for it. Lines that find no room are left out, and
// a line says how many they were.
type Outlet struct {
	w    io.Writer
	lost func(lines int) []byte // the line that says so; nil: none does

	mu      sync.Mutex
	changed sync.Cond
	lines   []byte // not taken yet
	missing int    // lines that found no room since the last one that did
	writing bool
	closed  bool
}

// NewOutlet returns an outlet to w. It has to be closed.
func NewOutlet(w io.Writer) *Outlet {
	o := &Outlet{w: w}
	o.changed.L = &o.mu
	go o.drain()
	return o
}

// announce sets how to say that lines are missing.
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

// tell says how many lines are missing at this place. The caller has the lock.
func (o *Outlet) tell() {
	if o.missing > 0 && o.lost != nil {
		o.lines = append(o.lines, o.lost(o.missing)...)
	}
	o.missing = 0
}

// drain writes what waits, until the outlet is closed.
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
		_, _ = o.w.Write(lines) // there is nowhere else to complain
		o.mu.Lock()
		o.writing = false
		o.changed.Broadcast()
	}
}

// Close waits until all lines are written, for as long as most, and ends the outlet.
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

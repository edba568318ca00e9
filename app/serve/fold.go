package serve

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// Bounds of the open windows.
const (
	foldWindow = 10 * time.Second
	maxFolds   = 1000
)

// folding is a slog.Handler that writes the first of equal warnings and errors at once,
// counts the following ones, and writes their number at the end of the window, so that
// an outage does not fill the disk. Lines are equal when their level, message and
// attributes are equal, except attributes that differ with every request. Lines below
// warnings, such as those of the audit, are never folded.
type folding struct {
	next  slog.Handler
	above string // attributes and groups that every line has
	folds *folds
}

// folds are the open windows.
type folds struct {
	mu   sync.Mutex
	open map[string]*fold
}

// fold is one line with the number of its repetitions.
type fold struct {
	next  slog.Handler
	last  slog.Record
	again int
}

// Enabled implements slog.Handler.
func (h *folding) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

// WithAttrs implements slog.Handler.
func (h *folding) WithAttrs(attrs []slog.Attr) slog.Handler {
	above := h.above
	for _, a := range attrs {
		above += "\x00" + a.String()
	}
	return &folding{h.next.WithAttrs(attrs), above, h.folds}
}

// WithGroup implements slog.Handler.
func (h *folding) WithGroup(name string) slog.Handler {
	return &folding{h.next.WithGroup(name), h.above + "\x00" + name + "{", h.folds}
}

// Handle implements slog.Handler.
func (h *folding) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return h.next.Handle(ctx, r)
	}
	// What equal lines have in common. Digits do not count: errors hold port numbers and times.
	var b strings.Builder
	b.WriteString(r.Level.String() + "\x00" + r.Message + h.above)
	r.Attrs(func(a slog.Attr) bool {
		switch {
		case ofRequest[a.Key]:
		case a.Key == "error":
			b.WriteString("\x00" + strings.Map(withoutDigits, a.String()))
		default:
			b.WriteString("\x00" + a.String())
		}
		return true
	})
	if h.folds.repeats(h.next, b.String(), r) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

// ofRequest are the attributes that differ with every request.
var ofRequest = map[string]bool{"request_id": true, "duration": true, "stack": true, "principal_id": true}

func withoutDigits(r rune) rune {
	if '0' <= r && r <= '9' {
		return -1
	}
	return r
}

// repeats counts a line and reports true if its window is open; otherwise it opens one.
// With too many windows it opens no more.
func (f *folds) repeats(next slog.Handler, key string, r slog.Record) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if open := f.open[key]; open != nil {
		open.last, open.again = r.Clone(), open.again+1
		return true
	}
	if len(f.open) < maxFolds {
		f.open[key] = &fold{next: next}
		time.AfterFunc(foldWindow, func() { f.close(key) })
	}
	return false
}

// close writes the last line of a window with the number of repetitions. The window
// stays open as long as there are repetitions.
func (f *folds) close(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	open := f.open[key]
	if open.again == 0 {
		delete(f.open, key)
		return
	}
	open.last.AddAttrs(slog.Int("repeated", open.again), slog.Duration("within", foldWindow))
	_ = open.next.Handle(context.Background(), open.last) // there is nowhere else to complain
	open.again = 0
	time.AfterFunc(foldWindow, func() { f.close(key) })
}

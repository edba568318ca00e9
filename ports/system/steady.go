package system

import (
	"sync"
	"time"
)

// leap is how far a clock may jump ahead without being doubted. believed is how long a clock
// must run on after a longer jump before its new time counts.
const (
	leap     = time.Hour
	believed = 24 * time.Hour
)

// Steady returns a clock for the permanent deletion of old data. When the clock of the machine
// jumps ahead, because of a wrong time server or a manual mistake, all data suddenly looks
// old. The returned clock then runs on as before, and takes over the new time after a day. It
// follows a clock that is set back at once, because nothing looks older then. It measures with
// the monotonic clock, starting with this call. A test clock has no monotonic time, so none of
// its jumps is noticed.
func Steady(now Clock) Clock {
	var (
		mu sync.Mutex
		s  steadiness
		at = time.Now() //nolint:forbidigo // when it was last asked; the clock of a test counts how often that is
	)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		is := now()
		s.see(is.Round(0).Sub(at.Round(0)), is.Sub(at))
		at = is
		return is.Round(0).Add(-s.ahead)
	}
}

// steadiness is how far a clock is ahead of the trusted time.
type steadiness struct {
	ahead time.Duration // sum of its jumps
	since time.Duration // time since its last jump
}

// see records how far the clock has moved, and how much time has passed, since the last call.
func (s *steadiness) see(moved, passed time.Duration) {
	s.since += passed
	switch off := moved - passed; {
	case off > leap:
		s.ahead, s.since = s.ahead+off, 0
	case off < 0:
		s.ahead = max(0, s.ahead+off)
	}
	if s.since >= believed {
		s.ahead = 0
	}
}

package system

import (
	"sync"
	"time"
)

// How far a clock may leap ahead and be believed at once, and for how long one that leapt
// further has to go on before it is believed.
const (
	leap     = time.Hour
	believed = 24 * time.Hour
)

// Steady returns a clock by which old things may be deleted for good. When the clock of the
// machine leaps ahead, by a wrong answer of a time server or a hand that slips, all there
// is looks old at once: the returned clock goes on as before, and follows after a day.
// A clock that is put back is followed at once, as nothing gets older by that. The measure
// is the monotonic clock, from this call on; the clock of a test, which has none, is never
// found leaping.
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

// steadiness is by how much a clock is ahead of the one that is believed.
type steadiness struct {
	ahead time.Duration // how far it has leapt
	since time.Duration // how much time has passed since it leapt last
}

// see takes in by how much the clock has moved, and how much time has passed meanwhile.
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

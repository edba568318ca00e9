package system

import (
	"testing"
	"time"
)

// TestSteadiness: a clock that jumps ahead is not trusted for a day; one that is set back is.
func TestSteadiness(t *testing.T) {
	const years = 50000 * time.Hour
	var s steadiness
	for _, c := range []struct {
		what   string
		passed time.Duration
		off    time.Duration // how far the clock was moved
		ahead  time.Duration // how much of it is not trusted
	}{
		{"as it was", time.Hour, 0, 0},
		{"adjusted a little", time.Minute, 30 * time.Minute, 0},
		{"years ahead", time.Minute, years, years},
		{"still ahead", 23 * time.Hour, 0, years},
		{"right again", time.Minute, -years, 0},
		{"right for days", 72 * time.Hour, 0, 0},
		{"ahead once more", time.Minute, years, years},
		{"partly put back", time.Hour, -years / 2, years / 2},
		{"for a day", 23 * time.Hour, 0, 0},
		{"put back by years", time.Minute, -2 * years, 0},
		{"ahead while nobody asked for days", 72 * time.Hour, years, years},
		{"further ahead", 23 * time.Hour, years, 2 * years},
		{"still further ahead than a day ago", 23 * time.Hour, 0, 2 * years},
		{"for a day", time.Hour, 0, 0},
	} {
		if s.see(c.passed+c.off, c.passed); s.ahead != c.ahead {
			t.Errorf("%s: %v are not believed, want %v", c.what, s.ahead, c.ahead)
		}
	}
}

// TestSteady: without jumps the steady clock equals its source.
func TestSteady(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	steady := Steady(func() time.Time { return at })
	for range 3 {
		if have := steady(); !have.Equal(at) {
			t.Errorf("%v, want %v", have, at)
		}
		at = at.Add(48 * time.Hour)
	}
}

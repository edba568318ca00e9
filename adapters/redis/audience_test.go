package redis

import (
	"testing"
	"time"
)

// TestAudience: which subscribers count as having come back.
func TestAudience(t *testing.T) {
	const grace = 10 * time.Second
	for _, c := range []struct {
		name  string
		told  bool
		looks []int // one a second
		want  int   // how many observations report a gateway that came back
	}{
		{"no listener", true, []int{0, 0, 0}, 0},
		{"a start beside gateways", false, []int{3, 3, 3}, 0},
		{"gateways that join before anything is announced", false, []int{0, 1, 2, 3}, 0},
		{"gateways that join soon after something was", true, []int{1, 2, 2, 3}, 2},
		{"gateways that join long after", true, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3}, 0},
		{"one goes", false, []int{2, 1, 1}, 0},
		{"one goes and comes back", false, []int{2, 1, 1, 2}, 1},
		{"all go and come back one after the other", false, []int{3, 0, 1, 2, 2, 3}, 3},
		{"one leaves for good, then another goes and comes back", false, []int{3, 2, 1, 2}, 1},
		{"more come than were lost", false, []int{2, 1, 4, 5}, 1},
	} {
		a, now, have := audience{told: c.told}, time.Unix(0, 0), 0
		for i, n := range c.looks {
			if i == 0 {
				a.told = false // the first count is before any announcement
			}
			a.see(n, now, grace)
			a.told, now = c.told, now.Add(time.Second)
			if a.missed {
				have, a.missed = have+1, false
			}
		}
		if have != c.want {
			t.Errorf("%s: %d came back, want %d", c.name, have, c.want)
		}
	}
}

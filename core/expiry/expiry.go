// Package expiry decides whether something with a limited life has expired.
package expiry

import "time"

// Over reports whether something with a life has expired at its end. An end that is more than
// twice the life ahead comes from a clock that has been put back since: the thing would not expire
// before that time comes, and counts as expired.
func Over(end, now time.Time, life time.Duration) bool {
	return !now.Before(end) || end.Sub(now) > 2*life
}

// Package expiry decides whether something with a limited life has expired.
package expiry

import "time"

// Over reports whether a thing with a limited life has expired, given its end. If end is more
// than twice the life ahead, it was set by a clock that has been put back since. The thing
// would not expire before that time, so it counts as expired.
func Over(end, now time.Time, life time.Duration) bool {
	return !now.Before(end) || end.Sub(now) > 2*life
}

// Package expiry says when what holds for a while has ended.
package expiry

import "time"

// Over reports whether something that holds for life has ended, given its end. What ends more
// than twice as far ahead was made by a clock that has been put back since, and would hold until
// that time comes.
func Over(end, now time.Time, life time.Duration) bool {
	return !now.Before(end) || end.Sub(now) > 2*life
}

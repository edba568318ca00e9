// Package system is the port to the machine: time and identifiers. Both are function types, so
// that a test can pass a function literal.
package system

import "time"

// Clock returns the current time.
type Clock func() time.Time

// NewID returns a new identifier for a stored record: 24 lower-case hex digits that sort by
// creation time (docs/wire/requests.md#identifiers).
type NewID func() string

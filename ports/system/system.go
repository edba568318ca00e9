// Package system is the port to the machine: time and identity. Both are
// function types, so that a test passes a literal.
package system

import "time"

// Clock tells the time.
type Clock func() time.Time

// NewID makes identifiers of stored records: 24 lower-case hex digits that sort
// by the time they were made (docs/wire/requests.md#identifiers).
type NewID func() string

package crypto

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/system"
)

// NewID returns a maker of record identifiers: 4 bytes Unix seconds, 3 bytes fraction of the
// second, 5 random bytes, as 24 lower-case hex digits (docs/wire/requests.md#identifiers). Within
// the process each identifier is greater than the one before, also when the clock stands still or
// goes back. Across processes identifiers sort by time, and the random part keeps them apart. Safe
// for concurrent use.
func NewID(now system.Clock) system.NewID {
	var (
		mu   sync.Mutex
		last uint64
	)
	return func() string {
		mu.Lock()
		at := uint64(0) // in units of 2^-24 seconds (60 ns) since 1970; the 56 bits suffice until the year 2106
		if t := now(); t.Unix() >= 0 {
			at = uint64(uint32(t.Unix()))<<24 | uint64(t.Nanosecond())<<24/uint64(time.Second)
		}
		at = max(at, last+1)
		last = at
		mu.Unlock()
		var b [13]byte // the top byte of the time is always zero
		binary.BigEndian.PutUint64(b[:], at)
		rand.Read(b[8:])
		return hex.EncodeToString(b[1:])
	}
}

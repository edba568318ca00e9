package serve

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
)

// While large bodies are worked on, memory counts more than time: their texts and
// trees are a good part of what is in use for a short while, and garbage at Go's
// defaults would take as much again.
const (
	frugalPercent = 15        // garbage before it is collected, in percent of what is in use
	frugalRoom    = 288 << 20 // bytes beside what is in use, before collecting takes precedence
)

// frugal trades time for memory while large bodies are worked on, unless the
// operator has said with GOGC or GOMEMLIMIT how to. What they took goes back to
// the system when the last of them has ended.
func frugal(on bool) {
	percent, limit := 100, int64(math.MaxInt64)
	if on {
		percent, limit = frugalPercent, inUse()+frugalRoom
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
		if !on {
			go debug.FreeOSMemory()
		}
	}
}

// inUse is how many bytes were in use when garbage was last collected.
func inUse() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

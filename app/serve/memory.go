package serve

import (
	"cmp"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// While large bodies are processed, saving memory is more important than time: for a
// short while, their texts and trees are a large part of the heap, and with Go's
// defaults garbage would take as much again.
const (
	frugalPercent = 50        // GOGC: garbage in percent of the live heap
	frugalRoom    = 240 << 20 // bytes above the live heap for the memory limit
)

// calmAfter is how long the tight bounds stay after the last large body. So the next
// body of a client that sends several is processed with the same bounds, and not in a
// process full of garbage from the previous ones.
const calmAfter = 2 * time.Second

// Default bounds of all bodies in progress together, in bytes. With little memory they
// are smaller, so that there is room for the process without any bodies (withoutAny)
// and for the documents of an organisation.
const (
	usualBodies = 160 << 20
	leastBodies = 16 << 20
	withoutAny  = 160 << 20
)

// machine returns the memory of the container, or else of the machine, in bytes; 0 if
// it is not known.
func machine() int64 {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}

// organisationBytes bounds the size of the records of one organisation: at most a
// quarter of the memory, because documents are in memory as text and as values, and
// less with little memory.
func organisationBytes(setting, memory int64) int64 {
	if setting == 0 || memory == 0 {
		return setting
	}
	return min(setting, memory/4, max(leastBodies, (memory-withoutAny)/3))
}

// bodyMemory bounds the size of all bodies in progress together. While a body is
// processed, it takes up to two and a half times the size that it is counted with.
func bodyMemory(setting, memory int64) int64 {
	if setting != 0 || memory == 0 {
		return cmp.Or(setting, usualBodies)
	}
	return min(usualBodies, max(leastBodies, (memory/2-withoutAny)*2/5))
}

// thrift tightens the bounds of the garbage collector while large bodies are processed.
type thrift struct {
	most  int64 // memory limit of the process in bytes, from which the garbage collector works harder
	mu    sync.Mutex
	tight bool
	turns int // number of calls of frugal
}

// newThrift limits the process to nine tenths of the memory: the rest is for memory
// that Go does not count.
func newThrift(memory int64) *thrift {
	t := &thrift{most: math.MaxInt64}
	if memory > 0 {
		t.most = memory / 10 * 9
		bounds(100, t.most)
	}
	return t
}

// frugal switches the tight bounds on and off: on while large bodies are processed,
// unless the operator has set GOGC or GOMEMLIMIT. Soon after the last large body, free
// memory is returned to the system.
func (t *thrift) frugal(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns++
	switch turn := t.turns; {
	case !on:
		time.AfterFunc(calmAfter, func() { // the normal bounds again, unless another large body has come since
			t.mu.Lock()
			defer t.mu.Unlock()
			if turn != t.turns {
				return
			}
			t.tight = false
			bounds(100, t.most)
			if os.Getenv("GOMEMLIMIT") == "" {
				go debug.FreeOSMemory()
			}
		})
	case !t.tight:
		t.tight = true
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // in use after the last garbage collection
		metrics.Read(live)
		bounds(frugalPercent, min(t.most, int64(live[0].Value.Uint64())+frugalRoom))
	}
}

// bounds sets the bounds of the garbage collector, except those that the operator has
// set.
func bounds(percent int, limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

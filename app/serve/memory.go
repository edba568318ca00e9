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

// While large bodies are worked on, memory counts more than time: their texts and
// trees are a good part of what is in use for a short while, and garbage at Go's
// defaults would take as much again.
const (
	frugalPercent = 50        // garbage before it is collected, in percent of what is in use
	frugalRoom    = 240 << 20 // bytes beside what is in use, before collecting takes precedence
)

// calmAfter is how long memory still counts more than time when the last large body
// is done: the next one of a client that sends several finds the bounds as they are,
// and not those of a process that is full of what its predecessors left.
const calmAfter = 2 * time.Second

// What bodies under way take together, in bytes, where the settings do not say: less where
// there is little memory, beside what the process takes without any and the documents of an
// organisation.
const (
	usualBodies = 160 << 20
	leastBodies = 16 << 20
	withoutAny  = 160 << 20
)

// machine is the memory of the container in which the process runs, or else of the machine, in
// bytes; 0: it is not known.
func machine() int64 {
	limit, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}

// organisationBytes is what the records of one organisation may take: a quarter of the memory at
// most, since documents are there as text and as values, and less where there is little.
func organisationBytes(setting, memory int64) int64 {
	if setting == 0 || memory == 0 {
		return setting
	}
	return min(setting, memory/4, max(leastBodies, (memory-withoutAny)/3))
}

// bodyMemory is what bodies under way may take together. One that is worked on takes up to
// two and a half times of what it is counted with.
func bodyMemory(setting, memory int64) int64 {
	if setting != 0 || memory == 0 {
		return cmp.Or(setting, usualBodies)
	}
	return min(usualBodies, max(leastBodies, (memory/2-withoutAny)*2/5))
}

// thrift knows whether large bodies are worked on.
type thrift struct {
	most  int64 // bytes that the process takes at any time, before collecting takes precedence
	mu    sync.Mutex
	tight bool
	turns int // how often large bodies came or were done
}

// newThrift keeps the process within nine tenths of the memory: the rest is for what Go does
// not count.
func newThrift(memory int64) *thrift {
	t := &thrift{most: math.MaxInt64}
	if memory > 0 {
		t.most = memory / 10 * 9
		bounds(100, t.most)
	}
	return t
}

// frugal trades time for memory while large bodies are worked on, unless the
// operator has said with GOGC or GOMEMLIMIT how to. Memory that they took goes back to
// the system soon after the last of them has ended.
func (t *thrift) frugal(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.turns++
	switch turn := t.turns; {
	case !on:
		time.AfterFunc(calmAfter, func() { t.calm(turn) })
	case !t.tight:
		t.tight = true
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // in use when garbage was last collected
		metrics.Read(live)
		bounds(frugalPercent, min(t.most, int64(live[0].Value.Uint64())+frugalRoom))
	}
}

// calm ends what frugal began, unless another large body has come since.
func (t *thrift) calm(turn int) {
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
}

// bounds says when garbage is collected, as far as the operator has not.
func bounds(percent int, limit int64) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

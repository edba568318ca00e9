package serve

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
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

// thrift knows whether large bodies are worked on.
type thrift struct {
	mu    sync.Mutex
	tight bool
	turns int // how often large bodies came or were done
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
		bounds(frugalPercent, int64(live[0].Value.Uint64())+frugalRoom)
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
	bounds(100, math.MaxInt64)
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

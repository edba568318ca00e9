package remote

import (
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/gatehouse-io/gatehouse/ports/gateway"
	"github.com/gatehouse-io/gatehouse/ports/system"
)

// failuresInARow is the number of failures in a row that opens the circuit breaker of a
// gateway.
const failuresInARow = 3

// node is one gateway.
type node struct {
	url     string
	now     system.Clock
	breaker *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu      sync.Mutex
	asked   bool
	answers bool
	since   time.Time // when the current state of its answers began
	trouble string    // the last error, "" if it answers
}

// errGivenUp: the caller cancelled before the answer came, which says nothing about the
// gateway.
var errGivenUp = errors.New("the caller has given up")

// note records the outcome of a call for status.
func (n *node) note(err error) {
	if errors.Is(err, errGivenUp) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if ok := err == nil; !n.asked || ok != n.answers {
		n.asked, n.answers, n.since = true, ok, n.now()
	}
	n.trouble = ""
	if err != nil {
		n.trouble = err.Error()
	}
}

// status returns the health of the gateway.
func (n *node) status() gateway.Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := gateway.Status{URL: n.url, Asked: n.asked, Answers: n.answers, Since: n.since, Trouble: n.trouble}
	switch n.breaker.State() {
	case gobreaker.StateOpen:
		s.Breaker = gateway.BreakerOpen
	case gobreaker.StateHalfOpen:
		s.Breaker = gateway.BreakerTrying
	default:
		s.Breaker = gateway.BreakerClosed
	}
	return s
}

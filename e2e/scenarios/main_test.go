// Package scenarios tests the program from outside: the built binary, several replicas
// of it, PostgreSQL, Redis and simulated gateways, through HTTP and the command line
// only.
//
// The default form is short. GATEHOUSE_E2E_LONG=1 runs the long one, and
// GATEHOUSE_E2E_SEED repeats the random moments of an earlier run.
package scenarios

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// long reports whether the long form was requested.
func long() bool { return os.Getenv("GATEHOUSE_E2E_LONG") != "" }

// random returns a random source whose seed is logged.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("GATEHOUSE_E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("GATEHOUSE_E2E_SEED: %v", err)
		}
	}
	t.Logf("repeat with GATEHOUSE_E2E_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// pollEvery is the pause between two checks of a condition.
const pollEvery = 10 * time.Millisecond

// until waits until look returns nil and returns how long that took. It ends the test
// when that takes longer than limit.
func until(t *testing.T, limit time.Duration, what string, look func() error) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		err := look()
		if err == nil {
			return time.Since(began)
		}
		if time.Since(began) > limit {
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-time.After(pollEvery):
		}
	}
}

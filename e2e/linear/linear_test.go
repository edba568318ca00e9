package linear_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/gatehouse-io/gatehouse/app/replicated"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

var seedFlag = flag.Uint64("seed", 0, "draw the requests of this seed; 0: GATEHOUSE_TEST_SEED, or else a new one")

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }

// seed returns the seed of a test and logs how to repeat it.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := *seedFlag
	if text := os.Getenv("GATEHOUSE_TEST_SEED"); s == 0 && text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("GATEHOUSE_TEST_SEED: %v", err)
		}
	}
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", s)
	return s
}

// rounds returns how many histories are recorded for each back end.
func rounds() int {
	if os.Getenv("GATEHOUSE_E2E_LONG") == "1" {
		return 500
	}
	return 5
}

func TestLinearizable(t *testing.T) {
	for _, backend := range []struct {
		name string
		open func(*testing.T) cluster
	}{
		{"memory", overMemory},
		{"SQLite", overSQLite(replicated.Local)},
		{"SQLite asked for its head", overSQLite(replicated.Current)},
		{"SQLite without a copy", overSQLite(replicated.Direct)},
		{"PostgreSQL", overPostgres(1)},
		{"three replicas on PostgreSQL", overPostgres(3)},
		{"three replicas that hear late", overSlowFeed},
	} {
		t.Run(backend.name, func(t *testing.T) {
			t.Parallel() // they mostly wait, each for its own disk
			s, c, sum := seed(t), backend.open(t).start(t), tally{}
			for round := range rounds() {
				history := record(t, c, s, round)
				sum.add(history)
				accept(t, history)
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
			sum.check(t)
		})
	}
}

// accept fails the test unless an order explains a history.
func accept(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	if tag := reused(history); tag != "" {
		t.Errorf("two writes to one record answered with the entity tag %s", tag)
	}
	res, info := verdict(history)
	switch res {
	case porcupine.Illegal:
		t.Error("not linearizable")
		explain(t, history, info)
	case porcupine.Unknown:
		t.Errorf("undecided after %s", patience)
	}
}

// tally counts answers by kind of request.
type tally map[string]int

func (n tally) add(history []porcupine.Operation) {
	for _, op := range history {
		in, out := op.Input.(input), op.Output.(output)
		if out.Unknown {
			n["no answer"]++
		} else {
			n[fmt.Sprintf("%s %d", in.Verb, out.Status)]++
		}
	}
}

// check fails unless the interesting cases occurred: a history of refusals proves
// nothing. Each expected case occurs about twenty times or more.
func (n tally) check(t *testing.T) {
	t.Helper()
	total := 0
	var all []string
	for _, what := range slices.Sorted(maps.Keys(n)) {
		total += n[what]
		all = append(all, fmt.Sprintf("%s: %d", what, n[what]))
	}
	t.Logf("%d requests (%s)", total, strings.Join(all, ", "))
	for _, what := range []string{
		"create 201", "create 409", "read 200", "read 404", "read mapping 200", "replace 200", "replace 412",
		"patch 200", "patch 412", "put mapping 200", "remove mapping 200", "remove mapping 404",
	} {
		if n[what] == 0 {
			t.Errorf("no request was answered with %q", what)
		}
	}
}

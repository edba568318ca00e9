package linear_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is the timeout of the search for an order in one round.
const patience = time.Minute

// seen is the entity tags of one record that a client has received, the latest last.
type seen []string

func (s seen) tag(m memory) string {
	switch {
	case m == unconditional:
		return ""
	case len(s) == 0:
		return `"never"`
	case m == outdated && len(s) > 1:
		return s[len(s)-2]
	}
	return s[len(s)-1]
}

// record runs one round, all clients at once, and returns its history.
func record(t *testing.T, c *caller, seed uint64, round int) []porcupine.Operation {
	t.Helper()
	histories := make([][]porcupine.Operation, clients)
	began := time.Now()
	var all sync.WaitGroup
	for i := range histories {
		all.Go(func() {
			tags := map[string]seen{}
			for _, p := range plan(seed, round, i) {
				op, err := send(t.Context(), c, p, tags, began)
				if err != nil {
					t.Errorf("seed %d, round %d, client %d: %v", seed, round, i, err)
				}
				op.ClientId = i
				if !p.Verb.reads() || !op.Output.(output).Unknown { // a read without an answer has no effect
					histories[i] = append(histories[i], op)
				}
			}
		})
	}
	all.Wait()
	return slices.Concat(histories...)
}

// send sends one request with the tags that its client has seen.
func send(ctx context.Context, c *caller, p planned, tags map[string]seen, began time.Time) (porcupine.Operation, error) {
	if tag := tags[p.Record].tag(p.tag); p.Verb == read {
		p.NoneMatch = tag
	} else {
		p.Match = tag
	}
	call := time.Since(began)
	out, err := c.do(ctx, p)
	answered := int64(time.Since(began))
	if out.Unknown {
		answered = math.MaxInt64 // it may still take effect
	}
	if have := tags[p.Record]; out.Tag != "" && out.Tag != have.tag(latest) {
		tags[p.Record] = append(have, out.Tag)
	}
	return porcupine.Operation{Input: p.input, Output: out, Call: int64(call), Return: answered}, err
}

// verdict is the checker's result for one round.
func verdict(history []porcupine.Operation) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(model, history, patience)
}

// reused returns a tag that two writes to one record answered, or "". Two records may
// have the same tag: each counts separately, starting from the time of its first write
// in microseconds.
func reused(history []porcupine.Operation) string {
	tags := map[[2]string]bool{} // by record and tag
	for _, op := range history {
		in, out := op.Input.(input), op.Output.(output)
		if in.Verb.reads() || out.Tag == "" {
			continue
		}
		key := [2]string{in.Record, out.Tag}
		if tags[key] {
			return out.Tag
		}
		tags[key] = true
	}
	return ""
}

// explain writes the evidence against a history: a picture of the round, and in the log
// the shortest prefix of a record's history that shows the error.
func explain(t *testing.T, history []porcupine.Operation, info porcupine.LinearizationInfo) {
	t.Helper()
	path := filepath.Join(t.ArtifactDir(), "history.html")
	if err := porcupine.VisualizePath(model, info, path); err != nil {
		t.Error(err)
	}
	var evidence []porcupine.Operation
	for _, part := range byRecord(history) {
		if res, _ := verdict(part); res != porcupine.Illegal {
			continue
		}
		if part = shortest(part); evidence == nil || len(part) < len(evidence) {
			evidence = part
		}
	}
	t.Logf("no order explains these requests:%s\npicture of the round, which -artifacts keeps: %s", lines(evidence), relative(t, path))
}

func relative(t *testing.T, path string) string {
	t.Helper()
	here, err := os.Getwd()
	if err == nil {
		path, err = filepath.Rel(here, path)
	}
	if err != nil {
		t.Error(err)
	}
	return path
}

// shortest returns the shortest illegal prefix of an illegal history.
func shortest(history []porcupine.Operation) []porcupine.Operation {
	var ends []int64
	for _, op := range history {
		ends = append(ends, op.Return)
	}
	slices.Sort(ends)
	i := sort.Search(len(ends)-1, func(i int) bool {
		res, _ := verdict(until(history, ends[i]))
		return res == porcupine.Illegal
	})
	return until(history, ends[i])
}

// until returns a history as it was known at a time.
func until(history []porcupine.Operation, end int64) (out []porcupine.Operation) {
	for _, op := range history {
		if op.Return > end {
			if op.Call > end || op.Input.(input).Verb.reads() {
				continue
			}
			op.Output, op.Return = output{Unknown: true}, math.MaxInt64
		}
		out = append(out, op)
	}
	return out
}

func lines(history []porcupine.Operation) (s string) {
	history = slices.SortedFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	for _, op := range history {
		end := time.Duration(op.Return).Round(time.Microsecond).String()
		if op.Return == math.MaxInt64 {
			end = "never"
		}
		s += fmt.Sprintf("\n%12s .. %-12s client %d  %s  %s", time.Duration(op.Call).Round(time.Microsecond), end, op.ClientId,
			op.Input.(input).Record, describe(op.Input.(input), op.Output.(output)))
	}
	return s
}

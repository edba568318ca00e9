package contract_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// tally counts the answers of one operation.
type tally struct{ good, refused, failed int }

// TestContract calls every operation and holds every answer against both
// descriptions.
func TestContract(t *testing.T) {
	s := newService(t)
	own := describe(t, s)
	file := loadFile(t)
	tallies := map[string]*tally{}
	for _, o := range s.Operations() {
		t.Run(o.ID, func(t *testing.T) {
			c := &checked{t: t, own: own, file: file[route(o.Method, o.Path)], seen: map[string]bool{}}
			tallies[o.ID] = &c.tally
			r := requests{t: t, s: s, o: o, plan: plans[o.ID], file: c.file, rng: rand.New(rand.NewPCG(1, 2))}
			r.send = func(q request) { c.check(q, s.ask(t, q)) }
			r.all()
			if c.good == 0 {
				t.Error("no request was answered with success")
			}
			if c.refused == 0 && !o.Public {
				t.Error("no request was refused")
			}
		})
	}
	for id := range plans {
		if tallies[id] == nil {
			t.Errorf("there is no operation %s", id)
		}
	}
	report(t, file, tallies)
}

// describe returns the service's own description.
func describe(t testing.TB, s *service) *contracttest.Contract {
	t.Helper()
	text, err := httpadapter.Document(s.Operations(), "", "v0.0.0-test")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contracttest.Load(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checked holds the answers of one operation against the descriptions.
type checked struct {
	tally
	t    *testing.T
	own  *contracttest.Contract
	file *described
	seen map[string]bool // what has been reported
}

func (c *checked) check(r request, a answer) {
	c.t.Helper()
	switch {
	case a.status < 300:
		c.good++
	case a.status < 500:
		c.refused++
	default:
		c.failed++
	}
	if err := c.own.Check(r.method, r.path, a.status, a.mediaType, a.body); err != nil {
		c.once("own description: "+shorten(err.Error()), "%s\n%s\nwas answered %s", err, r, a)
	}
	if c.file == nil || r.path != strings.TrimSuffix(r.path, "/") {
		return
	}
	c.file.used = true
	for _, v := range c.file.check(a) {
		if !excused(c.file.route, v) {
			key := fmt.Sprintf("%s, %d, %s", c.file.route, v.status, v.location)
			c.once(key, "the file: %s: %s\n%s\nwas answered %s", key, v.reason, r, a)
		}
	}
}

// once reports what has not been reported.
func (c *checked) once(key, format string, args ...any) {
	c.t.Helper()
	if !c.seen[key] {
		c.seen[key] = true
		c.t.Errorf(format, args...)
	}
}

func shorten(text string) string { return text[:min(len(text), 120)] }

// report fails for what was not called and for known errors that are none any
// more, and prints how much was called.
func report(t *testing.T, file map[string]*described, tallies map[string]*tally) {
	var sum tally
	for _, n := range tallies {
		sum.good, sum.refused, sum.failed = sum.good+n.good, sum.refused+n.refused, sum.failed+n.failed
	}
	called := 0
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if file[name].used {
			called++
		} else {
			t.Errorf("%s is in the file, and the service has no such operation", name)
		}
	}
	for _, k := range errata {
		if file != nil && !k.used {
			t.Errorf("no longer needed: %s", k)
		}
	}
	t.Logf("%d operations, %d of them in the file: %d requests were done, %d refused, %d failed; %d known errors of the file",
		len(tallies), called, sum.good, sum.refused, sum.failed, len(errata))
}

// operationsOf returns the table by operationId.
func operationsOf(s *service) map[string]operation.Operation {
	out := map[string]operation.Operation{}
	for _, o := range s.Operations() {
		out[o.ID] = o
	}
	return out
}

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
type tally struct {
	good, refused, failed int
	held                  int // against the file
}

// TestContract calls every operation and checks every answer against both descriptions.
func TestContract(t *testing.T) {
	table := newService(t)
	own := describe(t, table)
	file := loadFile(t, table)
	t.Run("the published file", func(t *testing.T) {
		if file == nil {
			t.Skip("GATEHOUSE_CONTRACT_DIR is not set: answers are compared with our own description only, see docs/wire/README.md#published-files")
		}
	})
	tallies := map[string]*tally{}
	for _, o := range table.Operations() {
		t.Run(o.ID, func(t *testing.T) {
			s := newService(t, plans[o.ID].options) // a separate service, so that lists contain what earlier requests created
			c := &checked{t: t, o: o, own: own, file: file[route(o.Method, o.Path)], seen: map[string]bool{}}
			defer func() { counted := c.tally; tallies[o.ID] = &counted }() // a pointer into c would keep the service in memory
			r := requests{t: t, s: s, o: o, plan: plans[o.ID], file: c.file, rng: rand.New(rand.NewPCG(1, 2))}
			r.send = func(q request) { c.check(q, s.ask(t, q)) }
			if r.plan.path == nil && o.Surface == operation.Portal && strings.Contains(o.Path, "{") {
				t.Fatal("no plan says what its path names: without one, the request would be one for the list")
			}
			r.all()
			if c.good == 0 {
				t.Error("no request was answered with success")
			}
			if c.refused == 0 && !o.Public {
				t.Error("no request was refused")
			}
		})
	}
	missing(t, table, file)
	report(t, tallies, file != nil && len(tallies) == len(table.Operations()))
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

// checked checks the answers of one operation against the descriptions.
type checked struct {
	tally
	t    *testing.T
	o    operation.Operation
	own  *contracttest.Contract
	file *described
	seen map[string]bool // errors reported already
}

func (c *checked) check(r request, a answer) {
	c.t.Helper()
	switch {
	case a.status < 400 || a.status == c.o.Status: // sign-on succeeds with a redirect, and a row with Refuses may only refuse
		c.good++
	case a.status < 500:
		c.refused++
	default:
		c.failed++
	}
	if err := c.ownCheck(r, a); err != nil {
		c.once("own description: "+shorten(err.Error()), "%s\n%s\nwas answered %s", err, r, a)
	}
	if c.file == nil {
		return
	}
	c.held++
	for _, v := range c.file.check(a) {
		if !excused(c.file.route, v) {
			key := fmt.Sprintf("%s, %d, %s", c.file.route, v.status, v.location)
			c.once(key, "the file: %s: %s\n%s\nwas answered %s", key, v.reason, r, a)
		}
	}
}

// ownCheck checks an answer against the service's own description. YAML is checked as
// the JSON that it represents.
func (c *checked) ownCheck(r request, a answer) error {
	text, err := a.json()
	if err != nil {
		return err
	}
	if c.o.Tail {
		return c.own.CheckOperation(c.o.ID, a.status, a.mediaType, text)
	}
	return c.own.Check(r.method, r.path, a.status, a.mediaType, text)
}

// once reports an error that has not been reported.
func (c *checked) once(key, format string, args ...any) {
	c.t.Helper()
	if !c.seen[key] {
		c.seen[key] = true
		c.t.Errorf(format, args...)
	}
}

func shorten(text string) string { return text[:min(len(text), 120)] }

// missing fails for every operation of the file, and every plan, that is not in the
// table.
func missing(t *testing.T, s *service, file map[string]*described) {
	ids, routes := map[string]bool{}, map[string]bool{}
	for _, o := range s.Operations() {
		ids[o.ID], routes[route(o.Method, o.Path)] = true, true
	}
	for _, id := range slices.Sorted(maps.Keys(plans)) {
		if !ids[id] {
			t.Errorf("there is no operation %s", id)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		if !routes[name] {
			t.Errorf("%s is in the file, and the service has no such operation", name)
		}
	}
}

// report prints the number of calls, and fails for known errors of the file that no
// longer occur.
func report(t *testing.T, tallies map[string]*tally, everything bool) {
	var sum tally
	for _, n := range tallies {
		sum.good, sum.refused, sum.failed, sum.held = sum.good+n.good, sum.refused+n.refused, sum.failed+n.failed, sum.held+n.held
	}
	for _, k := range errata {
		if everything && !k.used.Load() {
			t.Errorf("no longer needed: %s", k)
		}
	}
	t.Logf("%d operations: %d requests were done, %d refused, %d failed; %d answers were held against the file, which has %d known errors",
		len(tallies), sum.good, sum.refused, sum.failed, sum.held, len(errata))
}

package health_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/app/health"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// check returns a component in a state. wrong is the text of its error, if any.
func check(name string, status health.Status, wrong string) health.Check {
	return health.Check{Name: name, Type: "system", Run: func(context.Context) (health.Status, error) {
		if wrong != "" {
			return status, errors.New(wrong)
		}
		return status, nil
	}}
}

func service(checks ...health.Check) *health.Service {
	return &health.Service{Checks: checks, Now: func() time.Time { return now }, Version: "v1.2.3", Path: "/ready"}
}

// TestProbes states the responses of both probes for combinations of components. Hello
// reports and never fails. Ready fails if and only if a component fails, and names
// exactly the failing ones.
func TestProbes(t *testing.T) {
	const pass, warn, fail = health.Pass, health.Warn, health.Fail
	for name, c := range map[string]struct {
		checks  []health.Check
		whole   health.Status
		refusal []string // nil: ready
	}{
		"no component":  {nil, pass, nil},
		"all is well":   {[]health.Check{check("a", pass, ""), check("b", pass, "")}, pass, nil},
		"degraded":      {[]health.Check{check("a", warn, "slow"), check("b", pass, "")}, warn, nil},
		"one fails":     {[]health.Check{check("a", pass, ""), check("b", fail, "away"), check("c", warn, "slow")}, fail, []string{"b: away"}},
		"several fail":  {[]health.Check{check("a", fail, "away"), check("b", fail, "full")}, fail, []string{"a: away", "b: full"}},
		"failing first": {[]health.Check{check("a", fail, ""), check("b", pass, "")}, fail, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := service(c.checks...)
			r, err := s.Hello(t.Context(), struct{}{})
			if err != nil || r.Status != c.whole || r.Version != "v1.2.3" || len(r.Details) != len(c.checks) {
				t.Errorf("hello: %+v, %v", r, err)
			}
			for _, part := range c.checks {
				status, wrong := part.Run(t.Context())
				d := r.Details[part.Name]
				if d.Status != status || d.Type != "system" || !d.Time.Equal(now) || (wrong != nil) != (d.Output != "") || wrong != nil && d.Output != wrong.Error() {
					t.Errorf("hello says of %s: %+v", part.Name, d)
				}
			}
			if _, err = s.Ready(t.Context(), struct{}{}); c.refusal == nil && err == nil {
				return
			}
			if c.refusal == nil || fault.KindOf(err) != fault.Unavailable || fault.CodeOf(err) != "health.fail" {
				t.Fatalf("ready: %v", err)
			}
			for _, part := range c.refusal {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%v does not name %s", err, part)
				}
			}
			if strings.Contains(err.Error(), "slow") {
				t.Errorf("%v names what only degrades", err)
			}
		})
	}
}

// TestRefusalIsStable states that the text of a refusal is the same for each probe, so
// that a log that merges repeated lines shows one.
func TestRefusalIsStable(t *testing.T) {
	s := service(check("c", health.Fail, "3"), check("a", health.Fail, "1"), check("e", health.Fail, "5"), check("b", health.Fail, "2"), check("d", health.Fail, "4"))
	_, first := s.Ready(t.Context(), struct{}{})
	for range 20 {
		if _, err := s.Ready(t.Context(), struct{}{}); err.Error() != first.Error() {
			t.Fatalf("%v, then %v", first, err)
		}
	}
}

// TestStopping states that a service that is about to stop is not ready, whatever its
// state, runs no check, and that Hello still responds.
func TestStopping(t *testing.T) {
	stopping, ran := true, 0
	s := service(health.Check{Name: "a", Run: func(context.Context) (health.Status, error) {
		ran++
		return health.Pass, nil
	}})
	s.Stopping = func() bool { return stopping }
	if _, err := s.Ready(t.Context(), struct{}{}); fault.CodeOf(err) != "health.fail" || ran != 0 {
		t.Errorf("%v after %d checks", err, ran)
	}
	if r, err := s.Hello(t.Context(), struct{}{}); err != nil || r.Status != health.Pass {
		t.Errorf("hello: %+v, %v", r, err)
	}
	stopping = false
	if _, err := s.Ready(t.Context(), struct{}{}); err != nil {
		t.Errorf("ready: %v", err)
	}
}

// TestChecksAreBounded states that each check has a timeout of its own: a component
// that does not respond does not delay the others.
func TestChecksAreBounded(t *testing.T) {
	var deadlines []time.Time
	slow := func(ctx context.Context) (health.Status, error) {
		if at, ok := ctx.Deadline(); ok {
			deadlines = append(deadlines, at)
		}
		return health.Pass, ctx.Err()
	}
	r, err := service(health.Check{Name: "a", Run: slow}, health.Check{Name: "b", Run: slow}).Hello(t.Context(), struct{}{})
	if err != nil || len(deadlines) != 2 || deadlines[1].Before(deadlines[0]) || r.Details["b"].Output != "" {
		t.Errorf("%v, %+v, %v", deadlines, r, err)
	}
}

// TestOperations states that all probes are public except those for the super-admin,
// and that each responds as its example says.
func TestOperations(t *testing.T) {
	ops := service(check("store", health.Pass, "")).Operations()
	if err := operation.Check(ops); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"health.front": "GET / true", "health.hello": "GET /hello true", "health.ready": "GET /ready true", "health.license": "POST /license true", "admin.license": "POST /admin/license false", "admin.hello": "GET /admin/hello false", "admin.reload": "GET /admin/system/reload false",
	}
	for _, o := range ops {
		have := o.Method + " " + o.Path + map[bool]string{true: " true", false: " false"}[o.Public]
		if have != want[o.ID] {
			t.Errorf("%s: %s", o.ID, have)
		}
		delete(want, o.ID)
		out, err := o.Do(t.Context(), &operation.Call{Spec: &o.Spec})
		if err != nil {
			t.Errorf("%s: %v", o.ID, err)
			continue
		}
		text, err := json.Marshal(out)
		if status := `"` + map[bool]string{true: "Status", false: "status"}[o.ID == "health.license" || o.ID == "admin.license" || o.ID == "health.front"] + `":`; err != nil || !strings.Contains(string(text), status) {
			t.Errorf("%s: %s, %v", o.ID, text, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	same := service()
	if same.Path = "/hello"; operation.Check(same.Operations()) != nil {
		t.Error("the health check cannot be called hello")
	}
}

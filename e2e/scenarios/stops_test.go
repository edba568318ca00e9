package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// changeEvery is the interval of the changes during which the service is stopped and
// killed.
const changeEvery = 50 * time.Millisecond

// TestStops stops a single service repeatedly under changes, as operators do, with the
// default grace period. Gateways whose connection is refused during a load never load
// again, as real ones: this must happen to none of them.
func TestStops(t *testing.T) {
	w := newUnrest(t, haste)
	for range w.rounds {
		w.pause()
		w.process.Stop(t)
		w.process.Start(t)
		w.awaitReady(t)
	}
	w.finish(t, "stops")
}

// TestSupervisedKills kills the child of a supervisor. No connection is refused, so no
// gateway is wedged, and no acknowledged change is lost. Gateways have realistic
// intervals: a request that is running during a kill is lost, which only a proxy can
// prevent, and gateways with short intervals nearly always have one running.
func TestSupervisedKills(t *testing.T) {
	w := newUnrest(t, gatewaysim.Intervals{}, "--supervise")
	for range w.rounds {
		w.pause()
		w.process.SignalChild(t, syscall.SIGKILL)
		w.awaitReady(t)
	}
	w.finish(t, "kills")
	for _, err := range w.refused {
		t.Error("a connection was refused:", err)
	}
	w.replace(t)
	w.process.Stop(t)
}

// replace asks the supervisor for a new child, which starts when the old one has
// answered gateways for its grace period.
func (w *unrest) replace(t *testing.T) {
	t.Helper()
	w.process.Signal(t, syscall.SIGHUP)
	until(t, startLimit, "the end of the old child", func() error {
		if status := statusOf(w.admin.call(t.Context(), http.MethodGet, "/health", nil, nil)); status != http.StatusServiceUnavailable {
			return fmt.Errorf("the probe is answered %d", status)
		}
		return nil
	})
	w.awaitReady(t)
}

// unrest is a service under changes, with two gateways that load them.
type unrest struct {
	*service
	gateways []*gatewaysim.Gateway
	rounds   int
	pause    func()
	began    time.Time
	end      func()

	mu              sync.Mutex
	tried, acked    int
	cutOff, told503 int
	refused         []error // connections
	bad             problems
}

func newUnrest(t *testing.T, pace gatewaysim.Intervals, flags ...string) *unrest {
	t.Helper()
	redis := harness.NewRedis(t).Addr()
	env := onSQLite(t.TempDir()).bootstrapping().with(environment{"REDISADDRS": redis, "SHUTDOWN_GRACEPERIOD": ""})
	r := random(t)
	w := &unrest{service: serve(t, env, flags...), rounds: 5, began: time.Now()}
	if long() {
		w.rounds = 100
	}
	w.pause = func() { time.Sleep(time.Duration(200+r.IntN(1300)) * time.Millisecond) }
	for _, host := range []string{"gw-1", "gw-2"} {
		g := startGatewayWith(t, w.node.base, redis, host, pace)
		waitFor(t, g, host+" loaded and subscribed", func(s gatewaysim.State) bool { return s.Ready && s.Subscribed })
		w.gateways = append(w.gateways, g)
	}
	w.api.do(t, http.MethodPost, classicAPIs, classicAPI("shop", nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.change(ctx) }()
	w.end = func() { cancel(); <-done }
	t.Cleanup(w.end)
	return w
}

// change renames one API at the interval of the test.
func (w *unrest) change(ctx context.Context) {
	for tick := time.NewTicker(changeEvery); ctx.Err() == nil; <-tick.C {
		w.mu.Lock()
		w.tried++
		name := fmt.Sprint("shop ", w.tried)
		w.mu.Unlock()
		err := w.api.call(context.WithoutCancel(ctx), http.MethodPut, classicAPIs+"/shop", classicAPI("shop", object{"name": name}), nil)
		w.note(err)
	}
}

func (w *unrest) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acked = w.tried
	case statusOf(err) == http.StatusServiceUnavailable:
		w.told503++
	case errors.Is(err, syscall.ECONNREFUSED):
		w.cutOff++
		w.refused = append(w.refused, err)
	case errors.Is(err, errCutOff):
		w.cutOff++
	default:
		w.bad.add(err)
	}
}

// finish ends the changes and checks that the gateways have the stored state.
func (w *unrest) finish(t *testing.T, what string) {
	t.Helper()
	w.end()
	w.bad.report(t)
	var stored struct {
		Definition struct {
			Name string `json:"name"`
		} `json:"api_definition"`
	}
	w.api.get(t, classicAPIs+"/shop", &stored)
	n := 0
	if _, err := fmt.Sscanf(stored.Definition.Name, "shop %d", &n); err != nil || n < w.acked || n > w.tried {
		t.Errorf("stored is %q, %d was acknowledged and %d tried; %v", stored.Definition.Name, w.acked, w.tried, err)
	}
	for i, g := range w.gateways {
		if s := g.State(); s.Wedged != "" {
			t.Errorf("gateway %d has stopped reloading: %s", i+1, s.Wedged)
			continue
		}
		waitFor(t, g, fmt.Sprintf("gateway %d has what is stored", i+1), func(s gatewaysim.State) bool {
			for _, a := range s.APIs {
				if a.ID == "shop" {
					return a.Name == stored.Definition.Name
				}
			}
			return false
		})
	}
	checkHealthy(t, w.gateways)
	t.Logf("%d %s in %v: %d changes tried, %d refused with 503, %d got no answer", w.rounds, what,
		time.Since(w.began).Round(time.Millisecond), w.tried, w.told503, w.cutOff)
}

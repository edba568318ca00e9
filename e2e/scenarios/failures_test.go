package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/gatewaysim"
	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// phaseLimit is how long writers may take to recover after a failure.
const phaseLimit = time.Minute

// takeoverLimit is how long announcements may wait for another replica when the announcing one
// was killed.
const takeoverLimit = time.Minute

// storm is a cluster with concurrent writers.
type storm struct {
	*cluster
	writers []*writer
	bad     problems

	mu      sync.Mutex
	away    map[*service]bool // killed: it may interrupt requests
	slowest time.Duration     // pair of acknowledged writes since the last reading
	refusal time.Duration     // slowest of all refusals
}

// TestFailures kills each replica, then PostgreSQL, then Redis, while clients write. No
// acknowledged write is lost, gateways end up with the stored state, and the only errors are
// temporary.
func TestFailures(t *testing.T) {
	database, announcer := harness.NewPostgres(t), harness.NewRedis(t)
	s := &storm{cluster: newCluster(t, database.DSN(), announcer.Addr()), writers: newWriters(4), away: map[*service]bool{}}
	issuer := gatewaysim.NewIssuer()
	t.Cleanup(issuer.Close)
	record := idp{ClientIDPID: sharedIDP, Name: "Shared", Issuer: issuer.URL(), JWKSURI: issuer.JWKSURL()}
	if err := s.replicas[0].api.createIDP(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	finished := s.writeAlways(ctx)
	s.awaitWrites(t, "writes before any failure")
	rounds := 1
	if long() {
		rounds = 5
	}
	for range rounds {
		s.loseReplicas(t)
		s.loseDatabase(t, database)
		s.loseAnnouncer(t, announcer)
	}
	cancel()
	finished()
	s.bad.report(t)
	t.Logf("slowest refusal of a write: %v", s.refusal.Round(time.Millisecond))
	for _, r := range s.replicas {
		if err := verifyAll(t.Context(), r.api, s.writers); err != nil {
			t.Errorf("on %s: %v", r.addr, err)
		}
	}
	s.checkConverged(t, issuer)
	checkHealthy(t, s.gateways)
}

// writeAlways makes every writer write to one replica after the other until ctx ends.
func (s *storm) writeAlways(ctx context.Context) (wait func()) {
	var running sync.WaitGroup
	seen := func(p idp) error { return torn(p, s.writers) }
	for i, w := range s.writers {
		running.Go(func() {
			for turn := i; ctx.Err() == nil; turn++ {
				to := s.replicas[turn%len(s.replicas)]
				began := time.Now()
				// Not cancelled with ctx: a request must have ended before its value is compared.
				err := w.write(context.WithoutCancel(ctx), to.api, seen)
				s.note(to, err, time.Since(began))
				if err == nil {
					continue
				}
				select { // do not spin during an outage
				case <-ctx.Done():
				case <-time.After(pollEvery):
				}
			}
		})
	}
	return running.Wait
}

// note checks one outcome: an unavailable store is fine, a missing answer only from a killed
// replica.
func (s *storm) note(to *service, err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.slowest = max(s.slowest, took)
	case isAway(err):
		s.refusal = max(s.refusal, took)
	case errors.Is(err, errCutOff) && s.away[to]:
	default:
		s.bad.add(fmt.Errorf("%s after %v: %w", to.addr, took, err))
	}
}

func (s *storm) setAway(r *service, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[r] = away
}

// slowestSince returns the longest pair of writes since the last call.
func (s *storm) slowestSince() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	slowest := s.slowest
	s.slowest = 0
	return slowest.Round(time.Millisecond)
}

// awaitWrites waits until every writer has made progress.
func (s *storm) awaitWrites(t *testing.T, what string) {
	t.Helper()
	const more = 10
	var start []int
	for _, w := range s.writers {
		acked, _ := w.progress()
		start = append(start, acked)
	}
	s.slowestSince()
	took := until(t, phaseLimit, what, func() error {
		for i, w := range s.writers {
			if acked, _ := w.progress(); acked < start[i]+more {
				return fmt.Errorf("%s got %d of %d writes acknowledged", w.name, acked-start[i], more)
			}
		}
		return nil
	})
	t.Logf("%s: %d writes by each of %d clients in %v, slowest two writes %v", what, more, len(s.writers), took.Round(time.Millisecond), s.slowestSince())
}

// loseReplicas kills one replica after the other, so that the announcing one is among them.
func (s *storm) loseReplicas(t *testing.T) {
	for i, lost := range s.replicas {
		s.setAway(lost, true)
		lost.process.Kill()
		s.awaitWrites(t, fmt.Sprintf("replica %d killed", i+1))
		lost.restart(t)
		s.setAway(lost, false)
	}
	s.awaitWrites(t, "all replicas back")
}

func (s *storm) loseDatabase(t *testing.T, database *harness.Server) {
	began := time.Now()
	database.Stop(t)
	for _, w := range s.writers {
		_, before := w.progress()
		until(t, phaseLimit, "a refusal of "+w.name, func() error {
			if _, failed := w.progress(); failed == before {
				return errors.New("no write was refused although PostgreSQL is away")
			}
			return nil
		})
	}
	s.checkAway(t)
	database.Start(t)
	t.Logf("PostgreSQL was away for %v", time.Since(began).Round(time.Millisecond))
	for _, r := range s.replicas {
		r.awaitReady(t)
	}
	s.awaitWrites(t, "PostgreSQL back")
}

// checkAway checks every replica while PostgreSQL is away.
func (s *storm) checkAway(t *testing.T) {
	t.Helper()
	var slowest time.Duration
	timed := func(c *client, method, path string) error {
		began := time.Now()
		err := c.call(t.Context(), method, path, nil, nil)
		slowest = max(slowest, time.Since(began))
		return err
	}
	for _, r := range s.replicas {
		for _, path := range []string{"/system/clientidps", "/system/apis", "/system/policies", "/register/node"} {
			if err := timed(r.node, http.MethodGet, path); err != nil {
				t.Errorf("without PostgreSQL: %v", err)
			}
		}
		for _, path := range []string{clientIDPs, idpPath(sharedIDP), mappingPath(sharedIDP, ordersAPI), "/api/system/nodes"} {
			err := timed(r.api, http.MethodGet, path)
			if err != nil && !isAway(err) {
				t.Errorf("without PostgreSQL: %v", err)
			}
		}
		for path, want := range map[string]int{idpPath("nobody"): http.StatusInternalServerError, "/api/hooks/nobody": http.StatusServiceUnavailable} {
			if err := timed(r.api, http.MethodDelete, path); statusOf(err) != want || !isAway(err) {
				t.Errorf("a write without PostgreSQL: %v, want %d", err, want)
			}
		}
	}
	t.Logf("slowest answer without PostgreSQL: %v", slowest.Round(time.Millisecond))
}

func (s *storm) loseAnnouncer(t *testing.T, announcer *harness.Server) {
	_, failed := s.writers[0].progress()
	announcer.Stop(t)
	s.awaitWrites(t, "Redis stopped")
	announcer.Start(t)
	for i, g := range s.gateways {
		waitFor(t, g, fmt.Sprintf("gateway %d listens again", i+1), func(st gatewaysim.State) bool { return st.Subscribed })
	}
	s.awaitWrites(t, "Redis back")
	if _, now := s.writers[0].progress(); now != failed {
		t.Errorf("%d writes failed because Redis was away", now-failed)
	}
}

// checkConverged waits until every gateway has loaded, and uses, the stored state.
func (s *storm) checkConverged(t *testing.T, issuer *gatewaysim.Issuer) {
	t.Helper()
	began := time.Now()
	want, err := s.replicas[0].api.idp(t.Context(), sharedIDP)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.gateways {
		until(t, takeoverLimit, "a gateway with the stored registry", func() error { return sameBinding(g, want) })
	}
	t.Logf("gateways converged in %v", time.Since(began).Round(time.Millisecond))
	change := scopes(ordersAPI, map[string]any{"orders:read": ordersPolicy})
	if _, err := s.replicas[2].api.patchMappings(t.Context(), sharedIDP, change); err != nil {
		t.Fatal(err)
	}
	token := issuer.Sign(map[string]any{"iss": issuer.URL(), "sub": "alice", "scope": "orders:read"})
	for _, g := range s.gateways {
		waitFor(t, g, "acceptance after all failures", func(gatewaysim.State) bool {
			return g.Decide(ordersAPI, token).Status == http.StatusOK
		})
	}
}

package scenarios

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// TestCrash kills the service at random moments under concurrent writers of one record.
// Every acknowledged write must be there after the restart, and every write of one
// request must be there completely or not at all.
func TestCrash(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { crash(t, onSQLite(t.TempDir()).bootstrapping()) })
	t.Run("postgres", func(t *testing.T) { crash(t, onPostgres(t.TempDir(), harness.Database(t)).bootstrapping()) })
}

func crash(t *testing.T, env environment) {
	rounds, longest := 6, 400
	if long() {
		rounds = 200
	}
	r := random(t)
	s := serve(t, env)
	if err := s.api.createIDP(t.Context(), idp{ClientIDPID: sharedIDP, Name: "shared", JWKSURI: "http://127.0.0.1:9/jwks.json"}); err != nil {
		t.Fatal(err)
	}
	writers := newWriters(8)
	began := time.Now()
	for round := range rounds {
		delay := time.Duration(r.IntN(longest)) * time.Millisecond
		writeUntilKilled(t, s, writers, delay)
		s.restart(t)
		if err := verifyAll(t.Context(), s.api, writers); err != nil {
			t.Fatalf("round %d, killed after %v: %v", round, delay, err)
		}
	}
	acked, unknown := 0, 0
	for _, w := range writers {
		a, f := w.progress()
		acked, unknown = acked+a, unknown+f
	}
	if acked < rounds {
		t.Errorf("only %d acknowledged writes in %d rounds", acked, rounds)
	}
	t.Logf("%d kills in %v: %d writes acknowledged, %d cut off, none lost or torn", rounds, time.Since(began).Round(time.Millisecond), acked, unknown)
}

// TestTakeover kills the announcing process. Another one soon takes over, and so does a
// single one that is restarted.
func TestTakeover(t *testing.T) {
	redis := harness.NewRedis(t).Addr()
	told := environment{"REDISADDRS": redis}
	t.Run("sqlite", func(t *testing.T) {
		s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(told))
		takeovers(t, redis, func() *service { s.process.Kill(); s.restart(t); return s }, func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		all := launchAll(t, 2, onPostgres("", harness.Database(t)).bootstrapping().with(told))
		takeovers(t, redis, func() *service { all[0].process.Kill(); return all[1] }, func() {
			all[0].restart(t)
			all[0], all[1] = all[1], all[0]
		})
	})
}

// takeovers measures the time from a change after a kill until it is announced.
func takeovers(t *testing.T, redis string, die func() *service, heal func()) {
	messages := listen(t, redis)
	var took []time.Duration
	for i := range 6 {
		s, id := die(), fmt.Sprint("change-", i)
		if err := s.api.createIDP(t.Context(), idp{ClientIDPID: id, Name: id, JWKSURI: "https://idp.example.com/jwks.json"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		countUntil(t, messages, id)
		took = append(took, time.Since(began).Round(time.Millisecond))
		heal()
	}
	t.Logf("from the acknowledgement after a death until the announcement: %v", took)
}

// writeUntilKilled runs all writers concurrently until the service is killed.
func writeUntilKilled(t *testing.T, s *service, writers []*writer, delay time.Duration) {
	t.Helper()
	var bad problems
	var running sync.WaitGroup
	seen := func(p idp) error { return torn(p, writers) }
	kill := time.AfterFunc(delay, s.process.Kill)
	defer kill.Stop()
	for _, w := range writers {
		running.Go(func() {
			for {
				err := w.write(t.Context(), s.api, seen)
				if err == nil {
					continue
				}
				if !errors.Is(err, errCutOff) {
					bad.add(err)
				}
				return
			}
		})
	}
	running.Wait()
	s.process.Kill() // also when the writers ended for another reason
	bad.report(t)
	if t.Failed() {
		t.FailNow()
	}
}

package scenarios

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/e2e/harness"
)

// listeners configures which lanes get which events. Events are named by their numbers.
type listeners struct {
	lanes, events int
	hears         func(lane, event int) bool // which lane gets which event
	secret        func(lane int) string      // the signing secret of a lane
	place         func(told) int             // starts at 0, and grows with each event of a lane
	once          bool                       // each event has one delivery, whatever its outcome
}

const lanePrefix = "listening-"

// laneName is the name of a lane: the path of its address.
func laneName(lane int) string { return fmt.Sprint(lanePrefix, lane) }

// told is an event as a body describes it.
type told struct {
	Message struct {
		Name string
		ID   any
	}
}

func toldOf(body []byte) (out told) {
	_ = json.Unmarshal(body, &out)
	return out
}

// exchange is a service that sends events to a receiver.
type exchange struct {
	*receiver
	// happen causes an event. After an error it is called again, and must not cause an event twice:
	// that would hide a lost one.
	happen func(name string) error
	list   func(state string) ([]listed, error) // deliveries of all lanes
	resend func(listed) error
}

// listed is a delivery as its operation lists it.
type listed struct {
	ID, Body string
	Lane     string `json:"org_id"` // for a portal, the path names the lane
}

func (d listed) key() string { return d.Lane + "/" + toldOf([]byte(d.Body)).Message.Name }

// dying runs a scenario with a process that is killed and restarted, and with two that share a
// database: one is killed and restarted while the other sends. base is the address for clients.
func dying(t *testing.T, env environment, scenario func(t *testing.T, base string, kill func())) {
	t.Run("sqlite", func(t *testing.T) {
		s := serve(t, onSQLite(t.TempDir()).bootstrapping().with(env))
		scenario(t, s.admin.base, func() { s.process.Kill(); s.restart(t) })
	})
	t.Run("postgres", func(t *testing.T) {
		all := launchAll(t, 2, onPostgres("", harness.Database(t)).bootstrapping().with(env))
		next := 0
		scenario(t, harness.NewBalancer(t, addresses(all)...).URL(), func() {
			one := all[next%2]
			one.process.Kill()
			time.Sleep(time.Second)
			one.restart(t)
			next++
		})
	})
}

// writerCount is how many clients cause events concurrently. Events are named by their numbers: a
// client causes every writerCount-th one, one after the other.
const writerCount = 4

// run causes events while the service is killed at random moments: each arrives, in the order of
// its lane, and signed.
func (x *exchange) run(t *testing.T, kills int, kill func()) {
	t.Helper()
	// Events are delivered from when the first process has begun to listen.
	until(t, startLimit, "the first event", func() error {
		if err := x.happen("probe"); err != nil {
			return err
		}
		// With bad luck the receiver refuses all attempts, and an unchanged record causes no
		// further event.
		if err := x.again(map[string]bool{}); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
		if !x.heard("probe") {
			return fmt.Errorf("nothing has arrived")
		}
		return nil
	})
	began := time.Now()
	var writers sync.WaitGroup
	for first := range writerCount {
		writers.Go(func() {
			for i := first; i < x.events; i += writerCount {
				until(t, startLimit, "an event", func() error { return x.happen(strconv.Itoa(i)) })
			}
		})
	}
	for range kills {
		time.Sleep(time.Duration(x.chance(400)) * time.Millisecond)
		kill()
	}
	writers.Wait()
	rested := x.settle(t)
	x.verify(t, rested)
	t.Logf("%d events, %d kills in %v: %d attempts, %d refused, %d repeated, %d sent again on request", x.events, kills, time.Since(began).Round(time.Millisecond), x.attempts, x.refused, x.repeated, len(rested))
}

// again repeats resting deliveries, and adds them to rested.
func (x *exchange) again(rested map[string]bool) error {
	failed, err := x.list("failed")
	if err != nil {
		return err
	}
	for _, d := range failed {
		rested[d.key()] = true
		if err := x.resend(d); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the end of all deliveries. Resting ones are repeated, and returned.
func (x *exchange) settle(t *testing.T) map[string]bool {
	t.Helper()
	rested, limit := map[string]bool{}, 3*time.Minute
	if long() {
		limit = 10 * time.Minute
	}
	until(t, limit, "the end of all deliveries", func() error {
		if err := x.again(rested); err != nil {
			return err
		}
		if n := len(x.missing()); n > 0 {
			return fmt.Errorf("%d have not arrived", n)
		}
		for _, state := range []string{"pending", "failed"} {
			left, err := x.list(state)
			if err != nil {
				return err
			}
			if len(left) > 0 {
				return fmt.Errorf("%d are %s", len(left), state)
			}
		}
		return nil
	})
	return rested
}

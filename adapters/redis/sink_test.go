package redis_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/adapters/redis"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/core/signal"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/notify/notifytest"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// open returns a client that is closed after the test.
func open(t testing.TB, c redis.Config) *redis.Client {
	t.Helper()
	if c.Grace == 0 {
		c.Grace = 300 * time.Millisecond
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	client, err := redis.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestSink(t *testing.T) {
	notifytest.Run(t, func(t testing.TB) notifytest.Rig {
		s := newServer(t)
		g := listen(t, s.addr)
		up := func() {
			n := g.times()
			s.start(t)
			g.await(t, n+1)
		}
		sink := redis.NewSink(open(t, redis.Config{Addrs: []string{s.addr}}), signal.Secret(g.secret))
		return notifytest.Rig{Sink: sink, Received: g.received, Down: s.stop, Up: up}
	})
}

// world is a store, a relay and gateways around a Redis server.
type world struct {
	*testing.T
	db       *memdb.DB
	server   *server
	gateways []*gateway
	relay    *relay.Relay
	stop     func() // ends the relay
	want     []signal.Signal
}

func newWorld(t *testing.T, gateways int) *world {
	s := newServer(t)
	var all []*gateway
	for range gateways {
		all = append(all, listen(t, s.addr))
	}
	return newWorldAt(t, s, all...)
}

// newWorldAt starts a relay at an existing server.
func newWorldAt(t *testing.T, s *server, gateways ...*gateway) *world {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, db: db, server: s, gateways: gateways}
	w.relay, w.stop = w.process("one")
	eventually(t, "the relay holds the lease", func() bool { return w.relay.Status().Holder })
	return w
}

// process runs a relay; stop ends it and waits for its end.
func (w *world) process(holder string) (r *relay.Relay, stop func()) {
	client := open(w, redis.Config{Addrs: []string{w.server.addr}, Grace: 5 * time.Second})
	r = relay.New(relay.Config{ChangeLog: w.db, Leases: w.db, Sink: redis.NewSink(client, signal.Secret(w.gateways[0].secret)), Signals: signal.Table{registry.Kind: signal.Always(signal.ClientIdPChanged, "client_idp_id")}, Holder: holder,
		Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = r.Run(ctx) }()
	stop = func() { cancel(); <-done }
	w.Cleanup(stop)
	return r, stop
}

// change commits one identity provider and returns how long that took.
func (w *world) change(alias string) time.Duration {
	w.Helper()
	w.want = append(w.want, signal.Signal{Command: signal.ClientIdPChanged, Payload: alias})
	scope, err := tenant.Of("5f1a0c5d8e3b2a1f00000001")
	if err != nil {
		w.Fatal(err)
	}
	began := time.Now()
	if _, err = w.db.Update(w.Context(), scope, func(wr store.Writer) error {
		return wr.Put(w.Context(), store.Record{Org: scope.Org(), Kind: registry.Kind, ID: alias, Doc: []byte("{}"),
			Keys: []store.Key{{Index: "client_idp_id", Value: alias, Unique: true}}})
	}); err != nil {
		w.Fatal(err)
	}
	return time.Since(began)
}

// converge waits until every gateway has received everything, and fails if something
// came more than once or out of order.
func (w *world) converge() {
	w.Helper()
	for i, g := range w.gateways {
		eventually(w, fmt.Sprintf("gateway %d has been told everything", i), func() bool { return len(changes(g.received())) >= len(w.want) })
		if have := changes(g.received()); !slices.Equal(have, w.want) {
			w.Errorf("gateway %d was told %v, want %v", i, have, w.want)
		}
	}
}

// changes leaves out the reload-everything announcements, which gateways get after each
// outage.
func changes(all []signal.Signal) []signal.Signal {
	return slices.DeleteFunc(all, func(s signal.Signal) bool { return slices.Contains(signal.CatchUp(), s) })
}

// TestOutage: commits during an outage of Redis are announced after it, once, in order,
// to every gateway; requests are not affected.
func TestOutage(t *testing.T) {
	w := newWorld(t, 2)
	for i := range 3 {
		w.change(fmt.Sprintf("before-%d", i))
	}
	w.converge()
	for round := range 3 {
		w.server.stop()
		for i := range 20 {
			if took := w.change(fmt.Sprintf("during-%d-%d", round, i)); took > time.Second {
				t.Errorf("a write took %s while Redis was stopped", took)
			}
		}
		eventually(t, "the relay notices", func() bool { s := w.relay.Status(); return s.Error != "" && s.Lag == 20 })
		w.server.start(t)
		w.converge()
		w.change(fmt.Sprintf("after-%d", round))
		w.converge()
	}
	eventually(t, "the relay is content", func() bool { s := w.relay.Status(); return s.Error == "" && s.Lag == 0 })
}

// TestIdleRestart: a restart without announcements in between loses nothing either.
func TestIdleRestart(t *testing.T) {
	w := newWorld(t, 3)
	w.change("before")
	w.converge()
	w.server.stop()
	w.server.start(t)
	w.change("after")
	w.converge()
}

// TestOutageAtStart: Redis is away when the service starts.
func TestOutageAtStart(t *testing.T) {
	s := newServer(t)
	g := listen(t, s.addr)
	s.stop()
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{s.addr}}), signal.Secret(g.secret))
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}
	for range 3 {
		if err := sink.Deliver(t.Context(), as); err == nil {
			t.Fatal("delivered without a listener")
		}
	}
	s.start(t)
	eventually(t, "it gets through", func() bool { return sink.Deliver(t.Context(), as) == nil })
	eventually(t, "the gateway is told", func() bool { return slices.Equal(g.received(), []signal.Signal{as[0].Signal}) })
}

// TestFirstDelivery: a process that starts while gateways have no subscription, because
// Redis comes back or has just come back, waits for a subscriber. A gateway that
// subscribes only after the first announcement is told to reload.
func TestFirstDelivery(t *testing.T) {
	s := newServer(t)
	early, late := listen(t, s.addr), listen(t, s.addr)
	first, second := early.pause(t, 1), late.pause(t, 0)
	w := newWorldAt(t, s, early, late)
	w.change("a")
	time.Sleep(300 * time.Millisecond) // time enough to lose it
	if have := w.relay.Status(); have.Lag != 1 {
		t.Errorf("without listeners: %+v", have)
	}
	first()
	eventually(t, "the first gateway is told", func() bool { return slices.Equal(early.received(), w.want) })
	second()
	eventually(t, "the second gateway is told to reload everything", func() bool { return slices.Equal(late.received(), signal.CatchUp()) })
	eventually(t, "nothing is left to do", func() bool { s := w.relay.Status(); return s.Error == "" && s.Lag == 0 })
}

// TestUnheard: an announcement without subscribers does not count as sent, and is
// repeated for the first gateway that subscribes.
func TestUnheard(t *testing.T) {
	w := newWorld(t, 1)
	w.change("before")
	w.converge()
	resume := w.gateways[0].pause(t, 0)
	w.change("during")
	eventually(t, "the relay notices", func() bool {
		s := w.relay.Status()
		return strings.Contains(s.Error, "no gateway listens") && s.Lag == 1
	})
	resume()
	eventually(t, "the gateway is told", func() bool { return len(w.gateways[0].received()) >= len(w.want)+len(signal.CatchUp()) })
	if have := w.gateways[0].received(); !slices.Contains(have, w.want[1]) {
		t.Errorf("told %v", have)
	}
}

// miss lets the first of two gateways lose its subscription and miss the second of two
// announcements. The returned function subscribes it again.
func (w *world) miss(t *testing.T) (resume func()) {
	t.Helper()
	w.change("before")
	w.converge()
	time.Sleep(600 * time.Millisecond) // two counts of the subscribers
	resume = w.gateways[0].pause(t, 1)
	w.change("during")
	eventually(t, "the other gateway is told", func() bool { return slices.Equal(w.gateways[1].received(), w.want) })
	return resume
}

// caughtUp waits until both gateways are told to reload, after miss.
func (w *world) caughtUp(t *testing.T) {
	t.Helper()
	for i, want := range [][]signal.Signal{
		slices.Concat(w.want[:1], signal.CatchUp()),
		slices.Concat(w.want, signal.CatchUp()),
	} {
		eventually(t, fmt.Sprintf("gateway %d is told to reload", i), func() bool { return slices.Equal(w.gateways[i].received(), want) })
	}
}

// TestLostSubscription: a gateway that lost only its subscription has missed
// announcements; when it subscribes again, all gateways are told to reload.
func TestLostSubscription(t *testing.T) {
	w := newWorld(t, 2)
	resume := w.miss(t)
	resume()
	w.caughtUp(t)
	w.change("after")
	eventually(t, "changes are told as before", func() bool {
		have := w.gateways[0].received()
		return len(have) == 4 && have[3] == w.want[2]
	})
}

// TestTakeoverMeanwhile: a gateway has lost its subscription and misses an announcement, and
// the process that made it ends before the gateway subscribes again. The process that has
// taken over tells all gateways to reload.
func TestTakeoverMeanwhile(t *testing.T) {
	w := newWorld(t, 2)
	next, _ := w.process("two")
	resume := w.miss(t)
	w.stop()
	eventually(t, "another process takes over", func() bool { return next.Status().Holder })
	time.Sleep(600 * time.Millisecond)
	resume()
	w.caughtUp(t)
}

// TestGatewayLeft: a gateway that left for good delays nothing while the connection
// holds, and at most for the grace period after an interruption.
func TestGatewayLeft(t *testing.T) {
	var listening atomic.Int64
	f := newFake(t, nil, func(command []string) string {
		if strings.EqualFold(command[0], "PUBSUB") {
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n:%d\r\n", len(command[2]), command[2], listening.Load())
		}
		return ok(command)
	})
	const grace = 2 * time.Second
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{f.addr}, Grace: grace}), signal.Secret("s"))
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}
	for i, c := range []struct {
		listening int64
		cut       bool
		wait      bool
	}{
		{2, false, false}, {1, false, false}, {0, false, false}, {3, false, false}, // the connection stays up
		{3, true, false}, {2, true, true}, {2, true, false}, {0, true, true}, {0, true, true}, {1, true, false},
	} {
		listening.Store(c.listening)
		if c.cut {
			f.cut()
		}
		began := time.Now()
		eventually(t, "it gets through", func() bool { return sink.Deliver(t.Context(), as) == nil })
		if took := time.Since(began); took >= grace != c.wait {
			t.Errorf("delivery %d, %+v, took %s", i, c, took)
		}
	}
}

// TestRefused: possible error answers of a server, which are passed on.
func TestRefused(t *testing.T) {
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}, {Rev: 2, Signal: signal.CatchUp()[0]}}
	for _, c := range []struct {
		name, command, reply string
		want                 string // "": the call succeeds
	}{
		{"not allowed to count", "PUBSUB", "-NOPERM no permissions\r\n", ""},
		{"not allowed to publish", "PUBLISH", "-NOPERM no permissions\r\n", "redis: publish: NOPERM"},
		{"wrong password", "AUTH", "-WRONGPASS invalid\r\n", "redis: publish: "},
		{"not allowed to log on", "AUTH", "-NOPERM no permissions\r\n", "redis: publish: NOPERM"},
		{"password in the answer", "AUTH", "-ERR unknown command, with args: hunter2\r\n", "[hidden]"},
		{"no such database", "SELECT", "-ERR DB index is out of range\r\n", "redis: publish: "},
		{"still loading", "PUBLISH", "-LOADING the dataset\r\n", "LOADING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, nil, func(command []string) string {
				if strings.EqualFold(command[0], c.command) {
					return c.reply
				}
				return ok(command)
			})
			client := open(t, redis.Config{Addrs: []string{f.addr}, Username: "gatehouse", Password: "hunter2", Database: 3, Grace: time.Hour})
			sink := redis.NewSink(client, signal.Secret("s"))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			err := sink.Deliver(ctx, as)
			if again := sink.Deliver(ctx, as); fmt.Sprint(again) != fmt.Sprint(err) {
				t.Errorf("first %v, then %v", err, again)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("have %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the password: %v", err)
			}
			if c.want == "" && len(f.heard("PUBLISH")) != 4 {
				t.Errorf("asked %v", f.asked)
			}
			if have := f.heard("AUTH"); !slices.Contains(have, "auth gatehouse hunter2") {
				t.Errorf("authenticated by %v", have)
			}
		})
	}
}

// TestHanging: a silent server blocks no caller for longer than the timeout or the
// context, and order is kept after a cancelled delivery.
func TestHanging(t *testing.T) {
	var silent atomic.Bool
	f := newFake(t, nil, func(command []string) string {
		if silent.Load() && strings.EqualFold(command[0], "PUBSUB") {
			return ""
		}
		return ok(command)
	})
	as := func(rev store.Revision) []notify.Announcement {
		return []notify.Announcement{{Rev: rev, Signal: signal.Signal{Command: signal.ClientIdPChanged, Payload: fmt.Sprint(rev)}}}
	}
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{f.addr}, Timeout: 3 * time.Second}), signal.Secret("s"))
	silent.Store(true)
	if err := sink.Deliver(t.Context(), as(1)); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a server that says nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	began := time.Now()
	if err := sink.Deliver(ctx, as(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context had ended Deliver returned %v", err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("and it took %s", took)
	}
	silent.Store(false)
	eventually(t, "it gets through", func() bool { return sink.Deliver(t.Context(), as(3)) == nil })
	if have := f.heard("PUBLISH"); len(have) != 1 || !strings.Contains(have[0], `"payload":"3"`) {
		t.Errorf("published %v", have)
	}
}

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
	"github.com/gatehouse-io/gatehouse/core/registry/clientidp"
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
	want     []signal.Signal
}

func newWorld(t *testing.T, gateways int) *world {
	db, err := memdb.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, db: db, server: newServer(t)}
	for range gateways {
		w.gateways = append(w.gateways, listen(t, w.server.addr))
	}
	client := open(t, redis.Config{Addrs: []string{w.server.addr}, Grace: 5 * time.Second})
	w.relay = relay.New(relay.Config{Feed: db, Leases: db, Sink: redis.NewSink(client, signal.Secret(w.gateways[0].secret)), Holder: "one",
		Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.relay.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	eventually(t, "the relay holds the lease", func() bool { return w.relay.Status().Holder })
	return w
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
		return wr.Put(w.Context(), store.Record{Org: scope.Org(), Kind: clientidp.Kind, ID: alias, Doc: []byte("{}"),
			Keys: []store.Key{{Index: "client_idp_id", Value: alias, Unique: true}}})
	}); err != nil {
		w.Fatal(err)
	}
	return time.Since(began)
}

// converge waits until every gateway has been told everything, and says what
// came otherwise than once and in order.
func (w *world) converge() {
	w.Helper()
	for i, g := range w.gateways {
		eventually(w, fmt.Sprintf("gateway %d has been told everything", i), func() bool { return len(g.received()) >= len(w.want) })
		if have := g.received(); !slices.Equal(have, w.want) {
			w.Errorf("gateway %d was told %v, want %v", i, have, w.want)
		}
	}
}

// TestOutage: what was committed while Redis was stopped is announced when it is
// back, once, in order, to every gateway; requests notice nothing.
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

// TestIdleRestart: a restart that nobody noticed, because there was nothing to
// announce, loses nothing either.
func TestIdleRestart(t *testing.T) {
	w := newWorld(t, 3)
	w.change("before")
	w.converge()
	w.server.stop()
	w.server.start(t)
	w.change("after")
	w.converge()
}

// TestOutageAtStart: Redis away when the service starts.
func TestOutageAtStart(t *testing.T) {
	s := newServer(t)
	s.stop()
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{s.addr}}), signal.Secret("s"))
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}
	for range 3 {
		if err := sink.Deliver(t.Context(), as); err == nil {
			t.Fatal("delivered to nobody")
		}
	}
	s.start(t)
	began := time.Now()
	eventually(t, "it gets through", func() bool { return sink.Deliver(t.Context(), as) == nil })
	if took := time.Since(began); took < 250*time.Millisecond {
		t.Errorf("gateways that nobody has counted had only %s to listen again", took)
	}
}

// TestGatewayLeft: a gateway that left for good delays nothing while the
// connection holds, and no longer than the grace when it did not.
func TestGatewayLeft(t *testing.T) {
	var listening atomic.Int64
	f := newFake(t, nil, func(command []string) string {
		if strings.EqualFold(command[0], "PUBSUB") {
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n:%d\r\n", len(command[2]), command[2], listening.Load())
		}
		return ok(command)
	})
	const grace = 400 * time.Millisecond
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{f.addr}, Grace: grace}), signal.Secret("s"))
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}}
	for i, c := range []struct {
		listening int64
		cut       bool
		wait      bool
	}{
		{2, false, false}, {1, false, false}, {0, false, false}, {3, false, false}, // the connection holds
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

// TestRefused: what a server may answer, and that it is passed on.
func TestRefused(t *testing.T) {
	as := []notify.Announcement{{Rev: 1, Signal: signal.CatchUp()[0]}, {Rev: 2, Signal: signal.CatchUp()[0]}}
	for _, c := range []struct {
		name, command, reply string
		want                 string // "" means that it gets through
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

// TestHanging: a server that accepts and says nothing holds up nobody for longer
// than the timeout or the context, and order survives a delivery that was given up.
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
	sink := redis.NewSink(open(t, redis.Config{Addrs: []string{f.addr}, Timeout: 500 * time.Millisecond}), signal.Secret("s"))
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
	if took := time.Since(began); took > 400*time.Millisecond {
		t.Errorf("and it took %s", took)
	}
	silent.Store(false)
	eventually(t, "it gets through", func() bool { return sink.Deliver(t.Context(), as(3)) == nil })
	if have := f.heard("PUBLISH"); len(have) != 1 || !strings.Contains(have[0], `"payload":"3"`) {
		t.Errorf("published %v", have)
	}
}

package relay_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/lease"
	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/ports/notify"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func with(l store.Leases) func(*relay.Config) { return func(c *relay.Config) { c.Leases = l } }

// TestBegin: a sink that is new to the store gets the commits since the relay began,
// even if that process died before it delivered anything.
func TestBegin(t *testing.T) {
	inWorld(t, func(w *world) {
		w.change("before")
		if err := w.relay("dead").Begin(w.Context()); err != nil {
			t.Fatal(err)
		}
		w.change("a")
		next := w.relay("next")
		if err := next.Begin(w.Context()); err != nil {
			t.Fatal(err)
		}
		w.change("b")
		w.run(next)
		time.Sleep(11 * time.Second) // until the lease of the dead process expires
		w.expect("2.0 ClientIdPChanged a", "3.0 ClientIdPChanged b")
	})
}

// TestHandover: a process that ends hands over exactly the commits that it has not
// delivered.
func TestHandover(t *testing.T) {
	inWorld(t, func(w *world) {
		one, stop := w.start("one")
		two, _ := w.start("two")
		w.change("a")
		w.commit("user", "u")
		w.expect("1.0 ClientIdPChanged a")
		if a, b := one.Status(), two.Status(); !a.Holder || b != (relay.Status{}) {
			t.Errorf("status %+v and %+v", a, b)
		}
		stop()
		w.change("b")
		time.Sleep(time.Second)
		w.expect("1.0 ClientIdPChanged a", "3.0 ClientIdPChanged b")
		if a, b := one.Status(), two.Status(); a.Holder || !b.Holder || b.Position != 3 {
			t.Errorf("status %+v and %+v", a, b)
		}
	})
}

// TestDeath: the lease of a dead process expires, and another process continues from
// the stored cursor; only what was delivered after that cursor is delivered twice.
func TestDeath(t *testing.T) {
	inWorld(t, func(w *world) {
		dying := &leases{DB: w.db}
		_, bury := w.start("one", with(dying))
		w.start("two")
		w.change("a")
		w.expect("1.0 ClientIdPChanged a")
		time.Sleep(time.Second)
		dying.dead.set(true)
		w.change("b") // delivered, but the cursor is not saved
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b")
		bury()
		w.change("c")
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b")
		time.Sleep(11 * time.Second)
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b", "2.0 ClientIdPChanged b", "3.0 ClientIdPChanged c")
	})
}

// TestTakeover: on a shared store, another process delivers within two seconds what a
// process that died had to deliver, even if that process had just renewed its lease.
func TestTakeover(t *testing.T) {
	inWorld(t, func(w *world) {
		shared := func(c *relay.Config) { c.TTL = lease.Takeover }
		dying := &leases{DB: w.db}
		_, bury := w.start("one", with(dying), shared)
		w.start("two", shared)
		for dying.acquired.get() < 10 { // until the lease was just renewed
			time.Sleep(time.Millisecond)
		}
		dying.dead.set(true)
		bury()
		w.change("a")
		w.expect()
		time.Sleep(1900 * time.Millisecond)
		w.expect("1.0 ClientIdPChanged a")
	})
}

// TestYields: a process that does not reach the receivers lets another one try, which does,
// and keeps the lease then. While no receiver listens, it is the same for all.
func TestYields(t *testing.T) {
	inWorld(t, func(w *world) {
		cut := &sink{}
		cut.refuse.set(true)
		shared := func(c *relay.Config) { c.TTL = lease.Takeover }
		one, _ := w.start("one", shared, func(c *relay.Config) { c.Sink = cut })
		two, _ := w.start("two", shared)
		w.change("a")
		time.Sleep(15 * time.Second)
		w.expect("1.0 ClientIdPChanged a")
		cut.refuse.set(false)
		w.change("b")
		time.Sleep(time.Minute)
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b")
		if one.Status().Holder || !two.Status().Holder || len(cut.told()) > 0 {
			t.Errorf("%+v %+v %v", one.Status(), two.Status(), cut.told())
		}
	})
	for name, c := range map[string]struct {
		ttl time.Duration
		why error
	}{"no receiver": {lease.Takeover, notify.ErrUnheard}, "no other process": {0, errAway}} {
		inWorld(t, func(w *world) {
			r, _ := w.start("one", func(rc *relay.Config) { rc.TTL, rc.Sink = c.ttl, &failing{w.sink, c.why} })
			w.change("a")
			for range 60 {
				time.Sleep(time.Second)
				if !r.Status().Holder {
					t.Fatalf("%s: it let another process try", name)
				}
			}
		})
	}
}

// failing is a sink that fails always.
type failing struct {
	*sink
	why error
}

func (f *failing) Deliver(context.Context, []notify.Announcement) error { return f.why }

// TestQuit: a process that quits hands over at once, and does not compete again.
func TestQuit(t *testing.T) {
	inWorld(t, func(w *world) {
		one, _ := w.start("one")
		w.start("two")
		w.sink.slow.set(true)
		w.change("a")
		synctest.Wait()
		if err := one.Quit(w.Context()); err != nil {
			t.Error(err)
		}
		w.sink.slow.set(false)
		if one.Status().Holder {
			t.Error("still holder")
		}
		w.expect("1.0 ClientIdPChanged a")
		w.change("b")
		time.Sleep(time.Second)
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b")
		if err := one.Quit(w.Context()); err != nil {
			t.Error("again:", err)
		}
		if err := one.Run(w.Context()); err != nil {
			t.Error("it runs again:", err)
		}
	})
}

// TestCutOff: a process that cannot renew its lease stops before another one begins,
// even during a delivery, and competes again.
func TestCutOff(t *testing.T) {
	for name, cut := range map[string]func(l *leases, on bool){
		"hanging": func(l *leases, on bool) { l.dead.set(on) },
		"failing": func(l *leases, on bool) { l.away.set(on) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				l := &leases{DB: w.db}
				r, _ := w.start("one", with(l), func(c *relay.Config) { c.Timeout = time.Hour })
				cut(l, true)
				w.sink.stuck.set(true)
				w.change("a")
				time.Sleep(9 * time.Second)
				if !r.Status().Holder {
					t.Error("gave up too early")
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if s := r.Status(); s.Holder || len(w.sink.asked()) != 1 {
					t.Errorf("status after the lease ran out: %+v; %d deliveries begun", s, len(w.sink.asked()))
				}
				if _, ok, err := w.db.Acquire(t.Context(), "test", "two", time.Second); !ok || err != nil {
					t.Error("the lease has not run out yet", err)
				}
				time.Sleep(2 * time.Second)
				w.sink.stuck.set(false)
				cut(l, false)
				time.Sleep(10 * time.Second)
				w.expect("1.0 ClientIdPChanged a")
				if s := r.Status(); !s.Holder || s.Error != "" {
					t.Errorf("status in the end: %+v", s)
				}
			})
		})
	}
}

// TestStolen: a process that learns that another one holds the lease stops at once.
func TestStolen(t *testing.T) {
	inWorld(t, func(w *world) {
		l := &leases{DB: w.db}
		r, _ := w.start("one", with(l))
		w.sink.stuck.set(true)
		w.change("a")
		l.lost.set(true)
		time.Sleep(10 * time.Second / 3)
		synctest.Wait()
		if r.Status().Holder {
			t.Error("still holder")
		}
		w.sink.stuck.set(false)
		time.Sleep(time.Minute)
		w.expect()
		l.lost.set(false)
		time.Sleep(time.Second)
		w.expect("1.0 ClientIdPChanged a")
	})
}

// TestStolenWhileSaving: the same when saving the cursor reports it.
func TestStolenWhileSaving(t *testing.T) {
	inWorld(t, func(w *world) {
		l := &stale{leases: leases{DB: w.db}}
		r, _ := w.start("one", with(l))
		w.change("a")
		l.on.set(true)
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if r.Status().Holder {
			t.Error("still holder")
		}
		l.on.set(false)
		time.Sleep(time.Second)
		w.expect("1.0 ClientIdPChanged a", "1.0 ClientIdPChanged a")
	})
}

// stale is leases whose Advance reports that another process holds the lease.
type stale struct {
	leases
	on flag
}

func (s *stale) Advance(ctx context.Context, sink, holder string, to store.Revision) error {
	if s.on.get() {
		return store.ErrStale
	}
	return s.leases.Advance(ctx, sink, holder, to)
}

// TestStoreAwayAtStart: a process that cannot reach the store keeps trying.
func TestStoreAwayAtStart(t *testing.T) {
	inWorld(t, func(w *world) {
		l := &leases{DB: w.db}
		l.away.set(true)
		r, _ := w.start("one", with(l))
		time.Sleep(time.Minute)
		if s := r.Status(); s.Holder || s.Error == "" {
			t.Errorf("status %+v", s)
		}
		if n := l.acquired.get(); n > 25 {
			t.Errorf("asked %d times in a minute", n)
		}
		l.away.set(false)
		time.Sleep(5 * time.Second)
		w.change("a")
		w.expect("1.0 ClientIdPChanged a")
		if w.log.Count("level=WARN") != 1 || w.log.Count("level=INFO") != 1 || r.Status().Error != "" {
			t.Errorf("status %+v, log:\n%s", r.Status(), &w.log)
		}
	})
}

// TestEndWaitsForDelivery: a delivery that is in progress at the end is not repeated by
// the next process, unless it takes too long.
func TestEndWaitsForDelivery(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*sink) *flag
		took time.Duration
		want []string
	}{
		{"soon", func(s *sink) *flag { return &s.slow }, 500 * time.Millisecond, []string{"1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b"}},
		{"too long", func(s *sink) *flag { return &s.stuck }, time.Second, []string{"1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				_, stop := w.start("one")
				obstacle := c.set(w.sink)
				obstacle.set(true)
				w.change("a")
				synctest.Wait()
				began := time.Now()
				stop()
				if took := time.Since(began); took != c.took {
					t.Errorf("the end took %s", took)
				}
				obstacle.set(false)
				w.start("two")
				w.change("b")
				w.expect(c.want...)
			})
		})
	}
}

// TestNotReady: nothing is announced while the service could not respond to gateways.
func TestNotReady(t *testing.T) {
	inWorld(t, func(w *world) {
		var closed flag
		closed.set(true)
		r, _ := w.start("one", func(c *relay.Config) {
			c.Ready = func(context.Context) error {
				if closed.get() {
					return errors.New("the listener is closed")
				}
				return nil
			}
		})
		w.change("a")
		time.Sleep(time.Minute)
		w.change("b")
		time.Sleep(time.Minute)
		w.expect()
		if have := r.Status().Error; have != "the service is not ready: the listener is closed" {
			t.Error(have)
		}
		closed.set(false)
		time.Sleep(5 * time.Second)
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b")
		if w.log.Count("level=WARN") != 1 || w.log.Count("level=INFO") != 1 {
			t.Errorf("log:\n%s", &w.log)
		}
	})
}

// TestManyProcesses: processes come and go, and everything is delivered in order.
func TestManyProcesses(t *testing.T) {
	inWorld(t, func(w *world) {
		var stops []func()
		for i := range 3 {
			_, stop := w.start(fmt.Sprint("process-", i))
			stops = append(stops, stop)
		}
		var want []string
		for i := range 300 {
			w.change("a")
			want = append(want, fmt.Sprintf("%d.0 ClientIdPChanged a", i+1))
			time.Sleep(10 * time.Millisecond)
			if i%50 == 49 && i < 250 {
				stops[0]()
				_, stop := w.start(fmt.Sprint("process-", i))
				stops = append(stops[1:], stop)
			}
		}
		time.Sleep(2 * time.Second)
		w.expect(want...)
	})
}

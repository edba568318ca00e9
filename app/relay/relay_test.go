package relay_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/relay"
	"github.com/gatehouse-io/gatehouse/core/registry"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// TestAnnounces: one ClientIdPChanged per commit and subject, at once.
func TestAnnounces(t *testing.T) {
	for _, c := range []struct {
		name   string
		commit func(w *world)
		want   []string
	}{
		{"one", func(w *world) { w.change("a") }, []string{"1.0 ClientIdPChanged a"}},
		{"three in one commit", func(w *world) { w.commit(registry.Kind, "c", "a", "b") },
			[]string{"1.0 ClientIdPChanged c", "1.1 ClientIdPChanged a", "1.2 ClientIdPChanged b"}},
		{"twice in one commit", func(w *world) { w.commit(registry.Kind, "a", "a") }, []string{"1.0 ClientIdPChanged a"}},
		{"twice in two commits", func(w *world) { w.change("a"); w.change("a") },
			[]string{"1.0 ClientIdPChanged a", "2.0 ClientIdPChanged a"}},
		{"what gateways do not care about", func(w *world) { w.commit("user", "a"); w.commit("organisation", "b", "c") }, nil},
		{"in between", func(w *world) { w.commit("user", "a"); w.change("b"); w.commit("user", "c") }, []string{"2.0 ClientIdPChanged b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.start("one")
				now := time.Now()
				c.commit(w)
				w.expect(c.want...)
				if took := time.Since(now); took != 0 {
					t.Errorf("announced after %s of waiting", took)
				}
			})
		})
	}
}

// TestFailingSink: there is an attempt every second, the log stays short, no other sink
// waits, and nothing is lost or merged.
func TestFailingSink(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sink.refuse.set(true)
		r, _ := w.start("one")
		began := time.Now()
		var want []string
		for i := range 1200 {
			w.change("a")
			want = append(want, fmt.Sprintf("%d.0 ClientIdPChanged a", i+1))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("writes waited %s for the sink", took)
		}
		time.Sleep(time.Minute)
		w.expect()
		var at []time.Duration
		for _, a := range w.sink.asked()[:9] {
			at = append(at, a.Sub(began))
		}
		if have := fmt.Sprint(at); have != "[0s 50ms 150ms 350ms 750ms 1.55s 2.55s 3.55s 4.55s]" {
			t.Errorf("attempts at %s", have)
		}
		s := r.Status()
		if !s.Holder || s.Position != 0 || s.Lag != 1200 || s.Error == "" || !s.Since.Equal(began) {
			t.Errorf("status while the sink refuses: %+v", s)
		}
		w.sink.refuse.set(false)
		w.sink.slow.set(true)
		time.Sleep(10 * time.Second)
		w.expect(want...)
		if w.sink.batches > 5 {
			t.Errorf("%d deliveries for what waited", w.sink.batches)
		}
		if s := r.Status(); s != (relay.Status{Holder: true, Position: 1200, Since: s.Since}) {
			t.Errorf("status afterwards: %+v", s)
		}
		if w.log.Count("level=WARN") != 1 || w.log.Count("level=INFO") != 1 {
			t.Errorf("the log does not have one line for the beginning and one for the end:\n%s", &w.log)
		}
		w.sink.refuse.set(true) // the pause starts over
		n := len(w.sink.asked())
		w.change("b")
		time.Sleep(60 * time.Millisecond)
		if have := len(w.sink.asked()) - n; have != 2 {
			t.Errorf("%d attempts in the first 60 ms of another outage", have)
		}
	})
}

// TestStuckSink: a delivery that never returns times out and is tried again.
func TestStuckSink(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sink.stuck.set(true)
		r, _ := w.start("one")
		w.change("a")
		time.Sleep(31 * time.Second)
		if r.Status().Error == "" {
			t.Error("nothing is wrong after 31 s")
		}
		w.sink.stuck.set(false)
		time.Sleep(31 * time.Second)
		w.expect("1.0 ClientIdPChanged a")
	})
}

// TestExpired: commits that were pruned before they were read are replaced by one
// announcement to reload everything.
func TestExpired(t *testing.T) {
	inWorld(t, func(w *world) {
		_, stop := w.start("one")
		w.change("a")
		w.expect("1.0 ClientIdPChanged a")
		stop()
		for range 5 {
			w.change("a")
		}
		if n, err := w.db.Prune(t.Context(), store.Retention{Since: time.Now().Add(time.Hour)}); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		r, _ := w.start("two")
		w.expect("1.0 ClientIdPChanged a", "6.0 ClientIdPChanged", "6.1 GroupReload")
		w.change("b")
		time.Sleep(time.Second)
		w.expect("1.0 ClientIdPChanged a", "6.0 ClientIdPChanged", "6.1 GroupReload", "7.0 ClientIdPChanged b")
		if s := r.Status(); s.Position != 7 || s.Lag != 0 || s.Error != "" {
			t.Errorf("status %+v", s)
		}
	})
}

// watched is a sink that reports when receivers are back.
type watched struct {
	*sink
	back chan struct{}
}

func (s *watched) Missed(ctx context.Context) error {
	select {
	case <-s.back:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestMissed: receivers that were away are told to reload everything, in order with
// everything else, by the process that delivers. The cursor stays.
func TestMissed(t *testing.T) {
	inWorld(t, func(w *world) {
		r, one, _ := w.watching("one")
		w.change("a")
		w.expect("1.0 ClientIdPChanged a")
		one <- struct{}{}
		w.expect("1.0 ClientIdPChanged a", "0.0 ClientIdPChanged", "0.1 GroupReload")
		if s := r.Status(); s.Position != 1 || s.Lag != 0 {
			t.Errorf("status %+v", s)
		}
		w.change("b")
		w.expect("1.0 ClientIdPChanged a", "0.0 ClientIdPChanged", "0.1 GroupReload", "2.0 ClientIdPChanged b")
		one <- struct{}{}
		w.expect("1.0 ClientIdPChanged a", "0.0 ClientIdPChanged", "0.1 GroupReload", "2.0 ClientIdPChanged b",
			"0.0 ClientIdPChanged", "0.1 GroupReload")
	})
}

// watching starts a relay with a sink that reports receivers that are back.
func (w *world) watching(holder string) (r *relay.Relay, back chan<- struct{}, stop func()) {
	s := &watched{sink: w.sink, back: make(chan struct{})}
	r, stop = w.start(holder, func(c *relay.Config) { c.Sink = s })
	return r, s.back, stop
}

// TestMissedByTheDying: receivers come back, and the process that should tell them to reload
// ends before it gets to that. The next process has seen them come back too, and tells them,
// unless that was long ago.
func TestMissedByTheDying(t *testing.T) {
	for passed, want := range map[time.Duration][]string{
		time.Second: {"0.0 ClientIdPChanged", "0.1 GroupReload"},
		time.Minute: nil,
	} {
		inWorld(t, func(w *world) {
			_, one, stop := w.watching("one")
			_, two, _ := w.watching("two")
			w.sink.refuse.set(true)
			one <- struct{}{}
			two <- struct{}{}
			w.expect()
			time.Sleep(passed)
			stop()
			w.sink.refuse.set(false)
			time.Sleep(3 * time.Second)
			w.expect(want...)
			time.Sleep(time.Minute)
			w.expect(want...)
		})
	}
}

// TestMissedAndNotTold: a process that loses its lease before it could tell receivers that
// are back tells them when it has the lease again.
func TestMissedAndNotTold(t *testing.T) {
	inWorld(t, func(w *world) {
		l := &leases{DB: w.db}
		s := &watched{sink: w.sink, back: make(chan struct{})}
		w.start("one", with(l), func(c *relay.Config) { c.Sink = s })
		w.sink.refuse.set(true)
		s.back <- struct{}{}
		synctest.Wait()
		l.lost.set(true)
		time.Sleep(10 * time.Second)
		w.sink.refuse.set(false)
		l.lost.set(false)
		time.Sleep(10 * time.Second)
		w.expect("0.0 ClientIdPChanged", "0.1 GroupReload")
	})
}

// TestStoreAway: commits are announced only when the store can be read.
func TestStoreAway(t *testing.T) {
	inWorld(t, func(w *world) {
		r, _ := w.start("one")
		w.changes.away.set(true)
		w.change("a")
		time.Sleep(time.Minute)
		w.expect()
		if len(w.sink.asked()) != 0 || r.Status().Error == "" {
			t.Errorf("%d attempts, status %+v", len(w.sink.asked()), r.Status())
		}
		w.changes.away.set(false)
		time.Sleep(5 * time.Second)
		w.expect("1.0 ClientIdPChanged a")
		if w.log.Count("level=WARN") != 1 || w.log.Count("level=INFO") != 1 || r.Status().Error != "" {
			t.Errorf("status %+v, log:\n%s", r.Status(), &w.log)
		}
	})
}

// TestChangeLogBreaks: reading the change log continues where it failed.
func TestChangeLogBreaks(t *testing.T) {
	inWorld(t, func(w *world) {
		r, _ := w.start("one")
		w.change("a")
		w.expect("1.0 ClientIdPChanged a")
		w.changes.broken.set(true)
		w.change("b")
		w.change("c")
		time.Sleep(time.Minute)
		w.expect("1.0 ClientIdPChanged a")
		if s := r.Status(); s.Error == "" || s.Lag != 2 {
			t.Errorf("status %+v", s)
		}
		w.changes.broken.set(false)
		time.Sleep(5 * time.Second)
		w.expect("1.0 ClientIdPChanged a", "2.0 ClientIdPChanged b", "3.0 ClientIdPChanged c")
		if w.log.Count("level=WARN") != 1 || w.log.Count("level=INFO") != 1 {
			t.Errorf("log:\n%s", &w.log)
		}
	})
}

// TestSaves: the cursor costs few writes, none when nothing happens, and no commit
// waits for them.
func TestSaves(t *testing.T) {
	inWorld(t, func(w *world) {
		l := &leases{DB: w.db}
		w.start("one", func(c *relay.Config) { c.Leases = l })
		time.Sleep(time.Hour)
		if n := l.advanced.get(); n != 0 {
			t.Errorf("%d writes of the cursor in an idle hour", n)
		}
		for _, c := range []struct {
			kind string
			most int
		}{{registry.Kind, 11}, {"user", 2}} {
			l.advanced.set(0)
			for range 1000 {
				w.commit(c.kind, "a")
				time.Sleep(time.Millisecond)
			}
			synctest.Wait()
			if n := l.advanced.get(); n < 1 || n > c.most {
				t.Errorf("%s: %d writes of the cursor in a second", c.kind, n)
			}
		}
		time.Sleep(time.Second)
		if at := l.lastSaved.get(); at != 2000 {
			t.Errorf("the cursor stands at %d", at)
		}
	})
}

// TestFlood: many reloads that wait together become one; other announcements stay.
func TestFlood(t *testing.T) {
	inWorld(t, func(w *world) {
		w.sink.refuse.set(true)
		w.start("one")
		w.commit("policy", "0")
		w.expect()
		for i := range 149 {
			w.commit("policy", fmt.Sprint(i))
		}
		w.change("a")
		w.sink.refuse.set(false)
		time.Sleep(time.Minute)
		w.expect("1.0 PolicyChanged id-0", "150.0 GroupReload", "151.0 ClientIdPChanged a")
	})
}

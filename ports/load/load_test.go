package load_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

const mb = 1 << 20

// soon is a context that does not wait.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func full(err error) bool {
	return fault.KindOf(err) == fault.Unavailable && fault.CodeOf(err) == load.CodeFull
}

// Requests never hold more than the room; a request that wants more than the room gets all of
// it; small requests do not wait for large ones.
func TestRoom(t *testing.T) {
	r := load.NewRoom(64*mb, nil)
	_, large := r.Begin(t.Context())
	if err := errors.Join(large.Text(t.Context(), 32*mb), large.Work(t.Context(), 32*mb, 500_000)); err != nil {
		t.Fatal(err)
	}
	_, other := r.Begin(t.Context())
	if err := other.Text(soon(t), 8*mb); !full(err) {
		t.Errorf("a second large text: %v", err)
	}
	if err := other.Work(soon(t), 8*mb, 0); !full(err) {
		t.Errorf("a second large tree: %v", err)
	}
	if err := other.All(soon(t)); !full(err) {
		t.Errorf("everything: %v", err)
	}
	_, small := r.Begin(t.Context())
	if err := errors.Join(small.Text(soon(t), 1*mb), small.Work(soon(t), 8<<10, 300)); err != nil {
		t.Errorf("a small request waits for large ones: %v", err)
	}
	large.End()
	if err := errors.Join(other.Text(soon(t), 8*mb), other.Work(soon(t), 8*mb, 0)); err != nil {
		t.Errorf("what was given back is not there: %v", err)
	}
	var none *load.Request
	if load.Of(t.Context()) != nil || errors.Join(none.Text(soon(t), 1<<40), none.Work(soon(t), 1<<40, 1<<40)) != nil {
		t.Error("work that belongs to no request is bounded")
	}
}

// Waiting requests are served in order, and a request that gives up does not block those
// behind it.
func TestOrderOfWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := load.NewRoom(64*mb, nil)
		_, first := r.Begin(t.Context())
		if err := first.All(t.Context()); err != nil {
			t.Fatal(err)
		}
		var order []string
		var mu sync.Mutex
		wait := func(name string, ctx context.Context) {
			_, q := r.Begin(ctx)
			err := q.All(ctx)
			mu.Lock()
			if order = append(order, name); err != nil {
				order = append(order, "gave up")
			}
			mu.Unlock()
			q.End()
		}
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go wait("brief", brief)
		synctest.Wait()
		go wait("second", t.Context())
		synctest.Wait()
		go wait("third", t.Context())
		time.Sleep(2 * time.Second)
		first.End()
		synctest.Wait()
		if len(order) != 4 || order[0] != "brief" || order[1] != "gave up" || order[2] != "second" || order[3] != "third" {
			t.Errorf("%v", order)
		}
	})
}

// Large requests leave a core to small ones: all cores but one are for large requests. A large
// request that waits for memory gives its core to requests that will free memory. A request
// that waits too long for a core goes on without.
func TestCores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := load.NewRoom(1<<40, nil)
		var working []*load.Request
		for range max(1, runtime.GOMAXPROCS(0)-1) {
			_, q := r.Begin(t.Context())
			if err := q.Work(t.Context(), mb, 0); err != nil {
				t.Fatal(err)
			}
			working = append(working, q)
		}
		begun := time.Now()
		_, small := r.Begin(t.Context())
		if err := small.Work(t.Context(), 1000, 10); err != nil || time.Since(begun) > 0 {
			t.Errorf("a small request waits for a core: %v, %v", time.Since(begun), err)
		}
		if err := working[0].Work(t.Context(), mb, 0); err != nil || time.Since(begun) > 0 {
			t.Errorf("a request with a core waits for another: %v, %v", time.Since(begun), err)
		}
		_, next := r.Begin(t.Context())
		go func() { time.Sleep(time.Second); working[0].End() }()
		if err := next.Work(t.Context(), mb, 0); err != nil || time.Since(begun) != time.Second {
			t.Errorf("the core that was given back was had after %v, %v", time.Since(begun), err)
		}
		_, late := r.Begin(t.Context())
		if err := late.Work(t.Context(), mb, 0); err != nil || time.Since(begun) != 6*time.Second {
			t.Errorf("without a core: %v, %v", time.Since(begun), err)
		}
	})
}

// Pressure is on while a large request works, and not for small ones.
func TestPressure(t *testing.T) {
	var heard []bool
	r := load.NewRoom(0, func(on bool) { heard = append(heard, on) })
	_, small := r.Begin(t.Context())
	_, a := r.Begin(t.Context())
	_, b := r.Begin(t.Context())
	for _, err := range []error{small.Work(t.Context(), 1000, 10), a.Work(t.Context(), 1*mb, 0), b.Work(t.Context(), 1*mb, 0)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	a.End()
	small.End()
	b.End()
	a.End()
	if len(heard) != 2 || !heard[0] || heard[1] {
		t.Errorf("%v", heard)
	}
}

// A request that learns its cost later does not wait for the room that it holds itself, and
// two requests that ask for more at once both end.
func TestMoreWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := load.NewRoom(64*mb, nil)
		_, form := r.Begin(t.Context())
		if err := errors.Join(form.Work(t.Context(), mb, 0), form.Work(soon(t), mb, 20_000), form.All(soon(t)), form.Work(soon(t), 1000, 1)); err != nil {
			t.Errorf("a request waits for itself: %v", err)
		}
		form.End()
		for range 2 {
			go func() {
				_, q := r.Begin(t.Context())
				defer q.End()
				for _, bytes := range []int64{200 << 10, mb, 1 << 40} {
					if err := q.Work(t.Context(), bytes, 0); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Second)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		_, next := r.Begin(t.Context())
		if err := next.All(soon(t)); err != nil {
			t.Errorf("what was given back is not there: %v", err)
		}
	})
}

// A request without cost takes nothing: it can end after the owner's other requests.
func TestNothing(t *testing.T) {
	r := load.NewRoom(4*mb, nil)
	_, nothing := r.Begin(t.Context())
	_, some := r.Begin(t.Context())
	if err := errors.Join(nothing.Work(t.Context(), 0, 0), some.Work(t.Context(), 1, 0)); err != nil {
		t.Fatal(err)
	}
	some.End()
	nothing.End()
}

// After any order of requests, everything is free again.
func TestNothingIsLost(t *testing.T) {
	r := load.NewRoom(4*mb, nil)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(n%3)*100*time.Microsecond)
				_, q := r.Begin(ctx)
				_ = q.Text(ctx, int64(i*n)<<8)             // some of them fail
				_ = q.Work(ctx, int64(i*n), int64(i+n)*50) // as above
				q.End()
				cancel()
			}
		})
	}
	all.Wait()
	_, q := r.Begin(t.Context())
	if err := errors.Join(q.Text(soon(t), 1<<30), q.All(soon(t))); err != nil {
		t.Error(err)
	}
}

// When one owner holds or waits for any amount, another owner still has room for its text, and
// works next.
func TestOwnersShareTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := load.NewRoom(256*mb, nil)
		request := func(owner string) *load.Request {
			_, q := r.Begin(t.Context())
			q.For(owner)
			return q
		}
		for _, size := range []int64{32 * mb, 1 * mb} { // large and small bodies that a client sends as slowly as it may
			for range 64 {
				go func() { _ = request("flood").Text(t.Context(), size) }()
			}
			synctest.Wait()
			if err := request("other").Text(soon(t), size); err != nil {
				t.Errorf("texts of %d bytes: %v", size, err)
			}
		}
		var order []string
		var mu sync.Mutex
		work := func(owner string) {
			q := request(owner)
			if err := q.All(t.Context()); err != nil {
				t.Error(err)
			}
			mu.Lock()
			order = append(order, owner)
			mu.Unlock()
			time.Sleep(time.Second)
			q.End()
		}
		for range 8 {
			go work("flood")
		}
		synctest.Wait()
		go work("other")
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(order) != 9 || order[1] != "other" {
			t.Errorf("large work in the order %v", order)
		}
	})
}

// While an owner works on a large text, there is room for its next text, and for the text of
// another owner.
func TestNextTextComesMeanwhile(t *testing.T) {
	r := load.NewRoom(256*mb, nil)
	for i, c := range []struct {
		owner string
		full  bool
	}{{"a", false}, {"a", false}, {"a", true}, {"b", false}, {"c", true}} {
		_, q := r.Begin(t.Context())
		q.For(c.owner)
		if err := q.Text(soon(t), 32*mb); full(err) != c.full {
			t.Errorf("text %d, of %s: %v", i, c.owner, err)
		}
	}
}

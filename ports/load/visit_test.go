package load_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/load"
)

// TestVisits: visits wait for each other. A request made by a visit shares its turn. A visit
// that waits for something else leaves its turn, and a visit that waits too long for one gets
// an error.
func TestVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // one processor for visits
		r := load.NewRoom(64*mb, nil)
		ctx, page := r.Begin(t.Context())
		if err := page.Visit(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		within, inner := r.Begin(ctx)
		if err := inner.Visit(within, "a"); err != nil {
			t.Error("a visit waits for itself:", err)
		}
		inner.End()
		_, other := r.Begin(t.Context())
		if err := other.Visit(t.Context(), "b"); fault.KindOf(err) != fault.Unavailable || fault.CodeOf(err) != load.CodeBusy || time.Since(begun) != 10*time.Second {
			t.Errorf("a turn that does not come: %v after %v", err, time.Since(begun))
		}
		if err := inner.Work(within, mb, 0); err != nil {
			t.Error("what large requests work with is none of visits:", err)
		}
		inner.End()

		back := load.Away(within)
		if err := other.Visit(soon(t), "b"); err != nil {
			t.Error("who waits elsewhere keeps the turn:", err)
		}
		load.Away(within)() // the visit has no turn to leave
		var ended sync.WaitGroup
		ended.Go(func() { time.Sleep(time.Second); other.End() })
		begun = time.Now()
		if back(); time.Since(begun) != time.Second {
			t.Errorf("back after %v", time.Since(begun))
		}
		ended.Wait()
		if err := other.Visit(soon(t), "b"); err == nil {
			t.Error("who came back has no turn")
		}
		page.End()
		if err := page.Visit(soon(t), "a"); err != nil {
			t.Error("an ended visit cannot begin again:", err)
		}
		page.End()
		var none *load.Request
		if none.Visit(soon(t), "a") != nil {
			t.Error("what belongs to no request waits")
		}
		load.Away(t.Context())()
	})
}

// TestVisitsWaitForMemory: a visit that waits for memory leaves its turn to visits that hold
// memory.
func TestVisitsWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		r := load.NewRoom(64*mb, nil)
		far, first := r.Begin(t.Context())
		if err := first.Visit(far, "a"); err != nil {
			t.Fatal(err)
		}
		if err := first.All(far); err != nil {
			t.Fatal(err)
		}
		back := load.Away(far) // it fetches something, and has all the memory
		begun := time.Now()
		var done sync.WaitGroup
		done.Go(func() {
			near, second := r.Begin(t.Context())
			defer second.End()
			if err := second.Visit(near, "b"); err != nil {
				t.Error(err)
			}
			if err := second.All(near); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if back(); time.Since(begun) > 0 {
			t.Errorf("who has the memory waits for who waits for it: %v", time.Since(begun))
		}
		first.End()
		done.Wait()
	})
}

// TestOwnersVisitInTurn: an owner with any number of visits delays another owner by one visit
// only. With any number of new owners, none waits for ever.
func TestOwnersVisitInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		r := load.NewRoom(0, nil)
		var mu sync.Mutex
		var order []string
		visit := func(owner string) {
			go func() {
				ctx, q := r.Begin(context.Background())
				if err := q.Visit(ctx, owner); err != nil {
					t.Error(owner, err)
				}
				mu.Lock()
				order = append(order, owner)
				mu.Unlock()
				time.Sleep(10 * time.Millisecond)
				q.End()
			}()
			synctest.Wait()
		}
		for range 100 {
			visit("flood")
		}
		visit("other")
		for i := range 300 { // new owners come as fast as they are served
			visit(fmt.Sprint("new ", i))
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if at := slices.Index(order, "other"); at < 0 || at > 2 {
			t.Errorf("the other visit was number %d", at)
		}
		if later := slices.Index(order[1:], "flood"); later < 0 || later > 10 {
			t.Errorf("new owners come before one who waits: its second turn is number %d", later)
		}
	})
}

// TestCrowds: with too many waiting requests, the last ones of the network with the most of
// them are refused at once. Requests of other networks have their turns.
func TestCrowds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		r := load.NewRoom(0, nil)
		var mu sync.Mutex
		served, refused := map[string]int{}, map[string]int{}
		goOn := make(chan struct{})
		visit := func(owner string) {
			go func() {
				ctx, q := r.Begin(context.Background())
				defer q.End()
				err := q.Visit(ctx, owner)
				mu.Lock()
				if err != nil {
					refused[owner]++
				} else {
					served[owner]++
				}
				mu.Unlock()
				<-goOn
			}()
		}
		visit("first")
		synctest.Wait()
		for range 1100 {
			visit("flood")
		}
		synctest.Wait()
		for i := range 50 {
			visit(fmt.Sprint("other ", i))
		}
		synctest.Wait()
		mu.Lock()
		if refused["flood"] != 150 || len(refused) != 1 {
			t.Errorf("refused at once: %v", refused)
		}
		mu.Unlock()
		close(goOn)
		synctest.Wait()
		if served["flood"] != 950 || len(served) != 52 {
			t.Errorf("served: %d of the flood, %d networks", served["flood"], len(served))
		}
	})
}

// TestCrowdsGiveUp: requests are refused at the moment at which their clients give up.
func TestCrowdsGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		visit := func(r *load.Room, ctx context.Context, owner string) (*load.Request, error) {
			ctx, q := r.Begin(ctx)
			return q, q.Visit(ctx, owner)
		}
		for range 50 {
			r := load.NewRoom(0, nil)
			first, err := visit(r, t.Context(), "first")
			if err != nil {
				t.Fatal(err)
			}
			flood, leave := context.WithCancel(t.Context())
			for range 1000 {
				go func() { _, _ = visit(r, flood, "flood") }()
			}
			synctest.Wait()
			leave()
			_, _ = visit(r, gone, "other")
			synctest.Wait()
			first.End()
			next, err := visit(r, t.Context(), "next")
			if err != nil {
				t.Error(err)
			}
			if _, err := visit(r, gone, "last"); err == nil {
				t.Error("a turn was given back that nobody had")
			}
			next.End()
		}
	})
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

var concurrencyTests = []test{
	{"concurrent edits all count", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		const workers, each = 16, 10
		revs := make(chan store.Revision, workers*each)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range each {
					rev, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
						return editIn(t.Context(), w, "x", func(v *thing) { v.N++ })
					})
					if err != nil {
						t.Error(err)
					}
					revs <- rev
				}
			})
		}
		wg.Wait()
		close(revs)
		if v, err := get(t, b, "a", "1"); err != nil || v.Value.N != workers*each {
			t.Errorf("N = %d, %v; want %d", v.Value.N, err, workers*each)
		}
		seen := map[store.Revision]bool{}
		for r := range revs {
			if seen[r] {
				t.Errorf("revision %d twice", r)
			}
			seen[r] = true
		}
		same(t, "commits", len(follow(t, b, 0, workers*each+1)), workers*each+1)
	}},
	{"in a crowd each unit has its own fate", func(t *testing.T, b Backend) {
		const n = 60
		boom := errors.New("boom")
		errs := make([]error, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				defer func() {
					if r := recover(); r != nil {
						errs[i] = fmt.Errorf("panic: %v", r)
					}
				}()
				_, errs[i] = b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
					err := things.Insert(t.Context(), w, thing{ID: fmt.Sprint(i), Org: "a", Name: fmt.Sprint("n", i%20), Owner: "crowd"})
					switch {
					case i%10 == 7:
						panic("boom")
					case i%10 == 3:
						return boom
					}
					return err
				})
			})
		}
		wg.Wait()
		stored := map[string]bool{}
		for _, id := range ids(t, b, scope(t, "a"), store.Query{}) {
			stored[id] = true
		}
		names := map[int]int{}
		for i, err := range errs {
			if stored[fmt.Sprint("a/", i)] != (err == nil) {
				t.Errorf("unit %d: stored %v, error %v", i, err != nil, err)
			}
			switch {
			case i%10 == 7 && (err == nil || err.Error() != "panic: boom"), i%10 == 3 && !errors.Is(err, boom):
				t.Errorf("unit %d: %v", i, err)
			case err == nil:
				names[i%20]++
			case i%10 != 7 && i%10 != 3 && fault.KindOf(err) != fault.Conflict:
				t.Errorf("unit %d: %v", i, err)
			}
		}
		for name := range 20 {
			if want := 1; name%10 != 7 && name%10 != 3 && names[name] != want {
				t.Errorf("name n%d won %d times", name, names[name])
			}
		}
	}},
	{"a closure that ends its goroutine harms no other unit", func(t *testing.T, b Backend) {
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
				_ = things.Insert(t.Context(), w, thing{ID: "lost", Org: "a", Name: "lost"})
				runtime.Goexit() // what t.FailNow does
				return nil
			})
		})
		wg.Wait()
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		same(t, "things", ids(t, b, scope(t, "a"), store.Query{}), []string{"a/1"})
	}},
	{"readers never see half a unit", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		insert(t, b, thing{ID: "2", Org: "a", Name: "y"})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			defer cancel()
			for range 100 {
				update(t, b, "a", func(ctx context.Context, w store.Writer) error {
					return errors.Join(editIn(ctx, w, "1", func(v *thing) { v.N++ }), editIn(ctx, w, "2", func(v *thing) { v.N++ }))
				})
			}
		})
		last := 0
		for ctx.Err() == nil {
			view(t, b, "a", func(ctx context.Context, r store.Reader) error {
				x, err1 := things.Get(ctx, r, "1")
				y, err2 := things.Get(ctx, r, "2")
				if x.Value.N != y.Value.N || x.Value.N < last {
					t.Errorf("saw %d and %d after %d", x.Value.N, y.Value.N, last)
				}
				last = x.Value.N
				return errors.Join(err1, err2)
			})
		}
		wg.Wait()
	}},
	{"what a write acknowledged, the next read sees", func(t *testing.T, b Backend) {
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		for i := range 100 {
			edit(t, b, "a", "x", func(v *thing) { v.N = i })
			if v, err := get(t, b, "a", "x"); err != nil || v.Value.N != i {
				t.Fatalf("read %d, %v; wrote %d", v.Value.N, err, i)
			}
		}
	}},
}

var leaseTests = []test{
	{"one holder at a time", func(t *testing.T, b Backend) {
		ctx := t.Context()
		insert(t, b, thing{ID: "1", Org: "a", Name: "x"})
		if at, ok, err := b.Acquire(ctx, "redis", "one", time.Minute); err != nil || !ok || at != 1 {
			t.Fatalf("first: %d %v %v; a new sink starts at the head", at, ok, err)
		}
		if _, ok, err := b.Acquire(ctx, "redis", "two", time.Minute); err != nil || ok {
			t.Fatalf("second: %v %v", ok, err)
		}
		if _, ok, err := b.Acquire(ctx, "webhook", "two", time.Minute); err != nil || !ok {
			t.Fatalf("another sink: %v %v", ok, err)
		}
		if err := b.Advance(ctx, "redis", "two", 9); !errors.Is(err, store.ErrStale) {
			t.Errorf("advance by someone else: %v", err)
		}
		insert(t, b, thing{ID: "2", Org: "a", Name: "y"})
		if err := errors.Join(b.Advance(ctx, "redis", "one", 2), b.Advance(ctx, "redis", "one", 1)); err != nil {
			t.Fatal(err)
		}
		if at, ok, err := b.Acquire(ctx, "redis", "one", time.Minute); err != nil || !ok || at != 2 {
			t.Errorf("renewed: %d %v %v", at, ok, err)
		}
		if err := b.Release(ctx, "redis", "one"); err != nil {
			t.Fatal(err)
		}
		if at, ok, err := b.Acquire(ctx, "redis", "two", time.Millisecond); err != nil || !ok || at != 2 {
			t.Errorf("after release: %d %v %v", at, ok, err)
		}
		eventually(t, "an expired lease passes on", func() bool {
			_, ok, err := b.Acquire(ctx, "redis", "three", time.Minute)
			return err == nil && ok
		})
		if err := b.Advance(ctx, "redis", "two", 3); !errors.Is(err, store.ErrStale) {
			t.Errorf("advance after losing the lease: %v", err)
		}
	}},
}

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// holds are the limits for a unit of work at the writer, which RunHold tries in order. On a
// machine so busy that small units take longer than the first limit, the test uses the next
// one. A unit that computes always does so for twice the limit.
var holds = []time.Duration{250 * time.Millisecond, time.Second, 4 * time.Second}

// RunHold tests that no unit of work holds the writer longer than allowed, with any kind of
// work, and that the others continue.
func RunHold(t *testing.T, newBackend func(tb testing.TB, hold time.Duration) Backend) {
	slow := map[string]func(hold time.Duration, w store.Writer) error{
		"it computes": func(hold time.Duration, w store.Writer) error {
			time.Sleep(2 * hold)
			return things.Insert(t.Context(), w, thing{ID: "slow", Org: "a", Name: "slow"})
		},
		"it computes after its writes": func(hold time.Duration, w store.Writer) error {
			err := things.Insert(t.Context(), w, thing{ID: "slow", Org: "a", Name: "slow"})
			time.Sleep(2 * hold)
			return err
		},
		"it reads and reads": func(hold time.Duration, w store.Writer) error {
			for began := time.Now(); time.Since(began) < 100*hold; {
				if _, err := w.Get(t.Context(), "thing", "1"); err != nil {
					return err
				}
				for _, err := range w.Scan(t.Context(), store.Query{Kind: "thing"}) {
					if err != nil {
						return err
					}
				}
			}
			return nil
		},
	}
	for name, fn := range slow {
		t.Run(name, func(t *testing.T) {
			for i, hold := range holds {
				b := newBackend(t, hold)
				errs := besideSlow(t, b, func(w store.Writer) error { return fn(hold, w) })
				busy := slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, store.ErrTooLong) })
				if busy && i+1 < len(holds) {
					continue
				}
				for i, err := range errs {
					if err != nil {
						t.Errorf("unit %d: %v", i, err)
					}
				}
				if _, err := get(t, b, "a", "slow"); err == nil {
					t.Error("a refused unit of work has written")
				}
				return
			}
		})
	}
}

// besideSlow runs a unit of work that must be refused, and concurrent small ones. It returns
// the errors of the small ones.
func besideSlow(t *testing.T, b Backend, slow func(store.Writer) error) []error {
	t.Helper()
	if _, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
		return things.Insert(t.Context(), w, thing{ID: "1", Org: "a", Name: "1"})
	}); err != nil {
		return []error{err}
	}
	var others sync.WaitGroup
	began := make(chan struct{})
	var once sync.Once
	errs := make([]error, 20)
	for i := range errs {
		others.Go(func() {
			<-began
			org := scope(t, []tenant.ID{"a", "b"}[i%2])
			_, errs[i] = b.Update(t.Context(), org, func(w store.Writer) error {
				return things.Insert(t.Context(), w, thing{ID: fmt.Sprint("n", i), Org: w.Scope().Org(), Name: fmt.Sprint("n", i)})
			})
		})
	}
	_, err := b.Update(t.Context(), scope(t, "a"), func(w store.Writer) error {
		once.Do(func() { close(began) })
		return slow(w)
	})
	if !errors.Is(err, store.ErrTooLong) {
		t.Errorf("the slow unit of work: %v", err)
	}
	others.Wait()
	return errs
}

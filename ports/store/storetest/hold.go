package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

// Hold is for how long a unit of work may hold the writer of the back ends that
// RunHold opens.
const Hold = 250 * time.Millisecond

// RunHold checks that no unit of work holds the writer for longer than Hold, whatever
// it does meanwhile, and that the others go on.
func RunHold(t *testing.T, newBackend New) {
	slow := map[string]func(w store.Writer) error{
		"it computes": func(w store.Writer) error {
			time.Sleep(2 * Hold)
			return things.Insert(t.Context(), w, thing{ID: "slow", Org: "a", Name: "slow"})
		},
		"it computes after its writes": func(w store.Writer) error {
			err := things.Insert(t.Context(), w, thing{ID: "slow", Org: "a", Name: "slow"})
			time.Sleep(2 * Hold)
			return err
		},
		"it reads and reads": func(w store.Writer) error {
			for began := time.Now(); time.Since(began) < 100*Hold; {
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
			b := newBackend(t)
			insert(t, b, thing{ID: "1", Org: "a", Name: "1"})
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
				return fn(w)
			})
			if !errors.Is(err, store.ErrTooLong) {
				t.Errorf("the slow unit of work: %v", err)
			}
			others.Wait()
			for i, err := range errs {
				if err != nil {
					t.Errorf("unit %d: %v", i, err)
				}
			}
			if _, err := get(t, b, "a", "slow"); err == nil {
				t.Error("a refused unit of work has written")
			}
		})
	}
}

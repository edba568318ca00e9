package apps_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/dashboard"
)

// TestLeftRequests: if a process dies between an access request and its immediate
// approval, the next process approves it, or makes it wait for administrators.
func TestLeftRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newOurs(t, false)
		run := func(w *world, f *fate) {
			w.start(f)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- w.apps.Run(ctx) }()
			time.Sleep(10 * time.Minute)
			stop()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("Run: %v", err)
			}
		}
		w := open(t, d)
		for point := 2; ; point++ {
			f := &fate{at: point, says: errDead}
			w.start(f)
			err := w.provision(`{"PlanID":2,"ProductIDs":[1]}`)
			if f.seen < point {
				break
			}
			if err == nil {
				t.Errorf("at %d: acknowledged by a dead process", point)
			}
			w.resume()
			run(w, &fate{})
			if all := w.requests(); all[0].Status != "approved" || len(all[0].Credentials) != 1 {
				t.Errorf("at %d: %+v", point, all[0])
			}
		}
		w.consistent("all left requests")
		w.clear()

		w = open(t, d)
		w.start(&fate{at: 2, says: errDead})
		_ = w.provision(`{"PlanID":2,"ProductIDs":[1]}`)
		run(w, &fate{at: 1, once: true, says: fmt.Errorf("%w: 403 no", dashboard.ErrRefused)})
		if one := w.requests()[0]; one.Status != "pending" || one.ProvisionImmediately {
			t.Errorf("the dashboard refuses: %+v", one)
		}
		w.clear()
	})
}

package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-io/gatehouse/adapters/memdb"
	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/lease"
)

// TestSlowEnd: another process continues only after the work has ended, however long
// that takes after the context of Run has ended.
func TestSlowEnd(t *testing.T) {
	apptest.InBubble(t, func(t *testing.T, db *memdb.DB) {
		made := func(holder string) *lease.Lease {
			return lease.New(lease.Config{Leases: db, Name: "work", Holder: holder, TTL: lease.Takeover})
		}
		var ended, began time.Time
		ctx, cancel := context.WithCancel(t.Context())
		done, taken := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			_ = made("one").Run(ctx, func(run, held context.Context, _ *lease.Holding) {
				<-run.Done()
				<-held.Done()
				time.Sleep(10 * time.Second) // a mail server that responds slowly
				ended = time.Now()
			})
		}()
		time.Sleep(time.Second)
		other := made("two")
		go func() {
			defer close(taken)
			_ = other.Run(t.Context(), func(run, _ context.Context, _ *lease.Holding) {
				began = time.Now()
				<-run.Done()
			})
		}()
		time.Sleep(time.Second)
		cancel()
		<-done
		time.Sleep(2 * time.Second)
		if err := other.Quit(t.Context()); err != nil {
			t.Error(err)
		}
		<-taken
		if began.Before(ended) || began.Sub(ended) > time.Second {
			t.Errorf("the other one began %v after the end", began.Sub(ended))
		}
	})
}

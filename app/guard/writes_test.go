package guard_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/app/guard"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Close waits for the writes in progress, and no later one is admitted.
func TestWritesClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w guard.Writes
		g := guard.New(guard.Config{
			Authenticators: map[operation.Surface]guard.Authenticator{operation.Admin: func(context.Context, *operation.Call) error { return nil }},
			Rules:          rules.BuiltIn{}, Audit: func(context.Context, *operation.Call, error) {}, Writes: &w,
		})
		const lasts = time.Minute
		slow := g(func(context.Context, *operation.Call) (any, error) { time.Sleep(lasts); return nil, nil })
		write := func() error {
			_, err := slow(t.Context(), &operation.Call{Spec: &operation.Spec{Surface: operation.Admin, Intent: access.Write}})
			return err
		}
		done := make(chan error, 1)
		go func() { done <- write() }()
		synctest.Wait()

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Close(short); !errors.Is(err, context.DeadlineExceeded) || !w.Closed() {
			t.Error("closing did not wait:", err)
		}
		if err := write(); fault.CodeOf(err) != guard.CodeStopping || fault.KindOf(err) != fault.Unavailable {
			t.Error("a write got in:", err)
		}
		began := time.Now()
		if err := w.Close(t.Context()); err != nil || time.Since(began) != lasts-time.Second {
			t.Error("closing again:", err, time.Since(began))
		}
		if err := <-done; err != nil {
			t.Error("the write under way:", err)
		}
	})
}

// TestWritesWithin: a call that a write makes within this process is part of the write,
// and admitted after Close. A call that continues after the end of the write is not.
func TestWritesWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w guard.Writes
		g := guard.New(guard.Config{
			Authenticators: map[operation.Surface]guard.Authenticator{operation.Admin: func(context.Context, *operation.Call) error { return nil }},
			Rules:          rules.BuiltIn{}, Audit: func(context.Context, *operation.Call, error) {}, Writes: &w,
		})
		write := func(ctx context.Context, next operation.Handler) error {
			_, err := g(next)(ctx, &operation.Call{Spec: &operation.Spec{Surface: operation.Admin, Intent: access.Write}})
			return err
		}
		quick := func(context.Context, *operation.Call) (any, error) { return nil, nil }
		done := make(chan error, 1)
		var left context.Context
		go func() {
			done <- write(t.Context(), func(ctx context.Context, _ *operation.Call) (any, error) {
				left = ctx
				time.Sleep(time.Minute)
				return nil, write(ctx, quick)
			})
		}()
		synctest.Wait()
		if err := w.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error("a part of a write under way:", err)
		}
		for _, ctx := range []context.Context{t.Context(), left} {
			if err := write(ctx, quick); fault.CodeOf(err) != guard.CodeStopping {
				t.Error("a write got in:", err)
			}
		}
	})
}

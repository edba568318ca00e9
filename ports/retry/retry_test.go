package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-io/gatehouse/ports/retry"
)

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.New(time.Second, 8*time.Second)
		wait := func() time.Duration {
			began := time.Now()
			if err := p.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		for range 2 {
			for _, want := range []time.Duration{1, 2, 4, 8, 8} {
				if d := wait(); d != want*time.Second {
					t.Errorf("waited %v; want %v", d, want*time.Second)
				}
			}
			p.Reset()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that is cut short: %v", err)
		}
	})
}

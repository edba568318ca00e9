// Package retry computes the time to wait between attempts at something that fails for a while
// (exponential backoff).
package retry

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Pause is the time between attempts.
type Pause struct{ times *backoff.ExponentialBackOff }

// New returns a pause that begins with first and doubles up to most.
func New(first, most time.Duration) *Pause {
	times := backoff.NewExponentialBackOff()
	times.InitialInterval, times.MaxInterval, times.Multiplier, times.RandomizationFactor = first, most, 2, 0
	times.Reset()
	return &Pause{times}
}

// Wait waits, and returns the error of ctx if that ends before.
func (p *Pause) Wait(ctx context.Context) error { return Sleep(ctx, p.times.NextBackOff()) }

// Reset makes the next wait the first one again. It is called after a successful attempt.
func (p *Pause) Reset() { p.times.Reset() }

// Sleep waits for a time, and returns the error of ctx if that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

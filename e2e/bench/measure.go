package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// contestant is one measured operation.
type contestant struct {
	name    string
	clients int // goroutines that work at once; 0: 1
	// do carries out one operation, the n-th of a client.
	do func(ctx context.Context, client, n int) error
	// between runs after each operation of a single client and is not timed; nil:
	// nothing.
	between func(ctx context.Context, n int) error
}

// series is the results of a contestant, by round.
type series struct {
	rates  []float64 // operations per second
	allocs []float64 // heap objects per operation, of the whole process
}

func (s series) rate() float64 { return median(s.rates) }

// each returns the time of one operation.
func (s series) each() time.Duration { return time.Duration(float64(time.Second) / s.rate()) }

// over returns how many times faster s is than base. Rounds are compared pair by pair:
// a temporary slowdown of the machine affects both.
func (s series) over(base series) float64 {
	ratios := make([]float64, 0, len(s.rates))
	for i := range min(len(s.rates), len(base.rates)) {
		ratios = append(ratios, s.rates[i]/base.rates[i])
	}
	return median(ratios)
}

// race runs contestants alternately, round after round, and returns their results.
func (b *bench) race(ctx context.Context, theme string, cs ...contestant) ([]series, error) {
	out := make([]series, len(cs))
	counters := make([][]int, len(cs))
	for i, c := range cs {
		counters[i] = make([]int, max(1, c.clients))
		if _, _, err := c.work(ctx, b.turn/5, counters[i]); err != nil { // warms up
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for n := range b.rounds {
		for i, c := range cs {
			rate, allocs, err := c.work(ctx, b.turn, counters[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			out[i].rates = append(out[i].rates, rate)
			out[i].allocs = append(out[i].allocs, allocs)
		}
		b.say("  %s: round %d of %d", theme, n+1, b.rounds)
	}
	return out, nil
}

// work is one turn: every client works until the time is over, at least once.
func (c contestant) work(ctx context.Context, turn time.Duration, counters []int) (rate, allocs float64, err error) {
	runtime.GC() // the garbage of the previous contestant must not count
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	until := began.Add(turn)
	var ops atomic.Int64
	var aside time.Duration
	errs := make([]error, len(counters))
	client := func(i int) {
		done := 0
		for more := true; more && errs[i] == nil; more = time.Now().Before(until) && ctx.Err() == nil {
			errs[i] = c.do(ctx, i, counters[i])
			if c.between != nil && errs[i] == nil {
				stopped := time.Now()
				errs[i] = c.between(ctx, counters[i])
				aside += time.Since(stopped)
			}
			counters[i]++
			done++
		}
		ops.Add(int64(done))
	}
	if len(counters) == 1 {
		client(0)
	} else {
		var all sync.WaitGroup
		for i := range counters {
			all.Go(func() { client(i) })
		}
		all.Wait()
	}
	took := time.Since(began) - aside
	runtime.ReadMemStats(&after)
	for _, e := range append(errs, ctx.Err()) {
		if e != nil {
			return 0, 0, e
		}
	}
	n := float64(ops.Load())
	return n / took.Seconds(), float64(after.Mallocs-before.Mallocs) / n, nil
}

// median returns the middle of the values, or the mean of the two in the middle.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return 0
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// percentile returns the smallest value that at least the share q of the values
// do not exceed.
func percentile(values []float64, q float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return 0
	}
	rank := int(q * float64(len(v)))
	if float64(rank) < q*float64(len(v)) {
		rank++
	}
	return v[max(0, rank-1)]
}

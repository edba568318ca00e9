// Package observe is the port to metrics and traces. Labels are operation IDs,
// never paths, so that their number is bounded.
package observe

import "context"

// Observer watches operations.
type Observer interface {
	// Begin is called when an operation starts. The returned function is called once at its end,
	// with the status of the response.
	Begin(ctx context.Context, operation string) (context.Context, func(status int))
}

// Gauge is a named number that can be read at any time.
type Gauge struct {
	Name, Help string // "gatehouse_head_revision"
	Value      func() float64
}

// Join returns an Observer that is all of obs: each begins with the context of
// the one before it, and they are told of the end in reverse order, so that one
// that wraps the others also ends last.
func Join(obs ...Observer) Observer { return joined(obs) }

type joined []Observer

// Begin implements Observer.
func (j joined) Begin(ctx context.Context, operation string) (context.Context, func(status int)) {
	ends := make([]func(int), len(j))
	for i, ob := range j {
		ctx, ends[i] = ob.Begin(ctx, operation)
	}
	return ctx, func(status int) {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i](status)
		}
	}
}

package observe

import "context"

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

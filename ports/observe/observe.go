// Package observe is the port to metrics and traces. Labels are operation IDs,
// never paths, so that their number is bounded.
package observe

import "context"

// Observer watches operations.
type Observer interface {
	// Begin is called when an operation starts. The returned function is called
	// once when it ended, with the status that was answered.
	Begin(ctx context.Context, operation string) (context.Context, func(status int))
}

// Gauge is a named number that can be read at any time.
type Gauge struct {
	Name, Help string // "gatehouse_head_revision"
	Value      func() float64
}

package opa

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// maxCompared is how many pairs of values one evaluation may compare. The evaluator
// keeps about 600 bytes of stack for each pair inside arrays and objects until the rest
// of the rule is done; a stack of more than 512 MiB ends the process, and that cannot be
// recovered.
const maxCompared = 200_000

var errCompared = fmt.Errorf("%w: rules compare more than %d pairs of values", ErrNoVerdict, maxCompared)

// comparing aborts an evaluation that compares too much.
type comparing struct{ pairs int }

// Enabled implements topdown.QueryTracer.
func (*comparing) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*comparing) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer. No return value can stop a comparison: only
// a panic can, which within turns into an error.
func (c *comparing) TraceEvent(e topdown.Event) {
	if e.Op != topdown.UnifyOp {
		return
	}
	if c.pairs++; c.pairs > maxCompared {
		panic(errCompared)
	}
}

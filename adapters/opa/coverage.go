package opa

import (
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// maxStretches is the maximum number of line ranges in a coverage answer.
const maxStretches = 1000

// place is a position in a text, with a length: the length tells an expression from the
// expressions inside it that begin at the same position.
type place struct{ row, offset, length int }

// coverage records which parts of a text were evaluated. Evaluations that did not stop in
// time may still report parts. The library has a similar tracer; its time grows with the
// square of the length of a text, which is too slow for texts of users.
type coverage struct {
	mu  sync.Mutex
	ran map[place]bool
}

// Enabled implements topdown.QueryTracer.
func (c *coverage) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (c *coverage) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer. A rule counts as run when it produced a
// value.
func (c *coverage) TraceEvent(event topdown.Event) {
	var at *ast.Location
	switch n := event.Node.(type) {
	case *ast.Rule:
		if event.Op == topdown.ExitOp {
			at = n.Head.Location
		}
	case *ast.Expr:
		if event.Op == topdown.EvalOp {
			at = n.Location
		}
	}
	if p, ok := placed(at); ok {
		c.mu.Lock()
		c.ran[p] = true
		c.mu.Unlock()
	}
}

func placed(at *ast.Location) (place, bool) {
	if at == nil || at.File != rulesFile {
		return place{}, false
	}
	return place{at.Row, at.Offset, len(at.Text)}, true
}

// Coverage implements rules.Candidate: it returns which lines were evaluated.
func (k *candidate) Coverage() rules.Coverage {
	const covered, missed = 1, 2
	var lines []byte
	k.seen.mu.Lock()
	defer k.seen.mu.Unlock()
	note := func(at *ast.Location) {
		p, ok := placed(at)
		if !ok {
			return
		}
		last, _ := at.End()
		for len(lines) <= last {
			lines = append(lines, 0)
		}
		as := byte(missed)
		if k.seen.ran[p] {
			as = covered
		}
		for row := p.row; row <= last; row++ {
			lines[row] = max(lines[row], as)
		}
	}
	ast.WalkRules(k.set.module, func(r *ast.Rule) bool { note(r.Head.Location); return false })
	ast.WalkExprs(k.set.module, func(x *ast.Expr) bool {
		if _, declares := x.Terms.(*ast.SomeDecl); !declares {
			note(x.Location)
		}
		return false
	})
	out := rules.Coverage{Covered: []rules.Lines{}, Missed: []rules.Lines{}}
	for row, as := range lines {
		to := &out.Missed
		switch as {
		case 0:
			continue
		case covered:
			to = &out.Covered
			out.Ran++
		}
		out.Lines++
		if n := len(*to); n > 0 && (*to)[n-1].To == row-1 {
			(*to)[n-1].To = row
		} else if n < maxStretches {
			*to = append(*to, rules.Lines{From: row, To: row})
		}
	}
	return out
}

package opa

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// Bounds of texts that users send. Memory and time of the compiler grow with the length
// of a text, and faster with its depth.
const (
	maxText     = 128 << 10
	maxDepth    = 200
	maxCompiles = 2
	compileTime = 5 * time.Second
)

// Bounds of a trace.
const (
	maxSteps    = 500
	maxStepText = 200
)

// Check implements rules.Workshop.
func (e *Engine) Check(ctx context.Context, org tenant.ID, text string) error {
	_, err := e.tried(ctx, org, text)
	return err
}

// Shared implements rules.Workshop.
func (e *Engine) Shared() string { return e.fixed.Load().text }

// Read implements rules.Workshop.
func (e *Engine) Read(ctx context.Context, org tenant.ID, text string) (rules.Candidate, error) {
	set, err := e.tried(ctx, org, text)
	if err != nil {
		return nil, err
	}
	return &candidate{Engine: e, set: set, seen: coverage{ran: map[place]bool{}}}, nil
}

// candidate implements rules.Candidate.
type candidate struct {
	*Engine
	set  *ruleSet
	seen coverage
}

func (k *candidate) ReadsBody() bool { return k.set.readsBody }

func (k *candidate) Try(ctx context.Context, c *operation.Call, traced bool) (rules.Trial, error) {
	if _, ok := k.rows[c.Spec.ID]; !ok {
		return rules.Trial{}, fmt.Errorf("opa: operation %q is not in the table", c.Spec.ID)
	}
	steps := &recorder{cut: !traced}
	v, _, err := k.judge(ctx, k.set, c, c.Body, steps, &k.seen)
	if ctx.Err() != nil {
		return rules.Trial{}, ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errStuck) { // the recorder may still be written to
		return rules.Trial{Failure: err.Error()}, nil
	}
	t := rules.Trial{Verdict: v, Trace: steps.steps, Cut: traced && steps.cut}
	if err != nil {
		t.Failure = discreet(err).Error()
	}
	return t, nil
}

// tried compiles a text that is not in force; only a few compile at a time in the whole
// process.
func (e *Engine) tried(ctx context.Context, org tenant.ID, text string) (*ruleSet, error) {
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	select {
	case e.compiles <- struct{}{}:
		defer func() { <-e.compiles }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return within(ctx, &e.stuck, org, func() (*ruleSet, error) { return e.compile(text, false) })
}

// tooDeep returns the first line where brackets are nested too deeply, or 0. It skips
// strings and comments by Rego's syntax.
func tooDeep(text string) int {
	depth, row := 0, 1
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			row++
		case '#':
			i += strings.IndexByte(text[i:]+"\n", '\n') - 1
		case '"', '`':
			end := closing(text[i:])
			row += strings.Count(text[i:i+end], "\n")
			i += end
		case '(', '[', '{':
			if depth++; depth > maxDepth {
				return row
			}
		case ')', ']', '}':
			depth--
		}
	}
	return 0
}

// closing returns where the string at the beginning of a text ends. A string in
// quotation marks ends at the latest with its line.
func closing(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i
		case s[0] == '"' && s[i] == '\n':
			return i - 1
		case s[0] == '"' && s[i] == '\\':
			i++
		}
	}
	return len(s) - 1
}

// recorder records the first steps of an evaluation. It records rules and never values.
type recorder struct {
	steps []rules.Step
	cut   bool
}

// Enabled implements topdown.QueryTracer.
func (r *recorder) Enabled() bool { return !r.cut }

// Config implements topdown.QueryTracer.
func (r *recorder) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent implements topdown.QueryTracer.
func (r *recorder) TraceEvent(event topdown.Event) {
	if event.Op == topdown.UnifyOp || event.Location == nil || event.Location.File != rulesFile {
		return
	}
	if len(r.steps) == maxSteps {
		r.cut = true
		return
	}
	r.steps = append(r.steps, rules.Step{Op: string(event.Op), Row: event.Location.Row, Text: excerpt(event.Location)})
}

// excerpt returns the first line of the text at a location.
func excerpt(at *ast.Location) string {
	text, _, more := strings.Cut(string(at.Text[:min(len(at.Text), maxStepText)]), "\n")
	if more || len(at.Text) > maxStepText {
		text += " …"
	}
	return strings.ToValidUTF8(text, "")
}

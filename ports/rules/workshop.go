package rules

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// ErrText is wrapped by errors about a text that cannot be used as rules. They tell its author
// the problem.
var ErrText = errors.New("rules cannot be used")

// Checker checks whether texts can be used as rules.
type Checker interface {
	// Check returns an error that wraps ErrText when a text cannot be used.
	Check(ctx context.Context, org tenant.ID, text string) error
}

// Workshop is for authors of rules: it checks texts and tries them out. It never changes the
// rules that are in force.
type Workshop interface {
	Checker
	// Shared returns the rules for organisations without rules of their own.
	Shared() string
	// Read compiles a text to rules that can be tried. For a text that cannot be used it returns
	// the same error as Check.
	Read(ctx context.Context, org tenant.ID, text string) (Candidate, error)
}

// Candidate is compiled rules that are not in force, to be tried on any number of calls.
type Candidate interface {
	// ReadsBody reports whether its decisions may depend on the body of a call.
	ReadsBody() bool
	// Try returns the decision on a call, which may be an invented one. It uses the body in the
	// call as it is. If the rules come to no verdict, Trial.Failure says so and err is nil.
	Try(ctx context.Context, c *operation.Call, traced bool) (Trial, error)
	// Coverage returns the lines that all trials so far have evaluated.
	Coverage() Coverage
}

// Coverage is the lines of rules that were evaluated. A line that was evaluated only in part
// counts as missed. So does a rule that was skipped because the index knows that it cannot
// apply to the call. Blank lines, comments and declarations do not count.
type Coverage struct {
	Lines   int     `json:"lines" doc:"Number of lines that can be evaluated."`
	Ran     int     `json:"ran" doc:"Number of lines that were evaluated."`
	Covered []Lines `json:"covered" doc:"Ranges of lines that were evaluated, in order, the first 1,000."`
	Missed  []Lines `json:"missed" doc:"Ranges of lines that were not evaluated, in order, the first 1,000."`
}

// Lines is a range of lines in a text. The first line of a text is 1.
type Lines struct {
	From int `json:"from" doc:"First line of the range."`
	To   int `json:"to" doc:"Last line of the range."`
}

// Trial is the result of trying rules.
type Trial struct {
	Verdict
	Failure string // why there is no verdict; "" when there is one
	Trace   []Step
	Cut     bool // the trace is not complete
}

// Step is one step of an evaluation.
type Step struct {
	Op   string `json:"op" doc:"Kind of step: Enter (a rule), Eval (an expression), Exit (with a result), Fail or Redo."`
	Row  int    `json:"row" doc:"Line number in the text."`
	Text string `json:"text" doc:"Source text of the rule or expression."`
}

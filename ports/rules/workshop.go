package rules

import (
	"context"
	"errors"

	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// ErrText is wrapped by errors about a text that is no usable rule set; they say what
// is wrong, for its author.
var ErrText = errors.New("rules cannot be used")

// Checker says whether texts can be used as rules.
type Checker interface {
	// Check returns an error that wraps ErrText when a text cannot be used.
	Check(ctx context.Context, org tenant.ID, text string) error
}

// Workshop is for those who write rules: it checks texts and tries them out. None of
// it changes what decides.
type Workshop interface {
	Checker
	// Shared returns the text that decides about organisations without rules of
	// their own.
	Shared() string
	// Read returns a text as rules that can be tried. A text that cannot be used is an
	// error as of Check.
	Read(ctx context.Context, org tenant.ID, text string) (Candidate, error)
}

// Candidate is a text that decides about nothing, ready to be tried on any number of calls.
type Candidate interface {
	// ReadsBody reports whether what it decides may depend on the body of a call.
	ReadsBody() bool
	// Try returns what it makes of a call that may be made up. It looks at the body as it
	// stands in the call. Rules that come to no verdict are part of the trial.
	Try(ctx context.Context, c *operation.Call, traced bool) (Trial, error)
	// Coverage returns which lines all trials so far have evaluated.
	Coverage() Coverage
}

// Coverage is which lines of rules were evaluated. A line of which a part was not counts as
// missed, and so does a rule of which the index knows that it cannot apply to the call. Blank
// lines, comments and declarations count as neither.
type Coverage struct {
	Lines   int     `json:"lines" doc:"How many lines can be evaluated."`
	Ran     int     `json:"ran" doc:"How many of them were."`
	Covered []Lines `json:"covered" doc:"Those that were evaluated, in order, the first 1,000 stretches."`
	Missed  []Lines `json:"missed" doc:"Those that were not, likewise."`
}

// Lines are lines of a text that follow one another. The first one of a text is 1.
type Lines struct {
	From int `json:"from" doc:"The first line."`
	To   int `json:"to" doc:"The last line."`
}

// Trial is what came out of rules that were tried.
type Trial struct {
	Verdict
	Failure string // why there is no verdict; "" when there is one
	Trace   []Step
	Cut     bool // there was more to trace
}

// Step is one step of an evaluation.
type Step struct {
	Op   string `json:"op" doc:"What the evaluator did: Enter a rule, Eval an expression, Exit with a result, Fail, Redo."`
	Row  int    `json:"row" doc:"The line of the text."`
	Text string `json:"text" doc:"The rule or expression as it is written."`
}

package opa

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// Tests are unit tests of one rule set, by file name. Files whose names end in
// _test.rego contain rules test_…; at most one other file is the rule set. Without a
// rule set the default rules are tested.
type Tests struct {
	Files map[string]string
	Run   string // regular expression for the names of tests; "": all
}

// Tested is the result of a test run.
type Tested struct {
	Rules   string // the file that was tested, or DefaultFile
	Results []Result
	// Coverage is the percentage of the lines with rules and expressions that were
	// evaluated; Missed are the ranges of the other lines: "12" or "12-14".
	Coverage float64
	Missed   []string
}

// Result is the result of one test.
type Result struct {
	Name   string
	At     string // file:line
	Passed bool
	Why    string // of an error: why the test could not finish
	Output string // what it printed
	Took   time.Duration
}

const testSuffix = "_test.rego"

// DefaultFile is the name of the default rules where results name a file.
const DefaultFile = "default rules"

// RunTests runs tests against rules as in decisions: the functions are the same, with
// the same bounds, and an error of a function is a failure. Tests define the results of
// TykAPIGet and of the functions for classes: `with TykAPIGet as …`.
func RunTests(ctx context.Context, t Tests) (Tested, error) {
	name, modules, err := t.modules()
	if err != nil {
		return Tested{}, err
	}
	var failures []error
	for _, m := range modules {
		out, err := run(ctx, name, m, t.Run)
		if err == nil {
			return out, nil
		}
		failures = append(failures, err)
	}
	return Tested{}, fmt.Errorf("%w: %w", ErrRules, errors.Join(failures...))
}

// modules returns the name of the rule set and the parsed files: first as the newer
// version of Rego where possible, then as the older one.
func (t Tests) modules() (name string, readings []map[string]*ast.Module, err error) {
	files := maps.Clone(t.Files)
	tests := 0
	for _, file := range slices.Sorted(maps.Keys(files)) {
		switch {
		case strings.HasSuffix(file, testSuffix):
			tests++
		case name != "":
			return "", nil, fmt.Errorf("%s and %s: a rule set is one file; files with tests are called …%s", name, file, testSuffix)
		default:
			name = file
		}
	}
	if tests == 0 {
		return "", nil, fmt.Errorf("there are no tests: they are in files called …%s", testSuffix)
	}
	if name == "" {
		name = DefaultFile
		files[name] = defaultRules
	}
	newer, older := map[string]*ast.Module{}, map[string]*ast.Module{}
	for file, text := range files {
		found, err := parse(file, text)
		if err != nil {
			return "", nil, fmt.Errorf("%w: %s: %w", ErrRules, file, err)
		}
		newer[file], older[file] = found[0].Module, found[len(found)-1].Module
	}
	if _, err := inspect(newer[name]); err != nil {
		return "", nil, fmt.Errorf("%w: %s: %w", ErrRules, name, err)
	}
	return name, []map[string]*ast.Module{newer, older}, nil
}

func run(ctx context.Context, name string, modules map[string]*ast.Module, filter string) (Tested, error) {
	own := functions(Config{})
	c := withScale(ast.NewCompiler().WithCapabilities(capabilities(own)).WithEnablePrintStatements(true))
	var builtins []*tester.Builtin
	for _, f := range own {
		if f.Nondeterministic { // its result does not follow from its operands
			f.do = func(rego.BuiltinContext, []*ast.Term) (*ast.Term, error) {
				return nil, rego.NewHaltError(fmt.Errorf("the test does not say what %s returns: with %s as …", f.Name, f.Name))
			}
		}
		builtins = append(builtins, &tester.Builtin{Decl: f.builtin(), Func: rego.FunctionDyn(&f.Function, f.do)})
	}
	out, covered := Tested{Rules: name}, cover.New()
	db := inmem.New()
	txn, err := db.NewTransaction(ctx)
	if err != nil {
		return out, err
	}
	defer db.Abort(ctx, txn)
	results, err := tester.NewRunner().SetCompiler(c).SetStore(db).AddCustomBuiltins(builtins).SetModules(modules).Filter(filter).
		RaiseBuiltinErrors(true).CapturePrintOutput(true).SetCoverageQueryTracer(covered).RunTests(ctx, txn)
	if err != nil {
		return out, err
	}
	for r := range results {
		one := Result{Name: r.Name, At: fmt.Sprintf("%s:%d", r.Location.File, r.Location.Row), Passed: r.Pass() || r.Skip, Output: string(r.Output), Took: r.Duration}
		if r.Error != nil {
			one.Why = r.Error.Error()
		}
		out.Results = append(out.Results, one)
	}
	slices.SortStableFunc(out.Results, func(a, b Result) int { return strings.Compare(a.At+a.Name, b.At+b.Name) })
	f, ok := covered.Report(map[string]*ast.Module{name: modules[name]}).Files[name]
	if !ok {
		return out, nil
	}
	out.Coverage = f.Coverage
	for _, r := range f.NotCovered {
		at := fmt.Sprint(r.Start.Row)
		if r.End.Row != r.Start.Row {
			at += fmt.Sprint("-", r.End.Row)
		}
		out.Missed = append(out.Missed, at)
	}
	return out, nil
}

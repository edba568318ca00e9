package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gatehouse-io/gatehouse/adapters/opa"
	"github.com/gatehouse-io/gatehouse/core/tenant"
)

// RuleTests says which unit tests of rules to run, and which coverage is required.
type RuleTests struct {
	Folder  string
	Run     string  // regular expression for the names of tests; "": all
	Cover   float64 // required coverage in per cent
	Verbose bool    // also print tests that pass
}

// ErrRuleTests is wrapped when tests of rules fail, or cover too little.
var ErrRuleTests = errors.New("tests of rules fail")

// TestRules runs the unit tests of the rules in a folder and prints the results.
func TestRules(ctx context.Context, t RuleTests, out io.Writer) error {
	files, err := ruleFiles(t.Folder)
	if err != nil {
		return err
	}
	got, err := opa.RunTests(ctx, opa.Tests{Files: files, Run: t.Run})
	if err != nil {
		return err
	}
	var b strings.Builder
	failed := 0
	for _, r := range got.Results {
		if !r.Passed {
			failed++
		}
		if r.Passed && !t.Verbose {
			continue
		}
		word := "FAIL"
		if r.Passed {
			word = "ok  "
		}
		fmt.Fprintf(&b, "%s  %s  %s\n", word, r.Name, r.At)
		for _, text := range []string{r.Why, r.Output} {
			for line := range strings.Lines(text) {
				fmt.Fprintf(&b, "      %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
	fmt.Fprintf(&b, "%d passed, %d failed; %.1f %% of %s covered", len(got.Results)-failed, failed, got.Coverage, got.Rules)
	if len(got.Missed) > 0 {
		fmt.Fprintf(&b, ", not covered: lines %s", strings.Join(got.Missed, ", "))
	}
	if _, err := fmt.Fprintln(out, b.String()); err != nil {
		return err
	}
	switch {
	case len(got.Results) == 0:
		return fmt.Errorf("%w: none was run", ErrRuleTests)
	case failed > 0:
		return fmt.Errorf("%w: %d of %d", ErrRuleTests, failed, len(got.Results))
	case got.Coverage < t.Cover:
		return fmt.Errorf("%w: %.1f %% are covered, %.1f %% are wanted", ErrRuleTests, got.Coverage, t.Cover)
	}
	return nil
}

// maxRuleFile bounds files that are read: a folder named by mistake can hold anything.
const maxRuleFile = 1 << 20

// ruleFiles reads the Rego files of a folder; the keys are their names.
func ruleFiles(folder string) (map[string]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".rego" {
			continue
		}
		if info, err := e.Info(); err != nil || info.Size() > maxRuleFile {
			return nil, errors.Join(fmt.Errorf("%s: a file of rules has at most 1 MiB", e.Name()), err)
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files[e.Name()] = string(text)
	}
	return files, nil
}

// ruleChecker checks texts that are stored as rules, also while rules decide about
// nothing: they may one day. It makes its engine when the first text comes.
type ruleChecker func() (*opa.Engine, error)

// Check implements rules.Checker.
func (c ruleChecker) Check(ctx context.Context, org tenant.ID, text string) error {
	e, err := c()
	if err != nil {
		return err
	}
	return e.Check(ctx, org, text)
}

package opa

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
)

// ruleSet is a compiled text, safe for concurrent evaluation.
type ruleSet struct {
	text      string
	module    *ast.Module
	query     rego.PreparedEvalQuery
	denies    bool // it has a rule deny
	patches   bool // it has a rule patch_request
	readsBody bool // it may read input.request.body
}

// rulesPackage is what every rule set must declare (docs/wire/rules.md#language).
const rulesPackage = "data.dashboard_users"

// rulesFile is the file name in positions of a text.
const rulesFile = "rules.rego"

// compile compiles a text in either version of Rego. A text that parses as both is treated
// as the newer version if it compiles as that. Only texts of the operator are trusted, and
// may have any size.
func (e *Engine) compile(text string, trusted bool) (*ruleSet, error) {
	if !trusted { // a text that would take the compiler too long is refused before compiling
		if len(text) > maxText {
			return nil, fmt.Errorf("%w: the text has more than %d KiB", ErrRules, maxText>>10)
		}
		if row := tooDeep(text); row > 0 {
			return nil, fmt.Errorf("%w: line %d: brackets are nested deeper than %d levels", ErrRules, row, maxDepth)
		}
	}
	modules, err := parse(rulesFile, text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRules, err)
	}
	var failures []error
	for _, m := range modules {
		set, err := e.prepare(m, trusted)
		if err == nil {
			set.text, set.module = text, m.Module
			return set, nil
		}
		failures = append(failures, fmt.Errorf("as Rego %v: %w", m.version, err))
	}
	return nil, fmt.Errorf("%w: %w", ErrRules, errors.Join(failures...))
}

var importsV1 = regexp.MustCompile(`(?m)^\s*import\s+rego\.v1\b`)

// reading is a text parsed as one version of Rego.
type reading struct {
	*ast.Module
	version ast.RegoVersion
}

// parse returns the readings of a text, the newer version of Rego first.
func parse(file, text string) ([]reading, error) {
	versions := []ast.RegoVersion{ast.RegoV1, ast.RegoV0}
	if importsV1.MatchString(text) {
		versions = versions[:1]
	}
	var readings []reading
	var failures []error
	for _, v := range versions {
		m, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{RegoVersion: v})
		if err != nil {
			failures = append(failures, fmt.Errorf("as Rego %v: %w", v, err))
			continue
		}
		readings = append(readings, reading{m, v})
	}
	if len(readings) == 0 {
		return nil, errors.Join(failures...)
	}
	return readings, nil
}

func (e *Engine) prepare(m reading, trusted bool) (*ruleSet, error) {
	set, err := inspect(m.Module)
	if err != nil {
		return nil, err
	}
	c := ast.NewCompiler().WithCapabilities(capabilities(e.own)).WithDefaultRegoVersion(m.version)
	if !trusted {
		c = withScale(c)
	}
	if c.Compile(map[string]*ast.Module{rulesFile: m.Module}); c.Failed() {
		return nil, c.Errors
	}
	// Only the results that are used, so that rules which only serve other tools cost
	// nothing.
	deny, patch := "deny = "+rulesPackage+".deny", "patch = "+rulesPackage+".patch_request"
	query := deny + "; " + patch
	switch {
	case !set.patches:
		query = deny
	case !set.denies:
		query = patch
	}
	options := []func(*rego.Rego){
		rego.Compiler(c), rego.Query(query),
		rego.StrictBuiltinErrors(true), // an error must not mean "does not apply"
	}
	for _, f := range e.own {
		options = append(options, rego.FunctionDyn(&f.Function, f.do))
	}
	// Not the context of the request that comes first: all later requests share the result.
	set.query, err = rego.New(options...).PrepareForEval(context.Background())
	return set, err
}

// inspect returns what a module defines. A module with none of the queried rules is a
// mistake, and would allow everything.
func inspect(m *ast.Module) (*ruleSet, error) {
	if got := m.Package.Path.String(); got != rulesPackage {
		return nil, fmt.Errorf("package must be dashboard_users, not %s", got)
	}
	set := &ruleSet{readsBody: readsBody(m)}
	for _, r := range m.Rules {
		switch r.Head.Ref()[0].Value.String() {
		case "deny":
			set.denies = true
			if !isSet(r) {
				return nil, errors.New("deny must be a set, as in deny[reason] { … }")
			}
		case "patch_request":
			set.patches = true
			if !isSet(r) || r.Head.Key != nil && !mayBeObject(r.Head.Key) {
				return nil, errors.New("patch_request must be a set of objects, as in patch_request[change] { … }")
			}
		}
	}
	if !set.denies && !set.patches {
		return nil, errors.New("neither deny nor patch_request is defined")
	}
	return set, nil
}

// isSet reports whether a rule produces a set that is always defined: with any other rule no
// request would get an answer, not even the one that changes the rules.
func isSet(r *ast.Rule) bool {
	if len(r.Head.Ref()) > 1 {
		return false
	}
	if r.Head.RuleKind() == ast.MultiValue {
		return true
	}
	switch r.Head.Value.Value.(type) {
	case ast.Boolean, ast.String, ast.Number, ast.Null, *ast.Array, ast.Object:
		return false
	}
	return true
}

// mayBeObject reports whether a term is an object or its type is not known yet.
func mayBeObject(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.Boolean, ast.String, ast.Number, ast.Null, *ast.Array, ast.Set:
		return false
	}
	return true
}

// readsBody reports whether rules may read the request's body. Turning a large body into
// terms costs far more than the decision, and most rules, among them the default ones, never
// read it.
func readsBody(m *ast.Module) (found bool) {
	var v *ast.GenericVisitor
	v = ast.NewGenericVisitor(func(n any) bool {
		switch n := n.(type) {
		case ast.Ref:
			if !n[0].Equal(ast.InputRootDocument) {
				return false
			}
			found = found || mayReachBody(n)
			for _, t := range n[1:] {
				v.Walk(t)
			}
			return true
		case ast.Var:
			found = found || n.Equal(ast.InputRootDocument.Value)
		}
		return found
	})
	v.Walk(m)
	return found
}

// mayReachBody reports whether a reference into the input may refer to the body.
func mayReachBody(r ast.Ref) bool {
	for i, name := range []string{"request", "body"} {
		if len(r) <= i+1 {
			return true
		}
		if s, ok := r[i+1].Value.(ast.String); ok && string(s) != name {
			return false
		}
	}
	return true
}

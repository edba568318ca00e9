package opa

import (
	"maps"

	"github.com/open-policy-agent/opa/v1/ast"
)

// maxScale is how many parts the text of a rule set may give to one value. Forty lines
// like "b := [a, a]" make a value of 2^40 parts. The compiler types it and the
// evaluator copies it in one step, which no deadline interrupts.
const maxScale = 10000

// scale computes the maximum number of parts of values from the text alone. Parts of
// the request and answers of functions count once, since they are shared. It runs when
// the expressions of bodies are in evaluation order.
type scale struct {
	c     *ast.Compiler
	rules map[*ast.Rule]int
	err   *ast.Error
}

// vars are the numbers of parts of the values that the variables of a body are bound
// to.
type vars map[ast.Var]int

// tooLarge is a compiler stage that refuses values of too many parts.
func tooLarge(c *ast.Compiler) *ast.Error {
	s := &scale{c: c, rules: map[*ast.Rule]int{}}
	for _, m := range c.Modules {
		for _, r := range m.Rules {
			s.rule(r)
		}
	}
	return s.err
}

// checked returns n, and records the first place where n is too large.
func (s *scale) checked(n int, at *ast.Location) int {
	if n > maxScale {
		if s.err == nil {
			s.err = ast.NewError(ast.CompileErr, at, "a value can have more than %d parts: %s", maxScale, excerpt(at))
		}
		return maxScale
	}
	return n
}

// rule returns the number of parts of a rule's value, of all its branches together.
func (s *scale) rule(r *ast.Rule) int {
	if n, ok := s.rules[r]; ok || s.err != nil {
		return n
	}
	v := vars{}
	for _, a := range r.Head.Args {
		v.bind(a, 1)
	}
	s.body(r.Body, v)
	n := 1
	for _, t := range append([]*ast.Term{r.Head.Key, r.Head.Value}, r.Head.Reference...) {
		if t != nil {
			n = s.checked(n+s.term(t, v), r.Location)
		}
	}
	if r.Else != nil {
		n = s.checked(n+s.rule(r.Else), r.Location)
	}
	s.rules[r] = n
	return n
}

// body binds the variables of a body.
func (s *scale) body(b ast.Body, v vars) {
	for _, e := range b {
		if s.err != nil {
			return
		}
		for _, w := range e.With {
			s.term(w.Value, v)
		}
		switch t := e.Terms.(type) {
		case *ast.Term:
			s.term(t, v)
		case *ast.Every:
			inner := maps.Clone(v)
			n := s.term(t.Domain, v)
			for _, one := range []*ast.Term{t.Key, t.Value} {
				if one != nil {
					inner.bind(one, n)
				}
			}
			s.body(t.Body, inner)
		case []*ast.Term: // binds variables of a unification or of a function's result
			if e.IsEquality() || e.IsAssignment() {
				a, b := s.term(t[1], v), s.term(t[2], v)
				v.bind(t[1], b)
				v.bind(t[2], a)
				continue
			}
			n := s.checked(s.result(t[0], t[1:], v), e.Location)
			for _, out := range t[1:] {
				v.bind(out, n)
			}
		}
	}
}

// result returns the number of parts of a function's result: each may contain all
// operands.
func (s *scale) result(operator *ast.Term, operands []*ast.Term, v vars) int {
	n := 1
	for _, o := range operands {
		n = s.checked(n+s.term(o, v), operator.Location)
	}
	ref, ok := operator.Value.(ast.Ref)
	if !ok {
		return n
	}
	if own := s.c.GetRulesDynamicWithOpts(ref, ast.RulesOptions{}); len(own) > 0 {
		sum := 0
		for _, r := range own {
			sum += s.rule(r)
		}
		return s.checked(n*sum, operator.Location)
	}
	return n
}

// term returns the number of parts of a term.
func (s *scale) term(t *ast.Term, v vars) int {
	n := 1
	add := func(t *ast.Term) { n = s.checked(n+s.term(t, v), t.Location) }
	switch x := t.Value.(type) {
	case ast.Var:
		return max(v[x], 1)
	case ast.Ref:
		return s.ref(x, t.Location, v)
	case *ast.Array:
		x.Foreach(add)
	case ast.Set:
		x.Foreach(add)
	case ast.Object:
		x.Foreach(func(name, value *ast.Term) { add(name); add(value) })
	case *ast.ArrayComprehension:
		inner := maps.Clone(v)
		s.body(x.Body, inner)
		n += s.term(x.Term, inner)
	case *ast.SetComprehension:
		inner := maps.Clone(v)
		s.body(x.Body, inner)
		n += s.term(x.Term, inner)
	case *ast.ObjectComprehension:
		inner := maps.Clone(v)
		s.body(x.Body, inner)
		n += s.term(x.Key, inner) + s.term(x.Value, inner)
	case ast.Call:
		return s.result(x[0], x[1:], v)
	}
	return s.checked(n, t.Location)
}

// ref returns the number of parts of a reference's target, at most those of its head.
// The variables in the reference are names and indexes into the head.
func (s *scale) ref(r ast.Ref, at *ast.Location, v vars) int {
	n := 1
	switch head, ok := r[0].Value.(ast.Var); {
	case ok && r[0].Equal(ast.DefaultRootDocument):
		for _, rule := range s.c.GetRulesDynamicWithOpts(r, ast.RulesOptions{}) {
			n = s.checked(n+s.rule(rule), at)
		}
	case ok:
		n = max(v[head], 1)
	default:
		n = s.term(r[0], v)
	}
	for _, t := range r[1:] {
		s.term(t, v)
		v.bind(t, n)
	}
	return n
}

// bind gives n parts to all variables in a pattern that have no value yet.
func (v vars) bind(pattern *ast.Term, n int) {
	ast.WalkVars(pattern, func(x ast.Var) bool {
		if _, bound := v[x]; !bound {
			v[x] = n
		}
		return false
	})
}

// withScale adds the check to a compiler, before its type check.
func withScale(c *ast.Compiler) *ast.Compiler {
	return c.WithStageAfterID(ast.StageCheckRecursion, ast.CompilerStageDefinition{
		Name: "CheckScale", MetricName: "compile_stage_check_scale", Stage: tooLarge,
	})
}

package opa

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/gatehouse-io/gatehouse/core/pattern"
)

// The deadline is checked between two steps of an evaluation. Within one call of a built-in
// function, only the sizes of its operands and of its result are bounded.
const (
	maxOperand    = 64 << 20 // bytes of text, plus eight for every value
	maxResult     = 16 << 20 // bytes of a text, or entries of a range
	maxDigits     = 4096     // of a number
	maxShift      = 1 << 16
	maxFactors    = 1 << 16 // weight of the factors of a multiplication
	maxExpression = 10000   // steps of a regular expression: the library caches 100 of them for all organisations
	maxNested     = 10000   // nesting depth of a value; JSON has the same limit
)

var errTooMuch = errors.New("opa: a function of Rego gets or makes too much")

// forbidden are built-in functions that use the network, inspect the process, read files or
// compute without end. A name that ends in a dot stands for all functions with that prefix.
var forbidden = []string{
	"http.send", "opa.runtime", "net.", "providers.",
	"json.match_schema", "json.verify_schema", // a schema may refer to a file
	"rego.parse_module", "graphql.", "graph.reachable_paths", "regex.globs_match", "strings.render_template", "units.",
	"crypto.parse_private_keys", "crypto.x509.", "io.jwt.encode_sign", "io.jwt.encode_sign_raw",
}

// growth estimates the result size of functions whose results can be far larger than the operands.
var growth = map[string]func(args []*ast.Term) float64{
	"sprintf": func(a []*ast.Term) float64 { return formatted(str(a[0]), a[1]) },
	"concat":  func(a []*ast.Term) float64 { return float64(len(str(a[0]))+1) * weigh(a[1]) },
	"replace": func(a []*ast.Term) float64 {
		return float64(len(str(a[0]))) + float64(strings.Count(str(a[0]), str(a[1])))*float64(len(str(a[2])))
	},
	"strings.replace_n": func(a []*ast.Term) float64 { return float64(len(str(a[1]))+1) * weigh(a[0]) },
	"regex.replace": func(a []*ast.Term) float64 {
		return max(matched(a[1], a[0]), float64(len(str(a[0]))+1)*float64(len(str(a[2]))+1))
	},
	"regex.match":                      matches,
	"re_match":                         matches,
	"regex.is_valid":                   func(a []*ast.Term) float64 { return matched(a[0], a[0]) },
	"regex.split":                      matches,
	"regex.find_n":                     matches,
	"regex.find_all_string_submatch_n": matches,
	"regex.template_match":             matches,
	"numbers.range":                    func(a []*ast.Term) float64 { return math.Abs(num(a[1]) - num(a[0])) },
	"numbers.range_step":               func(a []*ast.Term) float64 { return math.Abs(num(a[1])-num(a[0])) / max(num(a[2]), 1) },
	"bits.lsh":                         func(a []*ast.Term) float64 { return num(a[1]) * (maxResult / maxShift) },
	"product":                          func(a []*ast.Term) float64 { return weigh(a[0]) * (maxResult / maxFactors) },
}

// matches is matched for functions with the expression as first operand, and the text as second.
func matches(a []*ast.Term) float64 { return matched(a[0], a[1]) }

// matched estimates the cost of compiling an expression and matching it against a text: each of
// its steps may look at each character.
func matched(expression, text *ast.Term) float64 {
	steps := len(str(expression))
	if strings.ContainsAny(str(expression), `{\[`) { // characters that may stand for many steps
		n, err := pattern.Size(str(expression))
		if errors.Is(err, pattern.ErrLarge) {
			return math.Inf(1)
		}
		steps = max(steps, n)
	}
	if steps > maxExpression {
		return math.Inf(1)
	}
	return float64(steps) * float64(len(str(text))) / 8 // 100 million take a second or two
}

// formatted is a lower bound for the size of the output of sprintf: each verb prints its widest
// operand, or the width it asks for.
func formatted(format string, operands *ast.Term) float64 {
	widest, digits := 0.0, ""
	for _, r := range format + " " {
		if r >= '0' && r <= '9' {
			digits += string(r)
			continue
		}
		if r == '*' {
			widest = 1e6 // the maximum width that sprintf obeys
		}
		if n, err := strconv.ParseFloat(digits, 64); err == nil {
			widest = max(widest, min(n, 1e6))
		}
		digits = ""
	}
	return float64(len(format)) + float64(strings.Count(format, "%"))*(widest+2*weigh(operands))
}

func str(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

func num(t *ast.Term) float64 {
	n, _ := t.Value.(ast.Number)
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

// weigh returns the size of a value in bytes if it were encoded: shared parts count each time. It
// stops once the size is more than any function accepts.
func weigh(t *ast.Term) float64 { return float64(maxOperand - weighed(t.Value, maxOperand)) }

// weighed returns what is left of a budget. The result is negative when the budget is exceeded, or
// when the value is nested too deeply: functions recurse into values level by level.
func weighed(v ast.Value, left int) int { return weighedAt(v, left, maxNested) }

func weighedAt(v ast.Value, left, levels int) int {
	if left -= 8; levels < 0 {
		return -1
	}
	each := func(t *ast.Term) error {
		if left = weighedAt(t.Value, left, levels-1); left < 0 {
			return errTooMuch
		}
		return nil
	}
	switch v := v.(type) {
	case ast.String:
		left -= len(v)
	case ast.Number:
		if left -= len(v); !sane(string(v)) {
			return -1
		}
	case *ast.Array:
		_ = v.Iter(each)
	case ast.Set:
		_ = v.Iter(each)
	case ast.Object:
		_ = v.Iter(func(name, value *ast.Term) error {
			if err := each(name); err != nil {
				return err
			}
			return each(value)
		})
	}
	return left
}

// sane reports whether a number can be written with few digits: nine characters can stand for a
// number of a gigabyte.
func sane(n string) bool {
	at := strings.IndexAny(n, "eE")
	if at < 0 {
		return len(n) <= maxDigits
	}
	e, err := strconv.Atoi(strings.TrimPrefix(n[at+1:], "+"))
	return err == nil && e <= maxDigits && e >= -maxDigits && at <= maxDigits
}

// instant are functions that read only a small part of their operands, however large these are.
var instant = []string{"count", "type_name", "object.get", "array.slice", "walk"}

// Built-in functions are wrapped to refuse operands that would take too long or too much memory.
// ¶ The evaluator has one global table of functions. In a program that evaluates rules of its own,
// the bounds also apply to those rules.
func init() { //nolint:gochecknoinits // the table of functions has no lock: it changes before any rule runs
	for _, b := range ast.Builtins {
		f := topdown.GetBuiltin(b.Name)
		if f == nil || strings.HasPrefix(b.Name, "is_") || slices.Contains(instant, b.Name) {
			continue
		}
		grows := growth[b.Name]
		topdown.RegisterBuiltinFunc(b.Name, func(bctx topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
			left := maxOperand
			for _, a := range args {
				if left = weighed(a.Value, left); left < 0 {
					return rego.NewHaltError(fmt.Errorf("%w: %s", errTooMuch, b.Name))
				}
			}
			if grows != nil && grows(args) > maxResult {
				return rego.NewHaltError(fmt.Errorf("%w: %s", errTooMuch, b.Name))
			}
			return f(bctx, args, iter)
		})
	}
}

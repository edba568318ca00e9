package opa

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// visit is the state of one evaluation for the functions that rules call.
type visit struct {
	call *operation.Call
	err  error // of a lookup
}

type visitKey struct{}

// function is a function that rules can call besides Rego's own.
type function struct {
	rego.Function
	do rego.BuiltinDyn
}

// functions returns these functions (docs/wire/rules.md#language).
func functions(cfg Config) []function {
	return []function{
		{rego.Function{
			Name: "TykAPIGet", Decl: types.NewFunction(types.Args(types.S), types.A), Nondeterministic: true, Memoize: true,
		}, func(bctx rego.BuiltinContext, args []*ast.Term) (*ast.Term, error) {
			v := bctx.Context.Value(visitKey{}).(*visit)
			s, ok := args[0].Value.(ast.String)
			if !ok || cfg.Lookup == nil {
				return fail(v, errors.New("no object can be looked up"))
			}
			found, err := cfg.Lookup(bctx.Context, v.call, string(s))
			if err != nil {
				return fail(v, err)
			}
			text, err := json.Marshal(found) // what a client would see, whatever the Go type
			if err != nil {
				return fail(v, err)
			}
			value, err := ast.ValueFromReader(strings.NewReader(string(text)))
			if err != nil {
				return fail(v, err)
			}
			return ast.NewTerm(value), nil
		}},
		{rego.Function{
			Name: "TykDiff", Decl: types.NewFunction(types.Args(types.A, types.A), types.A),
		}, func(_ rego.BuiltinContext, args []*ast.Term) (*ast.Term, error) {
			if weighed(args[0].Value, maxOperand) < 0 || weighed(args[1].Value, maxOperand) < 0 {
				return nil, rego.NewHaltError(errTooMuch)
			}
			return ast.NewTerm(diff(args[0].Value, args[1].Value)), nil
		}},
		kindFunction(cfg, "isTykOas", "oas"),
		kindFunction(cfg, "isTykClassic", "classic"),
		kindFunction(cfg, "isTykStreams", "streams"),
	}
}

// builtin returns the declaration of a function for the compiler.
func (f function) builtin() *ast.Builtin {
	return &ast.Builtin{Name: f.Name, Decl: f.Decl, Nondeterministic: f.Nondeterministic}
}

// fail ends the evaluation at once.
func fail(v *visit, err error) (*ast.Term, error) {
	v.err = err
	return nil, rego.NewHaltError(err)
}

func kindFunction(cfg Config, name, kind string) function {
	return function{rego.Function{
		Name: name, Decl: types.NewFunction(types.Args(), types.B), Nondeterministic: true,
	}, func(bctx rego.BuiltinContext, _ []*ast.Term) (*ast.Term, error) {
		is := cfg.ObjectKind != nil && cfg.ObjectKind(bctx.Context, bctx.Context.Value(visitKey{}).(*visit).call) == kind
		return ast.BooleanTerm(is), nil
	}}
}

// capabilities returns our functions and the allowed part of Rego: nothing that lets rules reach
// the network, files or their process, or compute without end.
func capabilities(own []function) *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = []string{} // for allowed features such as remote schemas
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return slices.ContainsFunc(forbidden, func(name string) bool {
			return b.Name == name || strings.HasSuffix(name, ".") && strings.HasPrefix(b.Name, name)
		})
	})
	for _, f := range own {
		c.Builtins = append(c.Builtins, f.builtin())
	}
	return c
}

// diff returns the merge patch (RFC 7386) that turns a into b. It cannot set a member to null,
// since null means removal in a merge patch.
func diff(a, b ast.Value) ast.Value {
	from, ok := a.(ast.Object)
	to, both := b.(ast.Object)
	if !ok || !both {
		return b
	}
	patch := ast.NewObject()
	from.Foreach(func(name, _ *ast.Term) {
		if to.Get(name) == nil {
			patch.Insert(name, ast.NullTerm())
		}
	})
	to.Foreach(func(name, value *ast.Term) {
		old := from.Get(name)
		switch {
		case old == nil:
			patch.Insert(name, value)
		case old.Value.Compare(value.Value) != 0:
			patch.Insert(name, ast.NewTerm(diff(old.Value, value.Value)))
		}
	})
	return patch
}

package opa

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// visit is one evaluation as the functions that rules call see it.
type visit struct {
	call *operation.Call
	err  error // of a look-up
}

type visitKey struct{}

func visitOf(ctx context.Context) *visit { return ctx.Value(visitKey{}).(*visit) }

// functions are what rules can call besides Rego's own (docs/wire/rules.md#language).
func functions(cfg Config) []func(*rego.Rego) {
	return []func(*rego.Rego){
		rego.Function1(&rego.Function{
			Name: "TykAPIGet", Decl: types.NewFunction(types.Args(types.S), types.A),
			Nondeterministic: true, Memoize: true,
		}, get(cfg)),
		rego.Function2(&rego.Function{
			Name: "TykDiff", Decl: types.NewFunction(types.Args(types.A, types.A), types.A),
		}, func(_ rego.BuiltinContext, a, b *ast.Term) (*ast.Term, error) {
			return ast.NewTerm(diff(a.Value, b.Value)), nil
		}),
		kindFunction(cfg, "isTykOas", "oas"),
		kindFunction(cfg, "isTykClassic", "classic"),
		kindFunction(cfg, "isTykStreams", "streams"),
	}
}

func get(cfg Config) rego.Builtin1 {
	return func(bctx rego.BuiltinContext, path *ast.Term) (*ast.Term, error) {
		v := visitOf(bctx.Context)
		s, ok := path.Value.(ast.String)
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
	}
}

// fail ends the evaluation at once.
func fail(v *visit, err error) (*ast.Term, error) {
	v.err = err
	return nil, rego.NewHaltError(err)
}

func kindFunction(cfg Config, name, kind string) func(*rego.Rego) {
	return rego.FunctionDyn(&rego.Function{
		Name: name, Decl: types.NewFunction(types.Args(), types.B),
		Nondeterministic: true,
	}, func(bctx rego.BuiltinContext, _ []*ast.Term) (*ast.Term, error) {
		is := cfg.ObjectKind != nil && cfg.ObjectKind(bctx.Context, visitOf(bctx.Context).call) == kind
		return ast.BooleanTerm(is), nil
	})
}

// restrictions take away what would let rules reach the network or look at the
// process they run in.
func restrictions() []func(*rego.Rego) {
	c := ast.CapabilitiesForThisVersion()
	c.AllowNet = []string{} // for what is left, such as remote schemas
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool {
		return b.Name == "http.send" || b.Name == "opa.runtime" || strings.HasPrefix(b.Name, "net.") || strings.HasPrefix(b.Name, "providers.")
	})
	return []func(*rego.Rego){rego.Capabilities(c)}
}

// diff returns the merge patch (RFC 7386) that turns a into b. It cannot set a
// member to null, which means removal in a merge patch.
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

package opa

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/rules"
)

// expressions is how many compiled regular expressions are cached: more than the table
// has rows, while Rego by itself caches 100.
var expressions = 1024

// maxReasons is the maximum size in bytes of the reasons of a denial, since they are
// sent.
const maxReasons = 64 << 10

// evaluate runs a rule set on an input until ctx ends.
func (e *Engine) evaluate(ctx context.Context, set *ruleSet, c *operation.Call, in ast.Value, tracers ...topdown.QueryTracer) (v rules.Verdict, err error) {
	seen := &visit{call: c}
	stop := topdown.NewCancel()
	defer context.AfterFunc(ctx, stop.Cancel)()
	options := append(slices.Clip(e.eval), rego.EvalParsedInput(in), rego.EvalExternalCancel(stop))
	for _, t := range tracers {
		options = append(options, rego.EvalQueryTracer(t))
	}
	results, err := set.query.Eval(context.WithValue(ctx, visitKey{}, seen), options...)
	switch {
	case ctx.Err() != nil:
		return rules.Verdict{}, fmt.Errorf("%w: rules were stopped: %w", ErrNoVerdict, ctx.Err())
	case seen.err != nil:
		// Not wrapped: a missing object in the lookup must not become the status of
		// this call.
		return rules.Verdict{}, fmt.Errorf("%w: TykAPIGet: %s", ErrNoVerdict, seen.err.Error())
	case err != nil:
		return rules.Verdict{}, err
	case len(results) != 1:
		return rules.Verdict{}, fmt.Errorf("%w: deny or patch_request is undefined", ErrNoVerdict)
	}
	found := results[0].Bindings
	if set.denies {
		if v.Denials, err = reasons(found["deny"]); err != nil {
			return rules.Verdict{}, err
		}
	}
	if set.patches {
		if v.Patch, err = patch(found["patch"]); err != nil {
			return rules.Verdict{}, err
		}
	}
	return v, nil
}

// reasons returns the values of deny, sorted: strings as they are, others as JSON
// (docs/wire/rules.md#language).
func reasons(deny any) (out []string, err error) {
	set, ok := deny.(ast.Set)
	if !ok {
		return nil, fmt.Errorf("%w: deny is not a set", ErrNoVerdict)
	}
	size := 0
	err = set.Iter(func(t *ast.Term) error {
		reason, ok := t.Value.(ast.String)
		if !ok {
			if weighed(t.Value, maxOperand) < 0 {
				return fmt.Errorf("%w: %w: deny", ErrNoVerdict, errTooMuch)
			}
			text, err := marshal(t.Value)
			if err != nil {
				return err
			}
			reason = ast.String(text)
		}
		if size += len(reason) + 2; size > maxReasons {
			return fmt.Errorf("%w: deny holds more than %d KiB", ErrNoVerdict, maxReasons>>10)
		}
		out = append(out, string(reason))
		return nil
	})
	slices.Sort(out)
	return out, err
}

// patch merges all patches into one, in the order of Rego's sets.
func patch(requested any) (json.RawMessage, error) {
	set, ok := requested.(ast.Set)
	if !ok {
		return nil, fmt.Errorf("%w: patch_request is not a set", ErrNoVerdict)
	}
	if set.Len() == 0 {
		return nil, nil
	}
	if weighed(set, maxOperand) < 0 {
		return nil, fmt.Errorf("%w: %w: patch_request", ErrNoVerdict, errTooMuch)
	}
	sum := ast.NewObject()
	err := set.Iter(func(t *ast.Term) (err error) {
		o, ok := t.Value.(ast.Object)
		if !ok {
			return fmt.Errorf("%w: patch_request holds something else than objects", ErrNoVerdict)
		}
		sum, err = compose(sum, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return marshal(sum)
}

// compose returns the merge patch with the effect of p followed by q. No merge patch
// can replace a member that p sets by an object that q sets, for every earlier value:
// rules that need this contradict themselves.
func compose(p, q ast.Object) (ast.Object, error) {
	out := ast.NewObject()
	p.Foreach(func(name, value *ast.Term) { out.Insert(name, value) })
	err := q.Iter(func(name, value *ast.Term) error {
		inner, isObject := value.Value.(ast.Object)
		before := p.Get(name)
		if before == nil || !isObject {
			out.Insert(name, value)
			return nil
		}
		outer, ok := before.Value.(ast.Object)
		if !ok {
			return fmt.Errorf("%w: patches disagree about member %s", ErrNoVerdict, name.Value)
		}
		both, err := compose(outer, inner)
		out.Insert(name, ast.NewTerm(both))
		return err
	})
	return out, err
}

// marshal encodes a value as JSON.
func marshal(v ast.Value) (json.RawMessage, error) {
	plain, err := ast.JSON(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoVerdict, err)
	}
	return json.RawMessage(text(plain)), nil
}

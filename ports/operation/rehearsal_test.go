package operation_test

import (
	"context"
	"net/url"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
	"github.com/gatehouse-io/gatehouse/ports/store"
)

func TestRehearsable(t *testing.T) {
	refuse := false
	row := func(opts ...operation.Option) *operation.Operation {
		fn := func(ctx context.Context, _ struct{}) (bool, error) {
			if refuse {
				return false, fault.New(fault.NotFound, "thing.not_found", "no thing")
			}
			return store.Rehearsing(ctx), nil
		}
		return &group(operation.DELETE("delete", "/x", "Delete", fn, append(opts, operation.Example(nil, true))...))[0]
	}
	do := func(o *operation.Operation, values ...string) (any, error) {
		return o.Do(t.Context(), &operation.Call{Spec: &o.Spec, Query: url.Values{operation.DryRun: values}})
	}
	for _, c := range []struct {
		o     *operation.Operation
		value string
		want  bool
	}{{row(), "false", false}, {row(), "0", false}, {row(operation.Rehearsable(nil)), "false", false}, {row(operation.Rehearsable(nil)), "1", true}} {
		out, err := do(c.o, c.value)
		r, dry := out.(operation.Rehearsed)
		if err != nil || dry != c.want || dry && (r.Status != "OK" || r.Meta.Changes == nil || r.Meta.References == nil) || !dry && out != false {
			t.Errorf("%q: %+v, %v", c.value, out, err)
		}
		call := &operation.Call{Spec: &c.o.Spec, Query: url.Values{operation.DryRun: {c.value}}}
		if operation.Rehearses(call) != c.want {
			t.Errorf("%q: rehearses %v", c.value, !c.want)
		}
	}
	o := row(operation.Rehearsable(nil))
	for _, values := range [][]string{{"perhaps"}, {""}, {"", "true"}, {"false", "true"}, {"true", "false"}} {
		for _, o := range []*operation.Operation{o, row()} {
			if out, err := do(o, values...); fault.CodeOf(err) != operation.CodeParameter {
				t.Errorf("%q: %v, %v", values, out, err)
			}
		}
	}
	if _, err := do(row(), "true"); fault.CodeOf(err) != operation.CodeParameter {
		t.Errorf("the real thing instead of a rehearsal: %v", err)
	}
	refuse = true
	if _, err := do(o, "true"); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	if p := o.Params[len(o.Params)-1]; p.Name != operation.DryRun || p.In != "query" {
		t.Errorf("%+v", p)
	}
}

func TestNeeds(t *testing.T) {
	fn := func(context.Context, struct{}) (bool, error) { return true, nil }
	ops := group(
		operation.POST("a", "/a", "A", fn, operation.Needs(access.Assets, access.Read, "templateID", "templateId"), operation.Example(nil, 1)),
		operation.POST("b", "/b", "B", fn, operation.Needs(access.Hooks, access.Write), operation.Example(nil, 1)),
		operation.POST("c", "/c", "C", fn, operation.AnyUser(), operation.Example(nil, 1)))
	if err := operation.Check(ops); err != nil || ops[2].Permission != access.AnyUser || ops[0].Permission != access.APIs {
		t.Fatal(err, ops[2].Permission)
	}
	some := access.Map{"api_assets": access.LevelRead, "hooks": access.LevelRead}
	for _, c := range []struct {
		op    int
		query url.Values
		has   access.Map
		code  string
	}{
		{0, nil, nil, ""},
		{0, url.Values{"templateId": {"t"}}, nil, operation.CodeNeeds + "api_assets"},
		{0, url.Values{"templateID": {"t"}}, some, ""},
		{1, nil, some, operation.CodeNeeds + "hooks"},
		{1, nil, access.Map{"IsAdmin": access.LevelAdmin}, ""},
		{2, nil, nil, ""},
	} {
		err := operation.Unmet(&operation.Call{Spec: &ops[c.op].Spec, Query: c.query, Principal: operation.Principal{Permissions: c.has}})
		if err == nil && c.code != "" || err != nil && fault.CodeOf(err) != c.code {
			t.Errorf("%s %v: %v", ops[c.op].ID, c.query, err)
		}
	}
}

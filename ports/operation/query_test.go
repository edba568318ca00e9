package operation_test

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

func TestReadQuery(t *testing.T) {
	for raw, want := range map[string]struct {
		query   url.Values
		garbled bool
	}{
		"":                        {nil, false},
		"a=1&b=x+y&&a=%32&c&=d":   {url.Values{"": {"d"}, "a": {"1", "2"}, "b": {"x y"}, "c": {""}}, false},
		"u=http://h/;v=1;w&x=%3B": {url.Values{"u": {"http://h/;v=1;w"}, "x": {";"}}, false},
		"a=b=c":                   {url.Values{"a": {"b=c"}}, false},
		"q=100%":                  {nil, true},
		"a=1&%zz=2&b=%4":          {url.Values{"a": {"1"}}, true},
	} {
		q, garbled := operation.ReadQuery(raw)
		if garbled != want.garbled || !maps.EqualFunc(q, want.query, slices.Equal) {
			t.Errorf("%q: %q, garbled %v; want %q, %v", raw, q, garbled, want.query, want.garbled)
		}
	}
}

// A parameter that cannot be decoded may be the one that asks for a rehearsal.
func TestGarbledQueriesAreRefused(t *testing.T) {
	done := false
	fn := func(context.Context, struct{}) (bool, error) { done = true; return true, nil }
	o := &group(operation.DELETE("delete", "/x", "Delete", fn, operation.Rehearsable(nil), operation.Example(nil, true)))[0]
	c := &operation.Call{Spec: &o.Spec}
	c.Query, c.Garbled = operation.ReadQuery("dry_run=true%")
	if _, err := o.Do(t.Context(), c); fault.CodeOf(err) != operation.CodeParameter || done {
		t.Errorf("%v, done %v", err, done)
	}
}

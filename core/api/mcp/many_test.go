package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/e2e/growth"
)

// described returns a REST API with n operations, and a view that names each of them.
func described(n int) (rest, view *doc.Node) {
	rest, view = doc.NewObject(), doc.NewObject()
	primitives := doc.NewArray()
	for i := range n {
		id := doc.NewString(fmt.Sprintf("o%d", i))
		rest.Put(id, "paths", fmt.Sprintf("/p%d", i), "get", "operationId")
		p := doc.NewObject()
		p.Put(id, "source", "operationId")
		primitives.Append(p)
	}
	view.Set("primitives", primitives)
	return rest, view
}

// TestManyPrimitives: operations and parameters are looked up in maps, and a source is read
// once for all of its views.
func TestManyPrimitives(t *testing.T) {
	growth.Linear(t, 2000, func(n int) func() {
		rest, view := described(n)
		source, err := mcp.SourceOf(rest)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if v, err := source.Derive(view, true); err != nil || len(v.Tools) != n {
				t.Error(len(v.Tools), err)
			}
		}
	})
	growth.Linear(t, 2000, func(n int) func() {
		rest, view := described(1)
		taken, chosen := doc.NewArray(), doc.NewArray()
		for i := range n {
			p, q := doc.NewObject(), doc.NewObject()
			p.Set("in", doc.NewString("query"))
			p.Set("name", doc.NewString(fmt.Sprintf("q%d", i)))
			q.Set("param", doc.NewString(fmt.Sprintf("q%d", i)))
			taken.Append(p)
			chosen.Append(q)
		}
		rest.Put(taken, "paths", "/p0", "get", "parameters")
		view.Get("primitives").Item(0).Set("parameters", chosen)
		source, err := mcp.SourceOf(rest)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := source.Derive(view, true); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestViewsAreApart: views of the same source do not change each other.
func TestViewsAreApart(t *testing.T) {
	rest, view := described(1)
	rest.Put(doctest.Node(t, `[{"in":"query","name":"q","schema":{"type":"string"}}]`), "paths", "/p0", "get", "parameters")
	source, err := mcp.SourceOf(rest)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := source.Derive(view, true)
	if err != nil {
		t.Fatal(err)
	}
	before := string(plain.Expanded().JSON())
	_, view = described(1)
	view.Get("primitives").Item(0).Set("parameters", doctest.Node(t, `[{"param":"q","name":"other","description":"changed"}]`))
	if _, err := source.Derive(view, true); err != nil {
		t.Fatal(err)
	}
	if after := string(plain.Expanded().JSON()); after != before {
		t.Errorf("%s, before %s", after, before)
	}
}

// TestParametersAreBounded: many paths may refer to the same list of parameters, which would
// take gigabytes.
func TestParametersAreBounded(t *testing.T) {
	rest, list := doc.NewObject(), doc.NewArray()
	for i := range 5_000 {
		p := doc.NewObject()
		p.Set("in", doc.NewString("query"))
		p.Set("name", doc.NewString(fmt.Sprintf("q%d", i)))
		list.Append(p)
	}
	rest.Put(list, "paths", "/p", "parameters")
	rest.Put(doc.NewString("o"), "paths", "/p", "get", "operationId")
	for i := range 5_000 {
		rest.Put(doc.NewString("#/paths/~1p"), "paths", fmt.Sprintf("/p%d", i), "$ref")
	}
	if _, err := mcp.SourceOf(rest); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), "100000 parameters") {
		t.Error(err)
	}
}

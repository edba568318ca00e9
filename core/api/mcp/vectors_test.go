package mcp_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

type vector struct {
	Name     string
	Input    *doc.Node
	Settings struct {
		View   *doc.Node `json:"x-tyk-mcp-server"`
		Strict bool
	}
	Output struct {
		Tools       *doc.Node
		Warnings    []mcp.Warning
		Expanded    *doc.Node
		ExpandError bool `json:"expand_error"`
		Error       *struct{ Stage string }
	}
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/mcp_derive.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) { v.check(t) })
	}
}

func (v vector) check(t *testing.T) {
	view, err := mcp.Derive(v.Input, v.Settings.View, v.Settings.Strict)
	if v.Output.Error != nil {
		if fault.KindOf(err) != fault.Invalid {
			t.Fatalf("want an Invalid fault, got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	tools := doc.NewArray()
	for _, tool := range view.Tools {
		tools.Append(tool.Node())
	}
	same(t, "tools", tools, v.Output.Tools)
	if len(view.Warnings) != len(v.Output.Warnings) {
		t.Fatalf("got warnings %+v, want %+v", view.Warnings, v.Output.Warnings)
	}
	for i, w := range view.Warnings {
		w.Message = ""
		if w != v.Output.Warnings[i] {
			t.Fatalf("got warning %+v, want %+v", w, v.Output.Warnings[i])
		}
	}
	expanded, err := expand(v.Input, v.Settings.View)
	if v.Output.ExpandError {
		if err == nil {
			t.Fatal("expanding must fail")
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	same(t, "expanded", expanded, v.Output.Expanded)
}

func same(t *testing.T, what string, got, want *doc.Node) {
	t.Helper()
	if !got.Equal(want) {
		t.Fatalf("%s:\ngot  %s\nwant %s", what, got.JSON(), want.JSON())
	}
}

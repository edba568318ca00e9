package oas_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/oas"
	"github.com/gatehouse-io/gatehouse/core/doc"
)

// vector is one recorded conversion; the README of testdata/vectors says more.
type vector struct {
	Name      string    `json:"name"`
	About     string    `json:"about"`
	Input     *doc.Node `json:"input"`
	Unordered []string  `json:"unordered"`
	Settings  struct {
		Classic *doc.Node `json:"classic"`
		MCP     bool      `json:"mcp"`
		OAS     *doc.Node `json:"oas"`
	} `json:"settings"`
	Output struct {
		Classic     *doc.Node `json:"classic"`
		ClassicFull *doc.Node `json:"classic_full"`
		OAS         *doc.Node `json:"oas"`
	} `json:"output"`
}

func vectors(t *testing.T, kind string) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "vectors", kind+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []vector
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestVectorsExtract(t *testing.T) {
	for _, v := range vectors(t, "oas_to_classic") {
		t.Run(v.Name, func(t *testing.T) {
			before := string(v.Input.JSON())
			got := oas.Extract(v.Input, v.Settings.Classic, oas.Options{MCP: v.Settings.MCP})
			wantTyped(t, got)
			if full := v.Output.ClassicFull; full != nil {
				compare(t, v, "/classic_full", full, got.Clone())
			}
			compare(t, v, "/classic", prune(v.Output.Classic), prune(got))
			if string(v.Input.JSON()) != before {
				t.Error("the document was changed")
			}
		})
	}
}

func TestVectorsFill(t *testing.T) {
	for _, v := range vectors(t, "classic_to_oas") {
		t.Run(v.Name, func(t *testing.T) {
			compare(t, v, "/oas", v.Output.OAS, oas.Fill(v.Settings.OAS, v.Input))
		})
	}
}

func TestVectorsRoundTrip(t *testing.T) {
	for _, v := range vectors(t, "roundtrip") {
		t.Run(v.Name, func(t *testing.T) {
			c := oas.Extract(v.Input, nil, oas.Options{})
			compare(t, v, "/oas", v.Output.OAS, oas.Fill(v.Input, c))
		})
	}
}

// compare reports where two values differ. Lists without a fixed order are compared as sets.
func compare(t *testing.T, v vector, root string, want, got *doc.Node) {
	t.Helper()
	for _, pointer := range v.Unordered {
		if path, ok := strings.CutPrefix(pointer, root+"/"); ok {
			sortAt(want, path)
			sortAt(got, path)
		}
	}
	for _, d := range differences("", want, got) {
		t.Error(d)
	}
}

func sortAt(n *doc.Node, pointer string) {
	for name := range strings.SplitSeq(pointer, "/") {
		if i, err := strconv.Atoi(name); err == nil && n.Is(doc.TypeArray) && i < n.Len() {
			n = n.Items()[i]
			continue
		}
		n = n.Get(name)
	}
	if n == nil {
		return
	}
	items := n.Items()
	slices.SortFunc(items, func(a, b *doc.Node) int { return cmp.Compare(canonical(a), canonical(b)) })
	n.SetItems(items)
}

// canonical encodes a value with its members sorted.
func canonical(n *doc.Node) string {
	var v any
	_ = json.Unmarshal(n.JSON(), &v)
	b, _ := json.Marshal(v)
	return string(b)
}

func differences(path string, want, got *doc.Node) []string {
	if !want.Is(doc.TypeObject) || !got.Is(doc.TypeObject) {
		if want.Equal(got) {
			return nil
		}
		return []string{path + ": want " + written(want) + ", got " + written(got)}
	}
	var out []string
	for name, v := range want.Members() {
		out = append(out, differences(path+"/"+name, v, got.Get(name))...)
	}
	for name, v := range got.Members() {
		if want.Get(name) == nil {
			out = append(out, path+"/"+name+": not wanted: "+written(v))
		}
	}
	return out
}

func written(n *doc.Node) string {
	if n == nil {
		return "nothing"
	}
	return canonical(n)
}

// prune removes empty values, except list items.
func prune(n *doc.Node) *doc.Node {
	switch n.Type() {
	case doc.TypeObject:
		out := doc.NewObject()
		for name, v := range n.Members() {
			if v = prune(v); !empty(v) {
				out.Set(name, v)
			}
		}
		return out
	case doc.TypeArray:
		out := doc.NewArray()
		for _, v := range n.Items() {
			out.Append(prune(v))
		}
		return out
	}
	return n
}

func empty(n *doc.Node) bool {
	switch n.Type() {
	case doc.TypeBool:
		return !n.True()
	case doc.TypeNumber:
		return n.Float() == 0
	case doc.TypeString:
		return n.Text() == ""
	}
	return n.Len() == 0
}

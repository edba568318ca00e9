package mcp_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/api/mcp"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

// golden is one file of testdata: a REST API, a view of it, and the expected result.
type golden struct {
	About       string        `json:"about"`
	Source      *doc.Node     `json:"source"`
	View        *doc.Node     `json:"view"`
	Refusal     string        `json:"refusal,omitempty"`
	Shown       []string      `json:"shown,omitempty"`
	Warnings    []mcp.Warning `json:"warnings,omitempty"`
	Expanded    *doc.Node     `json:"expanded,omitempty"`
	ExpandError string        `json:"expand_error,omitempty"`
}

// derive returns g with the actual result.
func (g golden) derive(t *testing.T) golden {
	t.Helper()
	before := string(g.Source.JSON()) + string(g.View.JSON())
	g.Refusal, g.Shown, g.Warnings, g.Expanded, g.ExpandError = "", nil, nil, nil, ""
	view, err := mcp.Derive(g.Source, g.View, false)
	if err != nil {
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("want an Invalid fault, got %v", err)
		}
		g.Refusal = err.Error()
		return g
	}
	for _, tool := range view.Tools {
		g.Shown = append(g.Shown, tool.Name)
	}
	g.Warnings = view.Warnings
	if g.Expanded, err = expand(g.Source, g.View); err != nil {
		g.ExpandError = err.Error()
	}
	if string(g.Source.JSON())+string(g.View.JSON()) != before {
		t.Error("an argument was changed")
	}
	return g
}

func encode(t *testing.T, g golden) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var g golden
			if err := json.Unmarshal(text, &g); err != nil {
				t.Fatal(err)
			}
			got := encode(t, g.derive(t))
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, text) {
				t.Errorf("got  %s\nwant %s", got, text)
			}
		})
	}
}

// TestExpandedReadsBack: an expanded view that is saved and read gives the same expanded view.
func TestExpandedReadsBack(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var g golden
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		if g.Expanded == nil {
			continue
		}
		again, err := expand(g.Source, saved(g.Expanded))
		if err != nil || !again.Equal(g.Expanded) {
			t.Errorf("%s: %v\ngot  %s\nwant %s", file, err, again.JSON(), g.Expanded.JSON())
		}
	}
}

// saved returns a view in its stored form.
func saved(view *doc.Node) *doc.Node {
	document := doc.NewObject()
	document.Set(mcp.ViewExtension, view.Clone())
	mcp.Compact(document)
	return document.Get(mcp.ViewExtension)
}

func TestCompact(t *testing.T) {
	const paired = `"x-tyk-api-gateway":{"upstream":{"url":"tyk://rest__mcp-server"}}`
	for before, want := range map[string]string{
		`{"a":1}`: `{"a":1}`,
		`{"x-tyk-mcp-server":{"primitives":[]},"a":1.0,` + paired + `}`:                         `{"a":1.0,` + paired + `}`,
		`{"x-tyk-mcp-server":{},` + paired + `}`:                                                `{` + paired + `}`,
		`{"x-tyk-mcp-server":null,` + paired + `}`:                                              `{` + paired + `}`,
		`{"x-tyk-mcp-server":{"primitives":[{"allow":false,"inputSchema":{}}]},` + paired + `}`: `{` + paired + `}`,
		`{"x-tyk-mcp-server":{"primitives":{}},` + paired + `}`:                                 `{"x-tyk-mcp-server":{"primitives":{}},` + paired + `}`,
		`{"x-tyk-mcp-server":{"mine":1},` + paired + `}`:                                        `{"x-tyk-mcp-server":{"mine":1},` + paired + `}`,
		`{"x-tyk-mcp-server":"view",` + paired + `}`:                                            `{"x-tyk-mcp-server":"view",` + paired + `}`,
		`{"x-tyk-mcp-server":{"primitives":[]}}`:                                                `{"x-tyk-mcp-server":{"primitives":[]}}`,
		`{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"http://rest"}}}`:        `{"x-tyk-mcp-server":{},"x-tyk-api-gateway":{"upstream":{"url":"http://rest"}}}`,
		`{"x-tyk-mcp-server":{"x":1,"primitives":[{"source":{},"allow":false,"inputSchema":{}},{"allow":true,"outputSchema":{},"parameterOrder":[],"name":"n"},{"allow":false,"y":1e1},{"inputSchema":1}]}}`: `{"x-tyk-mcp-server":{"x":1,"primitives":[{"allow":true,"name":"n"},{"allow":false,"y":1e1},{}]}}`,
	} {
		document := doctest.Node(t, before)
		for range 2 {
			mcp.Compact(document)
			if string(document.JSON()) != want {
				t.Errorf("%s\ngot  %s\nwant %s", before, document.JSON(), want)
			}
		}
	}
}

func TestManaged(t *testing.T) {
	for classic, want := range map[string]bool{
		`{"application_protocol":"mcp","json_rpc_version":"2.0"}`: true,
		`{"application_protocol":"mcp"}`:                          false,
		`{"json_rpc_version":"2.0"}`:                              false,
		`{"proxy":{"target_url":"tyk://a__mcp-server"}}`:          true,
		`{"proxy":{"target_url":"tyk://id:a/mcp/"}}`:              true,
		`{"proxy":{"target_url":"tyk://a/x"}}`:                    false,
		`{"proxy":{"target_url":"http://a/mcp"}}`:                 false,
	} {
		if got := mcp.Managed(doctest.Node(t, classic)); got != want {
			t.Errorf("%s: %v", classic, got)
		}
	}
}

func TestAdopt(t *testing.T) {
	document := doctest.Node(t, `{"x-tyk-api-gateway":{"server":{"listenPath":{"value":"/m/"},"gatewayTags":{"x":1}}}}`)
	classic := doctest.Node(t, `{"name":"m","tags":["old"]}`)
	if err := mcp.Adopt(document, classic, doctest.Node(t, `{"tags":["n"],"tags_disabled":true}`)); err != nil {
		t.Error(err)
	}
	if err := mcp.Adopt(doc.NewObject(), doc.NewObject(), doctest.Node(t, `{"tags":["`+strings.Repeat("n", 64<<10)+`"]}`)); fault.KindOf(err) != fault.Invalid {
		t.Error("long tags:", err)
	}
	if got := string(document.JSON()); got != `{"x-tyk-api-gateway":{"server":{"listenPath":{"value":"/m/"},"gatewayTags":{"x":1,"enabled":false,"tags":["n"]}}}}` {
		t.Error(got)
	}
	if got := string(classic.JSON()); got != `{"name":"m","tags":["n"],"tags_disabled":true}` {
		t.Error(got)
	}
}

func TestClash(t *testing.T) {
	source := doctest.Node(t, `{"paths":{"/a":{"get":{"operationId":"a"}},"/b":{"get":{"operationId":"b"}}}}`)
	tools := func(view string) []mcp.Tool {
		v, err := mcp.Derive(source, doctest.Node(t, view), true)
		if err != nil {
			t.Fatal(err)
		}
		return v.Tools
	}
	all, renamed := tools(`{}`), tools(`{"primitives":[{"source":{"operationId":"a"},"name":"b","allow":true}]}`)
	if name, clash := mcp.Clash(all, all); clash {
		t.Errorf("%s clashes with itself", name)
	}
	if name, clash := mcp.Clash(all, renamed); !clash || name != "b" {
		t.Errorf("got %q, %v", name, clash)
	}
}

// TestReferencesDoNotExplode: schemas that refer to each other twice at every level are cut
// off.
func TestReferencesDoNotExplode(t *testing.T) {
	schemas := doc.NewObject()
	for i := range 60 {
		next := `{"$ref":"#/components/schemas/S` + strconv.Itoa(i+1) + `"}`
		schemas.Set("S"+strconv.Itoa(i), doctest.Node(t, `{"type":"object","properties":{"l":`+next+`,"r":`+next+`}}`))
	}
	source := doctest.Node(t, `{"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}}`)
	source.Put(schemas, "components", "schemas")
	v, err := mcp.Derive(source, nil, true)
	if err != nil || len(v.Tools) != 1 || len(v.Tools[0].Node().JSON()) > 1<<20 {
		t.Error(err, len(v.Tools))
	}
}

// TestToolsTogether: many operations that refer to one large schema do not multiply it.
func TestToolsTogether(t *testing.T) {
	const operations = 5000
	long := strings.Repeat("v", 1<<20)
	for what, schema := range map[string]string{
		"fields":       `{"type":"object","properties":{` + many(4000, `"p%d":{"type":"string"}`) + `}}`,
		"a long value": `{"type":"object","properties":{"p":{"enum":["` + long + `"]}}}`,
		"a long name":  `{"type":"object","properties":{"` + long + `":{"type":"string"}}}`,
		"required":     `{"type":"object","required":["` + long + `"]}`,
	} {
		t.Run(what, func(t *testing.T) {
			source := doctest.Node(t, `{"paths":{`+many(operations, `"/p%d":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}}}`)+`},"components":{"schemas":{"S":`+schema+`}}}`)
			v, err := mcp.Derive(source, nil, true)
			if err != nil || len(v.Tools) != operations {
				t.Fatal(err, len(v.Tools))
			}
			size := 0
			for i := range v.Tools {
				size += len(v.Tools[i].Node().JSON())
			}
			if size > 24<<20 || !strings.Contains(string(v.Tools[0].Node().JSON()), `"object"`) {
				t.Errorf("%d bytes", size)
			}
		})
	}
}

// many repeats a text with a number in it.
func many(n int, text string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(text, i)
	}
	return strings.Join(all, ",")
}

// FuzzDerive reads any JSON: nothing panics, names are valid and unique, and an expanded view
// that is saved can be read back.
func FuzzDerive(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if g, err := doc.ParseNode(text); err == nil {
			f.Add(g.Get("source").JSON(), g.Get("view").JSON())
			f.Add(g.Get("source").JSON(), g.Get("expanded").JSON())
		}
	}
	f.Fuzz(func(t *testing.T, source, view []byte) {
		s, err := doc.ParseNode(source)
		if err != nil {
			return
		}
		v, err := doc.ParseNode(view)
		if err != nil {
			return
		}
		mcp.Managed(s)
		derived, err := mcp.Derive(s, v, false)
		if err != nil {
			return
		}
		for i, tool := range derived.Tools {
			if len(tool.Name) > 128 || i > 0 && derived.Tools[i-1].Name >= tool.Name {
				t.Fatalf("name %q", tool.Name)
			}
		}
		if expanded, err := expand(s, v); err == nil {
			if _, err := expand(s, saved(expanded)); err != nil {
				t.Fatalf("%v: %s", err, expanded.JSON())
			}
		}
		saved(v)
	})
}

// expand returns a tool view with everything filled in; it is read strictly.
func expand(rest, view *doc.Node) (*doc.Node, error) {
	v, err := mcp.Derive(rest, view, true)
	if err != nil {
		return nil, err
	}
	return v.Expanded(), nil
}

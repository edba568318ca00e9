package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/core/description/imports"
	"github.com/gatehouse-io/gatehouse/core/doc"
	"github.com/gatehouse-io/gatehouse/core/doc/doctest"
	"github.com/gatehouse-io/gatehouse/core/fault"
)

var update = flag.Bool("update", false, "write what comes out into the golden files")

// golden is one file of testdata: the input and the exact output.
type golden struct {
	About    string          `json:"about"`
	Op       string          `json:"op"` // import, patch or dryrun
	Query    string          `json:"query"`
	Own      []string        `json:"own,omitempty"` // URLs of gateways
	Document *doc.Node       `json:"document"`
	Existing *doc.Node       `json:"existing,omitempty"`
	Template *doc.Node       `json:"template,omitempty"`
	Output   json.RawMessage `json:"output,omitempty"`
	Refusal  string          `json:"refusal,omitempty"`
}

func (g golden) run(t *testing.T) (*doc.Node, error) {
	values, err := url.ParseQuery(g.Query)
	if err != nil {
		t.Fatal(err)
	}
	s := imports.ParseSettings(func(name string) (string, bool) { return values.Get(name), values.Has(name) })
	s.Own = func(address string) bool { return slices.Contains(g.Own, address) }
	switch out := g.Document.Clone(); g.Op {
	case "patch":
		return out, imports.Patch(out, g.Existing, s)
	case "dryrun":
		return imports.DryRun(out, g.Template, s)
	default:
		return out, imports.Import(out, s)
	}
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
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
			existing := g.Existing.JSON()
			out, err := g.run(t)
			if !bytes.Equal(g.Existing.JSON(), existing) {
				t.Error("the stored document was changed")
			}
			if *update {
				write(t, file, g, out, err)
			}
			compare(t, g, out, err)
		})
	}
}

func compare(t *testing.T, g golden, out *doc.Node, err error) {
	t.Helper()
	if err != nil {
		if err.Error() != g.Refusal || fault.KindOf(err) != fault.Invalid {
			t.Errorf("got the refusal %q, want %q", err, g.Refusal)
		}
		if out != nil && !bytes.Equal(out.JSON(), g.Document.JSON()) {
			t.Error("a refused document was changed")
		}
		return
	}
	var want bytes.Buffer
	if err := json.Compact(&want, g.Output); err != nil {
		t.Fatal(err)
	}
	if got := string(out.JSON()); got != want.String() {
		t.Errorf("got  %s\nwant %s", got, want.String())
	}
}

func write(t *testing.T, file string, g golden, out *doc.Node, err error) {
	t.Helper()
	g.Output, g.Refusal = nil, ""
	if err != nil {
		g.Refusal = err.Error()
	} else {
		g.Output = out.JSON()
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(g); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Log("written; run again without -update")
}

func TestImportTwice(t *testing.T) {
	files, _ := filepath.Glob("testdata/import-*.json")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		var g golden
		if err := json.Unmarshal(text, &g); err != nil {
			t.Fatal(err)
		}
		once, err := g.run(t)
		if err != nil {
			t.Fatal(err)
		}
		g.Document = once
		if twice, err := g.run(t); err != nil || !bytes.Equal(twice.JSON(), once.JSON()) {
			t.Errorf("%s: %v\nonce  %s\ntwice %s", file, err, once.JSON(), twice.JSON())
		}
	}
}

// TestSwagger: an older description is refused because of its version, not because of missing
// servers.
func TestSwagger(t *testing.T) {
	d, err := doc.ParseNode([]byte(`{"swagger":"2.0","info":{"title":"a","version":"1"},"host":"up.example","paths":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{imports.Import(d, imports.Settings{}), imports.Patch(d, doc.NewObject(), imports.Settings{UpstreamURL: "http://up.example"})} {
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Field != "swagger" || !strings.Contains(f.Message, "convert the description to OpenAPI 3") {
			t.Errorf("%+v", err)
		}
	}
}

// TestLongPaths: the length of paths is limited, because IDs of operations are made from them,
// which would repeat a long path many times.
func TestLongPaths(t *testing.T) {
	for length, want := range map[int]string{4096: "", 4097: "must not be longer than 4096 characters"} {
		d := doc.NewObject()
		d.Put(doc.NewObject(), "paths", "/"+strings.Repeat("a", length-1), "get")
		err := imports.Import(d, imports.Settings{UpstreamURL: "http://up.example"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || d.Get("x-tyk-api-gateway") != nil) {
			t.Errorf("%d: %v", length, err)
		}
	}
}

func TestParseSettings(t *testing.T) {
	get := func(values map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
	}
	for text, want := range map[string]string{
		"1": "on", "t": "on", "T": "on", "TRUE": "on", "true": "on", "True": "on", " true ": "on",
		"0": "off", "f": "off", "F": "off", "FALSE": "off", "false": "off", "False": "off",
		"": "absent", "yes": "absent", "tRuE": "absent", "2": "absent",
	} {
		s := imports.ParseSettings(get(map[string]string{"allowList": text}))
		got := "absent"
		if s.AllowList != nil {
			got = map[bool]string{true: "on", false: "off"}[*s.AllowList]
		}
		if got != want || s.Empty() != (want == "absent") {
			t.Errorf("%q is %s, want %s; empty %v", text, got, want, s.Empty())
		}
	}
	s := imports.ParseSettings(get(map[string]string{"authentication": "compliant"}))
	if s.ProcessingMode != "compliant" || s.Authentication != nil || s.Empty() {
		t.Errorf("authentication=compliant gives %+v", s)
	}
}

func TestCheckPlain(t *testing.T) {
	if err := imports.CheckPlain(doctest.Node(t, `{"openapi":"3.0.3"}`), "import"); err != nil {
		t.Error(err)
	}
	err := imports.CheckPlain(doctest.Node(t, `{"x-tyk-api-gateway":null}`), "import")
	if err == nil || err.Error() != "The import payload should not contain x-tyk-api-gateway." {
		t.Error(err)
	}
}

func TestApply(t *testing.T) {
	for _, c := range []struct{ template, document, want string }{
		{`{"a":1,"l":[1],"o":{"x":1,"y":{"z":1}}}`, `{"o":{"y":{"w":2.0},"x":2},"l":[]}`, `{"o":{"y":{"w":2.0,"z":1},"x":2},"l":[],"a":1}`},
		{`{"o":{"x":1}}`, `{"o":[1]}`, `{"o":[1]}`},
		{`{"o":1}`, `{"o":{"x":1}}`, `{"o":{"x":1}}`},
		{`[]`, `{"o":1}`, `{"o":1}`},
		{`{"o":1}`, `7`, `7`},
	} {
		template, document := doctest.Node(t, c.template), doctest.Node(t, c.document)
		if got := string(imports.Apply(template, document).JSON()); got != c.want {
			t.Errorf("%s under %s is %s, want %s", c.template, c.document, got, c.want)
		}
		if string(template.JSON()) != c.template || string(document.JSON()) != c.document {
			t.Error("an argument was changed")
		}
	}
	if got := imports.Apply(nil, doctest.Node(t, `{"a":1}`)); string(got.JSON()) != `{"a":1}` {
		t.Errorf("without a template: %s", got.JSON())
	}
}

// TestImportIsBounded: a URL may use variables of servers many times, and segments of paths
// become parameters.
func TestImportIsBounded(t *testing.T) {
	document := func(paths, servers string) *doc.Node {
		n, err := doc.ParseNode([]byte(`{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{` + paths + `},"servers":[` + servers + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	server := func(times, length int) string {
		return `{"url":"http://` + strings.Repeat("{a}", times) + `","variables":{"a":{"default":"` + strings.Repeat("x", length) + `"}}}`
	}
	var few, many []string
	for i := range 2001 {
		path := `"/` + strconv.Itoa(i) + strings.Repeat("/{a}", 50) + `":{"get":{"responses":{}}}`
		if many = append(many, path); i < 2000 {
			few = append(few, path)
		}
	}
	for name, c := range map[string]struct {
		document *doc.Node
		want     string
	}{
		"variables":       {document("", server(80, 100)), ""},
		"many variables":  {document("", server(200_000, 400_000)), "longer than 8192 characters"},
		"a long variable": {document("", server(1, 8190)), "longer than 8192 characters"},
		"parameters":      {document(strings.Join(few, ","), server(1, 10)), ""},
		"many parameters": {document(strings.Join(many, ","), server(1, 10)), "more than 100000 parameters"},
	} {
		if err := imports.Import(c.document, imports.Settings{}); (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

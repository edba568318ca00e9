package http_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
	"github.com/gatehouse-io/gatehouse/core/access"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestDocumentGolden compares the description of a small table. After a wanted change
// run the test with -update and review the difference.
func TestDocumentGolden(t *testing.T) {
	ops := table()[2:7] // create, get, word, replace, patch
	ops = append(ops, failing(operation.Node, "n", "/system")[0])
	text, err := httpadapter.Document(ops, "", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "openapi.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got.Bytes()) {
		t.Errorf("the description differs from %s; run with -update and compare", golden)
	}
}

func TestDocumentIsStable(t *testing.T) {
	ops := table()
	first, err := httpadapter.Document(ops, "", "1")
	if err != nil {
		t.Fatal(err)
	}
	ops[0], ops[5] = ops[5], ops[0]
	second, err := httpadapter.Document(ops, "", "1")
	if err != nil || !bytes.Equal(first, second) {
		t.Error("the order of the table shows in the description", err)
	}
}

func TestExamplesFollowTheirSchemas(t *testing.T) {
	for _, surface := range []operation.Surface{"", operation.Management, operation.Admin, operation.Node, operation.Probe} {
		text, err := httpadapter.Document(table(), surface, "1")
		if err != nil {
			t.Fatal(err)
		}
		c, err := contracttest.Load(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Examples(); err != nil {
			t.Error(surface, err)
		}
		for _, id := range c.Operations() {
			for _, o := range table() {
				if o.ID == id && surface != "" && o.Surface != surface {
					t.Errorf("%s is in the description of %s", id, surface)
				}
			}
		}
	}
}

// TestStatuses checks exactly which errors rows document.
func TestStatuses(t *testing.T) {
	text, err := httpadapter.Document(table(), "", "1")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Responses   map[string]any
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"things.list":    "200 400 401 403 500 503",
		"things.create":  "201 400 401 403 413 500 503",
		"things.get":     "200 304 400 401 403 404 412 500 503",
		"things.replace": "200 400 401 403 404 412 413 500 503",
		"things.delete":  "200 400 401 403 404 412 500 503",
		"things.touch":   "204 400 401 403 404 412 500 503",
		"a.fail":         "200 400 401 403 404 412 413 422 500 503", // 409 is 403 by the style
		"n.fail.write":   "200 400 401 403 404 412 413 422 500 503",
		"feeds.get":      "200 304 400 403 404 412 500 503",
	}
	for _, item := range doc.Paths {
		for _, op := range item {
			var got []string
			for _, status := range []string{"200", "201", "204", "304", "400", "401", "403", "404", "409", "412", "413", "422", "500", "503"} {
				if op.Responses[status] != nil {
					got = append(got, status)
				}
			}
			if w, ok := want[op.OperationID]; ok && strings.Join(got, " ") != w {
				t.Errorf("%s: %v, want %s", op.OperationID, got, w)
			}
		}
	}
}

type loop struct {
	Next *loop          `json:"next,omitempty"`
	Any  any            `json:"any"`
	Raw  []byte         `json:"raw"`
	Rate float64        `json:"rate"`
	N    uint           `json:"n"`
	Yes  bool           `json:"yes"`
	Skip string         `json:"-"`
	Map  map[string]int `json:"map"`
	priv int            //nolint:unused // must not show
}

type silent struct{}

func (silent) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type lettered struct{}

func (lettered) MarshalText() ([]byte, error) { return nil, nil }

type change struct {
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
}

type Error struct {
	change `needs:"last"`

	Silent   silent               `json:"silent"`
	Letters  map[lettered][]*loop `json:"letters"`
	Lettered lettered             `json:"lettered"`
	Inline   struct {
		A int `json:"a"`
	} `json:"inline"`
	Word string `json:"word" oneof:"yes,no" doc:"Which."`
}

func TestSchemas(t *testing.T) {
	ops := operation.Group{Surface: operation.Probe, Name: "s", Path: "/s", Tag: "S"}.Rows(
		operation.GET("s", "", "S", func(ctx, struct{}) (Error, error) { return Error{}, nil }, operation.Public(), operation.Example(nil, 1)))
	text, err := httpadapter.Document(ops, "", "1")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		// The name Error is taken, so the package name is prepended. Members keep their
		// order.
		"Http_testError": `{"properties":{"first":{"type":"string"},"last":{"type":"string"},"silent":{},"letters":{"additionalProperties":{"items":{"$ref":"#/components/schemas/Loop"},"type":"array"},"type":"object"},` +
			`"lettered":{"type":"string"},"inline":{"properties":{"a":{"type":"integer"}},"required":["a"],"type":"object"},"word":{"description":"Which.","enum":["yes","no"],"type":"string"}},` +
			`"required":["inline","last","lettered","letters","silent","word"],"type":"object"}`,
		"Loop": `{"properties":{"next":{"$ref":"#/components/schemas/Loop"},"any":{},"raw":{"contentEncoding":"base64","type":"string"},"rate":{"type":"number"},` +
			`"n":{"minimum":0,"type":"integer"},"yes":{"type":"boolean"},"map":{"additionalProperties":{"type":"integer"},"type":"object"}},` +
			`"required":["any","map","n","rate","raw","yes"],"type":"object"}`,
	} {
		if string(doc.Components.Schemas[name]) != want {
			t.Errorf("%s: %s\nwant %s", name, doc.Components.Schemas[name], want)
		}
	}
}

// TestParameters checks the description of tags for texts that use cases parse
// themselves, and that a document may have its own media types.
func TestParameters(t *testing.T) {
	type in struct {
		N    string             `query:"n" is:"integer"`
		Yes  string             `query:"yes" is:"boolean" doc:"Whether."`
		Word string             `query:"word" oneof:"a,b" required:"true"`
		Body operation.Document `body:""`
	}
	ops := operation.Group{Surface: operation.Probe, Name: "s", Path: "/s", Tag: "S"}.Rows(
		operation.POST("s", "", "S", func(ctx, in) (struct{}, error) { return struct{}{}, nil }, operation.Public(), operation.Media("application/vnd.s"), operation.Example(1, 1)))
	text, err := httpadapter.Document(ops, "", "1")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters  json.RawMessage
			RequestBody struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	got, want := doc.Paths["/s"]["post"], `[{"in":"query","name":"n","schema":{"type":"integer"}},{"description":"Whether.","in":"query","name":"yes","schema":{"type":"boolean"}},`+
		`{"in":"query","name":"word","required":true,"schema":{"enum":["a","b"],"type":"string"}}]`
	if string(got.Parameters) != want {
		t.Errorf("%s\nwant %s", got.Parameters, want)
	}
	if got.RequestBody.Content["application/vnd.s"] == nil || got.RequestBody.Content["application/json"] == nil {
		t.Errorf("media types %v", got.RequestBody.Content)
	}
}

type pointing struct{}

func (pointing) Schema() map[string]any {
	return map[string]any{"$ref": "#/components/schemas/Nowhere"}
}

func TestDocumentRefusals(t *testing.T) {
	get := func(path string, opts ...operation.Option) []operation.Operation {
		return operation.Group{Surface: operation.Management, Name: path, Tag: "S", Permission: access.APIs}.Rows(operation.GET("g", path, "S",
			func(ctx, struct{}) (pointing, error) { return pointing{}, nil }, append(opts, operation.Example(nil, 1))...))
	}
	if _, err := httpadapter.Document(get("/x"), "", "1"); err == nil || !strings.Contains(err.Error(), "Nowhere") {
		t.Error(err)
	}
	if _, err := httpadapter.Document(append(get("/x/{a}"), get("/x/{b}")...), "", "1"); err == nil || !strings.Contains(err.Error(), "same names") {
		t.Error(err)
	}
	if _, err := httpadapter.Document(get("/x", operation.Example(nil, func() {})), operation.Admin, "1"); err != nil {
		t.Error("another surface's rows are described", err)
	}
}

func TestDescription(t *testing.T) {
	s := serve(t)
	w := s.do("GET", "/api/openapi.json", "")
	var doc struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]any
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.2.3" || doc.Paths["/api/openapi.json"] == nil || doc.Paths["/admin/fail"] == nil {
		t.Errorf("%.200s", w.Body)
	}
	if w := s.do("GET", "/api/openapi.json", "", "If-None-Match", w.Header().Get("ETag")); w.Code != 304 {
		t.Error(w.Code)
	}
	if z := s.do("GET", "/api/openapi.json", "", "Accept-Encoding", "gzip"); z.Header().Get("Content-Encoding") != "gzip" || z.Body.Len() >= w.Body.Len()/4 {
		t.Errorf("%v %d", z.Header(), z.Body.Len())
	}
	unmade := httpadapter.NewDescription("1").Operations()
	if _, err := unmade[0].Do(t.Context(), &operation.Call{}); err == nil {
		t.Error("a description that was never made")
	}
}

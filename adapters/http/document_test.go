package http_test

import (
	"archive/zip"
	"bytes"
	"context"
	"mime/multipart"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/adapters/yaml"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// echoes is a table with one row that answers the document it gets.
func echoes(t *testing.T, cfg httpadapter.Config) nethttp.Handler {
	t.Helper()
	echo := func(_ context.Context, in struct {
		Body operation.Document `body:""`
	}) (operation.Rendition, error) {
		if in.Body.Archive != nil {
			return operation.Rendition{JSON: []byte(`"archive"`)}, nil
		}
		return operation.Rendition{JSON: in.Body.JSON, Tag: "7", Download: "a b.json", Header: map[string]string{"X-Base": "b"}}, nil
	}
	ops := operation.Group{Surface: operation.Probe, Name: "echo", Path: "/echo", Tag: "Echo"}.Rows(
		operation.POST("post", "", "Echo", echo, operation.Public(), operation.Example(map[string]any{}, map[string]any{})))
	cfg.YAML = yaml.Codec{}
	if cfg.Logger = quiet; cfg.Guard == nil {
		cfg.Guard = func(next operation.Handler) operation.Handler { return next }
	}
	h, err := httpadapter.Handler(ops, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func form(t *testing.T, name string, file []byte) (contentType, body string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	p, err := w.CreateFormFile(name, "x")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Write(file)
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

func TestDocuments(t *testing.T) {
	h := echoes(t, httpadapter.Config{})
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	f, _ := z.Create("openapi.yaml")
	_, _ = f.Write([]byte("a: 1"))
	_ = z.Close()
	jsonForm, jsonBody := form(t, "file", []byte(`{"b":1.50,"a":2}`))
	yamlForm, yamlBody := form(t, "file", []byte("b: 1.50\na: 2\n"))
	zipForm, zipBody := form(t, "file", archive.Bytes())
	otherForm, otherBody := form(t, "other", []byte(`{}`))
	for _, c := range []struct {
		contentType, accept, body string
		status                    int
		want                      string
	}{
		{"", "", `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
		{"text/plain", "", `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
		{"application/x-yaml", "", "b: 1.50\na: 2\n", 200, `{"b":1.50,"a":2}`},
		{"text/yaml; charset=utf-8", "application/x-yaml", `{"b":1.50,"a":["x"]}`, 200, "b: 1.50\na:\n  - x\n"},
		{"application/x-yaml", "", "a: [", 400, "line 1"},
		{"application/json", "", "b: 1", 400, "not"},
		{"application/json", "", "", 400, "empty"},
		{"application/json", "", "\ufeff" + `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
		{jsonForm, "", "\ufeff" + `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
		{"", "", "\ufeff", 400, "empty"},
		{"", "", "\ufeff\ufeff{}", 400, "not"},
		{"application/vnd.tyk.udg.v2.openapi", "", `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
		{"application/vnd.tyk.udg.v2.asyncapi; charset=utf-8", "", "b: 1.50\na: 2\n", 200, `{"b":1.50,"a":2}`},
		{"application/vnd.tyk.udg.v2.openapi", "", "a: [", 400, "line 1"},
		{"application/vnd.tyk.udg.v2.openapi", "", "", 400, "empty"},
		{jsonForm, "", jsonBody, 200, `{"b":1.50,"a":2}`},
		{yamlForm, "", yamlBody, 200, `{"b":1.50,"a":2}`},
		{zipForm, "", zipBody, 200, `"archive"`},
		{otherForm, "", otherBody, 400, "no part named file"},
		{"multipart/form-data", "", "x", 400, "form"},
		{jsonForm, "", "x", 400, "form"},
		{jsonForm, "", "\r\n {\"b\":1.50,\"a\":2}", 200, `{"b":1.50,"a":2}`},
		{"multipart/form-data", "", `{"b":1.50,"a":2}`, 200, `{"b":1.50,"a":2}`},
	} {
		req := httptest.NewRequest("POST", "/echo", strings.NewReader(c.body))
		req.Header.Set("Content-Type", c.contentType)
		req.Header.Set("Accept", c.accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s %q: %d %s", c.contentType, c.body, w.Code, w.Body)
		}
		if w.Code == 200 && c.contentType == "" && (w.Header().Get("X-Base") != "b" || w.Header().Get("Etag") != `"7"` ||
			w.Header().Get("Content-Disposition") != "attachment; filename=a_b.json") {
			t.Errorf("headers: %v", w.Header())
		}
	}
}

// TestAcceptedForm: the form with the higher weight wins, or else the first; the file name has its
// extension.
func TestAcceptedForm(t *testing.T) {
	h := echoes(t, httpadapter.Config{})
	for accept, want := range map[string]string{
		"":                                     ".json",
		"*/*":                                  ".json",
		"application/json":                     ".json",
		"text/yaml":                            ".yaml",
		"Application/YAML":                     ".yaml",
		"text/yaml;q=0":                        ".json",
		"text/yaml;q=0.1":                      ".yaml",
		"text/yaml, */*":                       ".yaml",
		"text/html;q=0.9,*":                    ".json",
		"application/json, application/x-yaml": ".json",
		"application/x-yaml, application/json": ".yaml",
		"application/json;q=0.5, application/x-yaml;q=0.6": ".yaml",
		"application/x-yaml;q=0.5, application/json":       ".json",
	} {
		req := httptest.NewRequest("POST", "/echo", strings.NewReader(`{"a":1}`))
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		isYAML := w.Body.String() == "a: 1\n"
		if name := w.Header().Get("Content-Disposition"); w.Code != 200 || isYAML != (want == ".yaml") || !strings.HasSuffix(name, want) {
			t.Errorf("%q: %d %s %q", accept, w.Code, w.Body, name)
		}
	}
}

// TestDocumentsNeedYAML checks that rows with documents are not served without a codec, but others
// are.
func TestDocumentsNeedYAML(t *testing.T) {
	group := operation.Group{Surface: operation.Probe, Name: "x", Path: "/x", Tag: "X"}
	takes := func(context.Context, struct {
		Body operation.Document `body:""`
	}) (operation.Receipt, error) {
		return operation.Receipt{}, nil
	}
	answers := func(context.Context, struct{}) (operation.Rendition, error) { return operation.Rendition{}, nil }
	for name, row := range map[string]operation.Row{
		"takes":   operation.POST("x", "", "X", takes, operation.Public(), operation.Example(map[string]any{}, map[string]any{})),
		"answers": operation.GET("x", "", "X", answers, operation.Public(), operation.Example(nil, map[string]any{})),
	} {
		cfg := httpadapter.Config{Guard: func(next operation.Handler) operation.Handler { return next }}
		if _, err := httpadapter.Handler(group.Rows(row), cfg); err == nil || !strings.Contains(err.Error(), "YAML") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

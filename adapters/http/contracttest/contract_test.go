package contracttest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/http/contracttest"
)

const description = `{
  "openapi": "3.1.0", "info": {"title": "t", "version": "1"},
  "paths": {
    "/a/{id}": {
      "get": {"operationId": "a.get", "responses": {
        "200": {"description": "OK", "content": {"application/json": {"example": {"n": 1, "at": "2026-01-02T03:04:05Z"}, "schema": {"$ref": "#/components/schemas/A"}}}},
        "304": {"description": "same"},
        "404": {"$ref": "#/components/responses/Missing"}}},
      "put": {"operationId": "a.put", "requestBody": {"content": {"application/json": {"example": {"n": 2}, "schema": {"$ref": "#/components/schemas/A"}}}},
        "responses": {"204": {"description": "No content"}}}},
    "/alone": {"put": {"operationId": "alone", "x-alone": true, "responses": {"204": {"description": "No content"}}}},
    "/a/all/": {"get": {"operationId": "a.all", "responses": {
        "200": {"description": "OK", "content": {"application/json": {"example": [], "schema": {"type": "array"}}}}}}}
  },
  "components": {
    "responses": {"Missing": {"description": "none", "content": {"application/json": {
      "examples": {"x": {"value": {"Status": "Error"}}}, "schema": {"$ref": "#/components/schemas/Error"}}}}},
    "schemas": {
      "A": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}}},
      "Error": {"type": "object", "required": ["Status"], "properties": {"Status": {"const": "Error"}}}}
  }
}`

func load(t *testing.T, text string) *contracttest.Contract {
	t.Helper()
	c, err := contracttest.Load([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheck(t *testing.T) {
	c := load(t, description)
	const j = "application/json"
	for _, tt := range []struct {
		name, method, path string
		status             int
		media, body, want  string // want: part of the error
	}{
		{"fits", "GET", "/a/x%2Fy", 200, j + "; charset=utf-8", `{"n":1}`, ""},
		{"trailing slash", "GET", "/a/x/", 200, j, `{"n":1}`, ""},
		{"wrong type", "GET", "/a/x", 200, j, `{"n":"1"}`, "a.get, 200"},
		{"wrong format", "GET", "/a/x", 200, j, `{"n":1,"at":"now"}`, "date-time"},
		{"no body", "GET", "/a/x", 200, j, ``, "a.get, 200"},
		{"no JSON", "GET", "/a/x", 200, j, `{`, "a.get, 200"},
		{"other type of content", "GET", "/a/x", 200, "text/plain", `x`, `can answer 200 with "text/plain"`},
		{"unknown status", "GET", "/a/x", 500, j, `{}`, "does not say that it can answer 500"},
		{"literal first", "GET", "/a/all", 200, j, `[]`, ""},
		{"literal only", "GET", "/a/all", 200, j, `{"n":1}`, "a.all, 200"},
		{"method of the placeholder", "PUT", "/a/all", 204, "", ``, ""},
		{"body where none is", "PUT", "/a/x", 204, j, `{}`, "without a body"},
		{"shared response", "GET", "/a/x", 404, j, `{"Status":"Error"}`, ""},
		{"shared response, wrong", "GET", "/a/x", 404, j, `{"Status":"OK"}`, "a.get, 404"},
		{"not modified", "GET", "/a/x", 304, "", ``, ""},
		{"head", "HEAD", "/a/x", 200, j, ``, ""},
		{"head with body", "HEAD", "/a/x", 200, j, `{"n":1}`, "HEAD with a body"},
		{"no route", "GET", "/b", 404, j, `{"Status":"Error"}`, ""},
		{"no route, no error", "GET", "/b", 404, j, `{}`, "no error of the description"},
		{"no route, success", "GET", "/b", 200, j, `{}`, "not 404"},
		{"no route, head", "HEAD", "/b", 404, j, ``, ""},
		{"no method", "DELETE", "/a/x", 405, j, `{"Status":"Error"}`, ""},
		{"alone", "PUT", "/alone", 204, "", ``, ""},
		{"alone, no method", "GET", "/alone", 404, j, `{"Status":"Error"}`, ""},
		{"alone, method", "GET", "/alone", 405, j, `{"Status":"Error"}`, "not 404"},
		{"early portal", "GET", "/portal-api/b", 503, j, `{"Status":"Error"}`, ""},
		{"early elsewhere", "GET", "/b", 503, j, `{"Status":"Error"}`, "not 404"},
		{"early, no error", "GET", "/portal-api/b", 503, j, `{}`, "no error of the description"},
		{"no method, no route", "DELETE", "/a/x", 404, j, `{"Status":"Error"}`, "not 405"},
	} {
		err := c.Check(tt.method, tt.path, tt.status, tt.media, []byte(tt.body))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if err := c.CheckOperation("a.get", 200, j, []byte(`{"n":1}`)); err != nil {
		t.Error(err)
	}
	if err := c.CheckOperation("a.none", 200, j, nil); err == nil {
		t.Error("an operation that does not exist")
	}
}

func TestExamples(t *testing.T) {
	if err := load(t, description).Examples(); err != nil {
		t.Error(err)
	}
	for from, to := range map[string]string{
		`"example": {"n": 2}`:          `"example": {"n": "2"}`,
		`"value": {"Status": "Error"}`: `"value": {"Status": "OK"}`,
		`"example": [], `:              ``,
	} {
		if err := load(t, strings.Replace(description, from, to, 1)).Examples(); err == nil {
			t.Errorf("%s was not noticed", to)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"paths":{}}`} {
		if _, err := contracttest.Load([]byte(text)); err == nil {
			t.Errorf("%q", text)
		}
	}
}

// failures is a testing.TB that only records that it failed.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestWrap(t *testing.T) {
	f := &failures{TB: t}
	h := contracttest.Wrap(f, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(200)
		_, _ = w.Write([]byte(`{"n":` + r.URL.Query().Get("n") + `}`))
	}), []byte(description))
	for n, want := range map[string]int{"1": 0, "true": 1} {
		f.n = 0
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/a/x?n="+n, nil))
		if f.n != want || w.Code != 200 || w.Body.String() != `{"n":`+n+`}` || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d failures, %d %s", n, f.n, w.Code, w.Body)
		}
	}
}

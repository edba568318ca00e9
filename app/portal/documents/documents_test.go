package documents_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/adapters/graphql"
	"github.com/gatehouse-io/gatehouse/app"
	port "github.com/gatehouse-io/gatehouse/ports/graphql"
)

// service is a portal with a documented product, and its admin's token.
type service struct {
	t     *testing.T
	a     *app.App
	token string
}

func newService(t *testing.T, checker port.Checker, more ...app.Option) *service {
	t.Helper()
	a, err := app.New(append(more, app.WithPortal(app.Portal{Shared: true, SigningKey: "k", GraphQL: checker}))...)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{t: t, a: a}
	_, text := s.send("POST", "/bootstrap", "", []byte(`{"username":"admin@example.com","password":"secret"}`))
	if _, after, ok := strings.Cut(text, `"api_token":"`); ok {
		s.token, _, _ = strings.Cut(after, `"`)
	}
	if code, text := s.send("POST", "/products", "", []byte(`{"Name":"Docs","IsDocumentationOnly":true}`)); code != 201 {
		t.Fatal(code, text)
	}
	return s
}

func (s *service) send(method, path, contentType string, body []byte) (int, string) {
	s.t.Helper()
	return s.ask(method, "/portal-api"+path, contentType, body)
}

func (s *service) ask(method, address, contentType string, body []byte) (int, string) {
	s.t.Helper()
	r := httptest.NewRequest(method, address, bytes.NewReader(body))
	r.Header.Set("Authorization", s.token)
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.a.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (s *service) upload(method, path, name, text string) (int, string) {
	s.t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part, err := m.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write([]byte(text))
	}
	if err == nil {
		err = m.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.send(method, path, m.FormDataContentType(), b.Bytes())
}

const specs = "/products/1/spec-details"

// TestLargeDocumentsTakeRoom reads a large document in each way: all reserve memory, so that
// concurrent readers wait for each other.
func TestLargeDocumentsTakeRoom(t *testing.T) {
	large := 0
	s := newService(t, nil, app.WithBodies(0, 0, func(begins bool) {
		if begins {
			large++
		}
	}))
	for path, body := range map[string]string{specs: `{"SpecAlias":"a"}`, "/products/1": `{"Catalogues":[1],"Path":"docs"}`} {
		method := map[bool]string{true: "POST", false: "PUT"}[path == specs]
		if code, text := s.send(method, path, "", []byte(body)); code/100 != 2 {
			t.Fatal(code, text)
		}
	}
	for _, c := range []struct {
		size, want int
	}{{1000, 0}, {600_000, 1}} {
		text := `{"openapi":"3.0.3","info":{"title":"t","version":"1","description":"` + strings.Repeat("x", c.size) + `"},"paths":{}}`
		if code, text := s.upload("POST", specs+"/1/oas", "a.json", text); code != 200 {
			t.Fatal(code, text)
		}
		for _, address := range []string{"/portal-api" + specs + "/1/oas", "/portal/api/catalogue-products/docs/a/docs"} {
			large = 0
			if code, text := s.ask("GET", address, "", nil); code != 200 || !strings.Contains(text, "openapi") || large != c.want {
				t.Errorf("%s of %d bytes: %d, room taken %d times", address, c.size, code, large)
			}
		}
	}
}

// TestBounds states the limits of documents and products.
func TestBounds(t *testing.T) {
	s := newService(t, graphql.Checker{})
	if code, text := s.send("POST", specs, "", []byte(`{"SpecAlias":"a"}`)); code != 201 {
		t.Fatal(code, text)
	}
	values := strings.Repeat(`"x",`, 310_000)
	bomb := "openapi: 3.0.3\ninfo: {}\na: &a [" + strings.Repeat("x,", 1000) + "]\n"
	for i := range 5 {
		bomb += fmt.Sprintf("b%d: &b%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*%s,", map[bool]string{true: "a", false: fmt.Sprintf("b%d", i-1)}[i == 0]), 20))
	}
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for name, c := range map[string]struct {
		method, path, file, text string
		status                   int
		want                     string
	}{
		"many values":         {"POST", "/1/oas", "a.json", `{"openapi":"3.0.3","info":{},"a":[` + values + `1]}`, 413, "values"},
		"many values in YAML": {"POST", "/1/oas", "a.yaml", "openapi: 3.0.3\ninfo: {}\na: [" + strings.Repeat("x,", 700_000) + "]", 413, "values"},
		"aliases":             {"POST", "/1/oas", "a.yaml", bomb, 413, "aliases"},
		"deep YAML":           {"POST", "/1/oas", "a.yaml", "openapi: 3.0.3\ninfo: {}\na: " + deep, 400, "nested"},
		"deep JSON":           {"POST", "/1/oas", "a.json", `{"openapi":"3.0.3","info":{},"a":` + deep + `}`, 400, "nested"},
		"deep introspection":  {"PUT", "/1/graphql/schema", "a.json", `{"__schema":` + deep + `}`, 400, "JSON"},
		"large introspection": {"PUT", "/1/graphql/schema", "a.json", `{"__schema":[` + values + `1]}`, 413, "values"},
		"many tokens":         {"PUT", "/1/graphql/schema", "a.gql", "enum E {" + strings.Repeat(" A", 310_000) + "}", 413, "tokens"},
		"a panic":             {"PUT", "/1/graphql/schema", "a.gql", "type A implements I { x: B }\ntype B { y: Int }\ninterface I { x: U }\nunion U = Missing", 422, "fit together"},
	} {
		if code, text := s.upload(c.method, specs+c.path, c.file, c.text); code != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	var list []string
	for i := range 999 {
		list = append(list, fmt.Sprintf(`{"SpecAlias":"s%d"}`, i))
	}
	if code, text := s.send("PUT", "/products/1", "", []byte(`{"SpecDetails":[`+strings.Join(list, ",")+`]}`)); code != 200 {
		t.Fatal(code, text)
	}
	for _, body := range []string{`{"SpecDetails":[{"SpecAlias":"more"}]}`, `{"SpecDetails":[{"SpecAlias":"s1"},` + strings.Join(list, ",") + `,{}]}`} {
		if code, text := s.send("PUT", "/products/1", "", []byte(body)); code != 422 || !strings.Contains(text, "SpecDetails is invalid") {
			t.Error(code, text)
		}
	}
	if code, text := s.send("POST", specs, "", []byte(`{"SpecAlias":"more"}`)); code != 422 || !strings.Contains(text, "1000 specifications at most") {
		t.Error(code, text)
	}
	if code, text := s.upload("POST", specs+"/graphql/schema", "more.gql", "type Query { a: Int }"); code != 422 || !strings.Contains(text, "1000 specifications at most") {
		t.Error(code, text)
	}
	if code, text := s.send("PUT", "/products/1", "", []byte(`{"SpecDetails":null}`)); code != 200 || strings.Contains(text, `"SpecDetails": null`) {
		t.Errorf("null says nothing: %d %.300s", code, text)
	}
	if code, text := s.send("PUT", "/products/1", "", []byte(`{"SpecDetails":[]}`)); code != 200 || !strings.Contains(text, `"SpecDetails": null`) {
		t.Errorf("an empty list deletes all: %d %.300s", code, text)
	}
	if code, text := s.send("PUT", "/products/1", "", []byte(`{"SpecDetails":[{"SpecAlias":"s1"},{"SpecAlias":"s2"}]}`)); code != 200 || strings.Count(text, `"SpecAlias"`) != 2 {
		t.Errorf("again: %d %.300s", code, text)
	}
	if code, text := s.send("PUT", "/products/1", "", []byte(`{"SpecDetails":[{"SpecAlias":"s1"},{"SpecAlias":"s1"}]}`)); code != 422 || !strings.Contains(text, "SpecAlias has already been taken") {
		t.Error(code, text)
	}
	if code, text := s.send("DELETE", "/products/1", "", nil); code != 200 {
		t.Error(code, text)
	}
}

// TestWithoutChecker states the error of a service that cannot check schemas in the
// definition language: schemas in JSON can be checked.
func TestWithoutChecker(t *testing.T) {
	s := newService(t, nil)
	if code, text := s.upload("POST", specs+"/graphql/schema", "a.gql", "type Query { a: Int }"); code != 503 || !strings.Contains(text, "introspection result") {
		t.Error(code, text)
	}
	if code, text := s.upload("POST", specs+"/graphql/schema", "a.json", `{"__schema":{"queryType":{"name":"Q"},"types":[{"kind":"SCALAR","name":"S"},{"kind":"OBJECT","name":"Q","fields":[{"name":"a","type":{"kind":"SCALAR","name":"S"}}]}]}}`); code != 200 {
		t.Error(code, text)
	}
}

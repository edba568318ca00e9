package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-io/gatehouse/app/apptest"
	"github.com/gatehouse-io/gatehouse/app/outbound"
	"github.com/gatehouse-io/gatehouse/core/tenant"
	"github.com/gatehouse-io/gatehouse/ports/fetch"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// web is a Fetcher that has a few pages and records the requests.
type web struct {
	pages map[string]fetch.Answer
	err   error
	asked []fetch.Request
}

func (w *web) Fetch(_ context.Context, r fetch.Request) (fetch.Answer, error) {
	w.asked = append(w.asked, r)
	if w.err != nil {
		return fetch.Answer{}, w.err
	}
	a, ok := w.pages[r.URL]
	if !ok {
		return fetch.Answer{Status: 404, Body: []byte("not here")}, nil
	}
	return a, nil
}

func page(body string) fetch.Answer { return fetch.Answer{Status: 200, Body: []byte(body)} }

// serve serves the operations over HTTP for the organisation a.
func serve(t testing.TB, s operation.Service) http.Handler {
	t.Helper()
	return apptest.Checked(t, s.Operations(), apptest.Within("a"))
}

func ask(t testing.TB, h http.Handler, method, path, body string, headers ...string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return fmt.Sprintf("%d %s", w.Code, strings.TrimSpace(w.Body.String()))
}

func failed(status int, message string) string {
	return fmt.Sprintf(`%d {"Status":"Error","Message":"%s","Meta":null}`, status, message)
}

var own = outbound.Gateway{URL: "http://gw.internal:8080/", Trusted: true}

func gateways(_ context.Context, s tenant.Scope) ([]outbound.Gateway, error) {
	if s.Org() != "a" {
		return nil, errors.New("another organisation")
	}
	return append([]outbound.Gateway{own, {URL: "https://Edge.example."}, {URL: "nonsense"}, {URL: "http://gw.internal:8080"}}, outbound.At("api.example", []outbound.Gateway{own})...), nil
}

func TestProxy(t *testing.T) {
	w := &web{pages: map[string]fetch.Answer{
		"http://gw.internal:8080/json":  {Status: 201, Header: map[string][]string{"A": {"1", "2"}}, Body: []byte(`{ "b":1.0, "a":[] }`)},
		"http://gw.internal:8080/text":  {Status: 500, Body: []byte("oh \xff no\n")},
		"http://gw.internal:8080/empty": {Status: 204},
		"http://gw.internal:8080/deep":  page(strings.Repeat("[", 200) + strings.Repeat("]", 200)),
		"http://gw.internal:8080/away":  {Status: 302, Header: map[string][]string{"Location": {"http://evil"}}},
	}}
	h := serve(t, &outbound.Proxy{Fetcher: w, Gateways: gateways})
	for _, c := range []struct{ body, want string }{
		{`{"method":"GET","url":"http://gw.internal:8080/json"}`, `200 {"status_code":201,"headers":{"A":"1, 2"},"body":{"b":1.0,"a":[]}}`},
		{`{"method":"GET","url":"http://gw.internal:8080/text"}`, `200 {"status_code":500,"headers":{},"body":"oh ` + "\ufffd" + ` no\n"}`},
		{`{"method":"get","url":"http://gw.internal:8080/empty"}`, `200 {"status_code":204,"headers":{},"body":""}`},
		{`{"method":"GET","url":"http://gw.internal:8080/empty"}`, `200 {"status_code":204,"headers":{},"body":""}`},
		{`{"method":"GET","url":"http://gw.internal:8080/deep"}`, `200 {"status_code":200,"headers":{},"body":"` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `"}`},
		{`{"method":"GET","url":"http://gw.internal:8080/away"}`, `200 {"status_code":302,"headers":{"Location":"http://evil"},"body":""}`},
		{`{"method":"GET","url":"https://edge.example:443/x"}`, `200 {"status_code":404,"headers":{},"body":"not here"}`},
		{`{"method":"GET","url":"http://api.example:8080/x"}`, `200 {"status_code":404,"headers":{},"body":"not here"}`},
		{`{"method":"GET","url":"https://api.example/x"}`, `200 {"status_code":404,"headers":{},"body":"not here"}`},
		{`{"method":"GET","url":"http://gw.internal:8080/text","headers":{"host":"api.example:8080"}}`, `200 {"status_code":500,"headers":{},"body":"oh ` + "\ufffd" + ` no\n"}`},
		{`{"method":"GET","url":"http://gw.internal:8080/empty","headers":{"Host":"edge.example"}}`, `200 {"status_code":204,"headers":{},"body":""}`}, // its URL ends in a dot
		{`{"method":"GET","url":"http://gw.internal:8080/text","headers":{"HOST":"evil"}}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://gw.internal:8080/text","headers":{"Host":""}}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://gw.internal/json"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"https://gw.internal:8080/json"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://169.254.169.254/"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://gw.internal:8080.evil.example/"}`, failed(400, "Invalid proxy request")},
		{`{"method":"GET","url":"http://gw.internal:8080@evil.example/"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://user:pw@gw.internal:8080/json"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"http://evil.example/#@gw.internal:8080"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"GET","url":"/json"}`, failed(400, "Invalid proxy request")},
		{`{"method":"GET","url":"ftp://gw.internal:8080/"}`, failed(403, "Provided URL is not a recognised gateway URL")},
		{`{"method":"CONNECT","url":"http://gw.internal:8080/"}`, failed(400, "Invalid proxy request")},
		{`{"url":"http://gw.internal:8080/"}`, failed(400, "Invalid proxy request")},
		{`{"method":1}`, failed(400, "Invalid proxy request")},
		{`{`, failed(400, "Invalid proxy request")},
		{``, failed(400, "Invalid proxy request")},
	} {
		if got := ask(t, h, "POST", "/api/proxy", c.body); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.body, got, c.want)
		}
	}
	for _, r := range w.asked {
		if r.Method != "GET" {
			t.Errorf("%s: method %s", r.URL, r.Method)
		}
		if r.Trusted != strings.HasPrefix(r.URL, "http://gw.internal:8080/") {
			t.Errorf("%s: trusted %v", r.URL, r.Trusted)
		}
	}
}

func TestProxySends(t *testing.T) {
	for body, want := range map[string]string{
		`{"a": 1.0}`: `application/json {"a": 1.0}`, `"text\n"`: " text\n", `null`: " ", `[]`: `application/json []`,
	} {
		w := &web{}
		h := serve(t, &outbound.Proxy{Fetcher: w, Gateways: gateways})
		ask(t, h, "POST", "/api/proxy", `{"method":"PUT","url":"http://gw.internal:8080/x","headers":{"test":"yes"},"body":`+body+`}`)
		if len(w.asked) != 1 || w.asked[0].Method != "PUT" || w.asked[0].Header["test"] != "yes" || w.asked[0].Header["Content-Type"]+" "+string(w.asked[0].Body) != want {
			t.Errorf("%s: %q %+v", body, w.asked[0].Body, w.asked)
		}
	}
	w := &web{}
	ask(t, serve(t, &outbound.Proxy{Fetcher: w, Gateways: gateways}), "POST", "/api/proxy",
		`{"method":"PUT","url":"http://gw.internal:8080/x","headers":{"content-type":"text/plain"},"body":{}}`)
	if len(w.asked[0].Header) != 1 || w.asked[0].Header["Content-Type"] != "text/plain" {
		t.Errorf("%+v", w.asked[0].Header)
	}
}

func TestProxyFails(t *testing.T) {
	for err, want := range map[error]string{
		fetch.ErrUnreachable: failed(500, "Failed to process proxy request"), fetch.ErrTooLarge: failed(500, "Failed to process proxy request"),
		fetch.ErrRequest: failed(400, "Invalid proxy request"), fetch.ErrPrivate: failed(403, "Provided URL is not a recognised gateway URL"),
	} {
		h := serve(t, &outbound.Proxy{Fetcher: &web{err: err}, Gateways: gateways})
		if got := ask(t, h, "POST", "/api/proxy", `{"method":"GET","url":"http://gw.internal:8080/"}`); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}

const (
	index = "https://e.example/main/repository.json"
	repo  = "https://r.example/root"
)

func repository() *web {
	return &web{pages: map[string]fetch.Answer{
		index: page(`{"examples":{"udg":[{"location":"udg/vat","name":"VAT","description":"Checks","features":["REST"],"minTykVersion":"5.0"},{"location":"../x"},7],` +
			`"oas":[{"location":"oas/f1/deep","name":"F1","shortDescription":"short","description":"long"},{"location":"wrapped","name":"W"},{"location":"broken"},{"location":"none"}],"x":1}}`),
		repo + "/repository.json":                      page(`{"examples":[{"location":"flat","name":"Flat"}]}`),
		"https://e.example/main/udg/vat/.tyk.json":     page(`{"type":"apidef","files":[{"file":"../../secret.json"},{"file":"api.json","oas":{}}]}`),
		"https://e.example/main/udg/vat/api.json":      page(`{"name":"vat","api_id":"1"}`),
		"https://e.example/main/udg/vat/readme.md":     page("# VAT"),
		"https://e.example/main/oas/f1/deep/.tyk.json": page(`{"type":"apidef","files":[{"file":"oas.json"}]}`),
		"https://e.example/main/oas/f1/deep/oas.json":  page(`{"openapi":"3.0.3","x":1.0}`),
		"https://e.example/main/oas/f1/deep/README.md": page("# F1"),
		"https://e.example/main/wrapped/.tyk.json":     page(`{"type":"apidef","files":[{"file":"w.json"}]}`),
		"https://e.example/main/wrapped/w.json":        page(`{"api_definition":{"name":"w"},"oas":{"openapi":"3.1.0"}}`),
		"https://e.example/main/broken/.tyk.json":      page(`<html>`),
		"https://e.example/main/bad.json":              page(`nonsense`),
		"https://e.example/main/away.json":             {Status: 302},
	}}
}

func TestExamples(t *testing.T) {
	w := repository()
	h := serve(t, &outbound.Examples{Fetcher: w, Allowed: []string{index, repo, "https://e.example/main/bad.json", "https://e.example/main/away.json", "https://e.example/main/gone.json"}})
	invalid := failed(400, "Invalid examples index file or root path.")
	absent := failed(404, "Example API definition not found.")
	const indexHeader, repoHeader = "x-tyk-examples-index", "x-tyk-repo-url"
	for _, c := range []struct {
		path    string
		headers []string
		want    string
	}{
		{"", nil, `200 [{"location":"udg/vat","name":"VAT","shortDescription":"Checks"},{"location":"oas/f1/deep","name":"F1","shortDescription":"short"},` +
			`{"location":"wrapped","name":"W","shortDescription":""},{"location":"broken","name":"","shortDescription":""},{"location":"none","name":"","shortDescription":""}]`},
		{"", []string{indexHeader, repo}, `200 [{"location":"flat","name":"Flat","shortDescription":""}]`},
		{"", []string{indexHeader, index + "?"}, invalid},
		{"", []string{indexHeader, "http://169.254.169.254/"}, invalid},
		{"", []string{indexHeader, "https://e.example/main/bad.json"}, invalid},
		{"", []string{indexHeader, "https://e.example/main/gone.json"}, invalid},
		{"", []string{indexHeader, "https://e.example/main/away.json"}, failed(500, "Failed to fetch examples index file.")},
		{"/udg%2Fvat", nil, `200 {"name":"VAT","location":"udg/vat","description":"Checks","features":["REST"],"min_version":"5.0"}`},
		{"/udg%2Fvat?readme=true&apiDef=true", nil, `200 {"name":"VAT","location":"udg/vat","description":"Checks","features":["REST"],"min_version":"5.0","readme":"# VAT","api_definition":{"name":"vat","api_id":"1"}}`},
		{"/oas%2Ff1%2Fdeep?apiDef=true&readme=true", nil, `200 {"name":"F1","location":"oas/f1/deep","description":"long","features":[],"min_version":"","readme":"# F1","oas":{"openapi":"3.0.3","x":1.0}}`},
		{"/wrapped?apiDef=true&readme=true", nil, `200 {"name":"W","location":"wrapped","description":"","features":[],"min_version":"","api_definition":{"name":"w"},"oas":{"openapi":"3.1.0"}}`},
		{"/broken?apiDef=true", nil, invalid},
		{"/none?apiDef=true", nil, absent},
		{"/unknown", nil, absent},
		{"/..%2Fx", nil, absent},
		{"/flat", []string{repoHeader, repo}, `200 {"name":"Flat","location":"flat","description":"","features":[],"min_version":""}`},
		{"/flat", []string{repoHeader, "https://evil.example"}, invalid},
		{"/wrapped", []string{indexHeader, index, repoHeader, "https://evil.example"}, invalid},
		{"/wrapped", []string{indexHeader, index, repoHeader, repo}, `200 {"name":"W","location":"wrapped","description":"","features":[],"min_version":""}`},
	} {
		if got := ask(t, h, "GET", "/api/examples"+c.path, "", c.headers...); got != c.want {
			t.Errorf("%s %v:\n%s, want\n%s", c.path, c.headers, got, c.want)
		}
	}
	if slices.ContainsFunc(w.asked, func(r fetch.Request) bool {
		return !strings.HasPrefix(r.URL, "https://e.example/main/") && !strings.HasPrefix(r.URL, repo)
	}) {
		t.Errorf("asked elsewhere: %+v", w.asked)
	}
	w.err = fetch.ErrUnreachable
	if got := ask(t, h, "GET", "/api/examples/flat", ""); got != failed(500, "Failed to fetch example API definitions.") {
		t.Error(got)
	}
}

// Without a repository there are no examples, and no request is sent.
func TestNoExamples(t *testing.T) {
	w := repository()
	h := serve(t, &outbound.Examples{Fetcher: w})
	for path, want := range map[string]string{"/api/examples": "200 []", "/api/examples/x": failed(404, "Example API definition not found.")} {
		if got := ask(t, h, "GET", path, ""); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if len(w.asked) > 0 {
		t.Errorf("%+v", w.asked)
	}
}

// FuzzExamples: whatever an index and a description contain, only files below the
// permitted root are read.
func FuzzExamples(f *testing.F) {
	f.Add(`{"examples":{"a":[{"location":"a/b"}]}}`, `{"type":"apidef","files":[{"file":"x.json"}]}`, "a/b")
	f.Add(`{"examples":[{"location":"a//b"},{"location":"../a"}]}`, `{"type":"apidef","files":[{"file":".."}]}`, "../a")
	f.Add(`{"examples":[{"location":"%2e%2e/a"},{"location":"a\\..\\b"}]}`, `{"type":"apidef","files":[{"file":"?x"}]}`, "%2e%2e/a")
	f.Fuzz(func(t *testing.T, list, about, location string) {
		w := &pages{index: list, rest: about}
		s := &outbound.Examples{Fetcher: w, Allowed: []string{index}}
		ops := s.Operations()
		for i := range ops {
			c := &operation.Call{Spec: &ops[i].Spec, Path: map[string]string{"location": location}}
			c.Query = map[string][]string{"readme": {"true"}, "apiDef": {"true"}}
			_, _ = ops[i].Do(t.Context(), c) // the response depends on the repository
		}
		for _, at := range w.asked {
			if !strings.HasPrefix(at, "https://e.example/main/") || strings.Contains(at, "..") && strings.Contains(at, "/../") {
				t.Errorf("asked for %s", at)
			}
		}
	})
}

// pages responds with the index, and with one text to all other requests.
type pages struct {
	index, rest string
	asked       []string
}

func (p *pages) Fetch(_ context.Context, r fetch.Request) (fetch.Answer, error) {
	p.asked = append(p.asked, r.URL)
	if r.URL == index {
		return page(p.index), nil
	}
	return page(p.rest), nil
}

package http_test

import (
	"encoding/json"
	"mime"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// FuzzHandler sends arbitrary requests to the whole table: it never panics, it always
// answers with a request ID, and errors are always JSON with a status.
func FuzzHandler(f *testing.F) {
	f.Add("GET", "/api/things/x", "n=1", "", "", "")
	f.Add("PUT", "/api/things/a%2Fb/", "", `{"name":"x"}`, "application/problem+json", `"7"`)
	f.Add("PATCH", "/api/things/%zz", ";&=%", "[[[", "*/*;q", "*")
	f.Add("HEAD", "/system/fail", "how=words", "", "application/problem+json", "W/\"")
	f.Add("OPTIONS", "*", "", "", "", "")
	f.Add("POST", "//api//things/../x", "how=panic", "null", "", `"`)
	h, err := httpadapter.Handler(table(), httpadapter.Config{Guard: func(next operation.Handler) operation.Handler { return next }, Logger: quiet, MaxDepth: 5, MaxBody: 1 << 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path, query, body, accept, match string) {
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL = method, &url.URL{Path: path, RawPath: path, RawQuery: query}
		if unescaped, err := url.PathUnescape(path); err == nil {
			r.URL.Path = unescaped
		}
		r.Header = nethttp.Header{"Accept": {accept}, "If-Match": {match}, "If-None-Match": {match}, "X-Request-Id": {match}, "Accept-Encoding": {accept}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Header().Get("X-Request-Id") == "" {
			t.Fatalf("no request ID: %v", w.Header())
		}
		if w.Code < 400 || method == "HEAD" {
			return
		}
		media, _, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
		if err != nil || media != "application/json" && media != "application/problem+json" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		if text := w.Body.Bytes(); !json.Valid(text) || strings.Contains(string(text), "secret") {
			t.Fatalf("%d %s", w.Code, text)
		}
	})
}

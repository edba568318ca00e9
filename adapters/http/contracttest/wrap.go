package contracttest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Wrap returns a handler that forwards requests to h and fails the test for every
// answer that does not follow the description.
func Wrap(t testing.TB, h http.Handler, document []byte) http.Handler {
	t.Helper()
	c, err := Load(document)
	if err != nil {
		t.Fatal(err)
	}
	var one sync.Mutex // schemas are compiled on first use
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		one.Lock()
		defer one.Unlock()
		body, err := rec.Body.Bytes(), error(nil)
		if rec.Header().Get("Content-Encoding") == "gzip" && len(body) > 0 {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(z)
			}
		}
		if err == nil {
			err = c.Check(r.Method, path, rec.Code, rec.Header().Get("Content-Type"), body)
		}
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, path, err)
		}
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes()) // fails only when the client has disconnected
	})
}

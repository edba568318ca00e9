package http_test

import (
	nethttp "net/http"
	"net/http/httptest"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// sink is a cheap ResponseWriter.
type sink struct {
	header nethttp.Header
	status int
}

func (s *sink) Header() nethttp.Header      { return s.header }
func (s *sink) WriteHeader(code int)        { s.status = code }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkGet is one read of a small entity through everything but the guard.
func BenchmarkGet(b *testing.B) {
	h, err := httpadapter.Handler(table(), httpadapter.Config{Guard: func(next operation.Handler) operation.Handler { return next }, Logger: quiet})
	if err != nil {
		b.Fatal(err)
	}
	for name, target := range map[string]string{"entity": "/api/things/x", "appender": "/api/things/x/word", "list": "/api/things?n=10", "missing": "/api/none"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", target, nil)
			r.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
			r.Header.Set("Accept", "*/*")
			w := &sink{header: nethttp.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

package http_test

import (
	"bytes"
	"strings"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// Hooks receive the answer as it is sent: status, headers and body, and the headers of the
// request, but not its body. Errors are included.
func TestAnswered(t *testing.T) {
	var heard []operation.Transcript
	s := serve(t, func(c *httpadapter.Config) {
		guard := c.Guard
		c.Guard = func(next operation.Handler) operation.Handler {
			guarded := guard(next)
			return func(ctx ctx, call *operation.Call) (any, error) {
				call.Answered(func(m operation.Transcript) { heard = append(heard, m) })
				return guarded(ctx, call)
			}
		}
	})
	for _, c := range []struct{ method, path, body string }{
		{"PUT", "/api/things/x", `{"name":"y"}`}, {"PUT", "/api/things/x", `{"name":`}, {"GET", "/system/fail", ""},
	} {
		heard = nil
		w := s.do(c.method, c.path, c.body, "Content-Type", "application/json", "X-Kept", "k")
		if len(heard) != 1 {
			t.Fatalf("%s %s: heard %d times", c.method, c.path, len(heard))
		}
		m := heard[0]
		if m.Status != w.Code || m.Protocol != "HTTP/1.1" || string(bytes.Join(m.Body, nil)) != w.Body.String() ||
			strings.Join(m.Header["Host"], "") != "example.com" || strings.Join(m.Header["X-Kept"], "") != "k" ||
			strings.Join(m.Answers["Content-Type"], "") != w.Header().Get("Content-Type") {
			t.Errorf("%s %s: %d %s\nheard %+v", c.method, c.path, w.Code, w.Body, m)
		}
	}
}

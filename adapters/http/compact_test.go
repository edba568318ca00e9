package http_test

import (
	"context"
	"net/http/httptest"
	"testing"

	httpadapter "github.com/gatehouse-io/gatehouse/adapters/http"
	"github.com/gatehouse-io/gatehouse/core/fault"
	"github.com/gatehouse-io/gatehouse/ports/operation"
)

// TestCompact: rows of the portal are indented unless they are compact; refusals always are.
func TestCompact(t *testing.T) {
	answer := func(_ context.Context, in struct {
		Fail string `query:"fail"`
	}) (map[string]any, error) {
		if in.Fail != "" {
			return nil, fault.New(fault.Denied, "no", "no")
		}
		return map[string]any{"token": "x"}, nil
	}
	ops := operation.Group{Surface: operation.Portal, Name: "tokens", Path: "/portal-api/tokens", Tag: "Tokens", Style: operation.Style{Faults: operation.PortalFaults()}}.Rows(
		operation.GET("plain", "/plain", "Tell", answer, operation.Public(), operation.Example(nil, map[string]any{})),
		operation.GET("compact", "/compact", "Tell", answer, operation.Public(), operation.Compact(), operation.Example(nil, map[string]any{})))
	h, err := httpadapter.Handler(ops, httpadapter.Config{Logger: quiet, Guard: func(next operation.Handler) operation.Handler { return next }})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"plain":          "{\n\t\"token\": \"x\"\n}",
		"compact":        `{"token":"x"}`,
		"compact?fail=1": "{\n\t\"errors\": [\n\t\t\"access denied\"\n\t]\n}",
	} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, httptest.NewRequest("GET", "/portal-api/tokens/"+path, nil)); w.Body.String() != want {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
}

package otel

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// export is one request that a collector received.
type export struct {
	path, authorization, contentType string
	spans                            []string
	err                              error
}

// listen starts a collector on loopback.
func listen(t *testing.T) (*httptest.Server, <-chan export) {
	t.Helper()
	received := make(chan export, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := export{path: r.URL.Path, authorization: r.Header.Get("Authorization"), contentType: r.Header.Get("Content-Type")}
		e.spans, e.err = names(r.Body)
		received <- e
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	return server, received
}

func names(body io.Reader) (out []string, err error) {
	b, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	var req tracepb.ExportTraceServiceRequest
	if err := proto.Unmarshal(b, &req); err != nil {
		return nil, err
	}
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				out = append(out, s.Name)
			}
		}
	}
	return out, nil
}

func TestExport(t *testing.T) {
	server, received := listen(t)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct{ endpoint, path, authorization string }{
		{"http://" + host, "/v1/traces", ""},
		{"http://" + host + "/", "/v1/traces", ""},
		{"http://" + host + "/v1/traces", "/v1/traces", ""},
		{"http://" + host + "/tenant/", "/tenant/v1/traces", ""},
		{"http://user:pass@" + host, "/v1/traces", "Basic dXNlcjpwYXNz"},
	} {
		o, err := New(t.Context(), Config{Endpoint: c.endpoint, ServiceName: "gatehouse", Version: "1.2.3"})
		if err != nil {
			t.Fatal(err)
		}
		for _, operation := range []string{"users.list", "users.get"} {
			_, end := o.Begin(t.Context(), operation)
			end(200)
		}
		if err := o.Shutdown(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.endpoint, err)
		}
		got := <-received // Shutdown has returned, so it has arrived
		if got.err != nil || got.path != c.path || got.authorization != c.authorization || got.contentType != "application/x-protobuf" {
			t.Errorf("%s: %+v", c.endpoint, got)
		}
		if !slices.Equal(got.spans, []string{"users.list", "users.get"}) {
			t.Errorf("%s: spans %v", c.endpoint, got.spans)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, endpoint := range []string{
		"", "localhost", "localhost:4318", "//localhost:4318", "http://", "http://:4318", "grpc://localhost:4317",
		"http://user:hunter2@local host", "http://user:hunter2@localhost:port",
	} {
		o, err := New(t.Context(), Config{Endpoint: endpoint})
		if o != nil || err == nil {
			t.Errorf("%q is accepted", endpoint)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error holds a password: %v", err)
		}
	}
}

// traceOne traces one operation to a collector and shuts down.
func traceOne(ctx context.Context, t *testing.T, endpoint string) (*Observer, error) {
	t.Helper()
	o, err := New(t.Context(), Config{Endpoint: endpoint, ServiceName: "gatehouse"})
	if err != nil {
		t.Fatal(err)
	}
	_, end := o.Begin(t.Context(), "users.list")
	end(200)
	return o, o.Shutdown(ctx)
}

func TestCollectorRefuses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer server.Close()
	o, err := traceOne(t.Context(), t, strings.Replace(server.URL, "http://", "http://user:hunter2@", 1))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the loss is not reported, or with a password: %v", err)
	}
	_, end := o.Begin(t.Context(), "users.list") // End after Shutdown is harmless
	end(200)
}

// TestCollectorHangs: the context of Shutdown limits how long it waits.
func TestCollectorHangs(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := traceOne(ctx, t, server.URL); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown returned %v", err)
	}
}
